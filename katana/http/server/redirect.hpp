// RedirectToHttps: what listeners without TLS say whose requests belong to one with it.
//
// A request gets 308, which keeps its method, and the same path and query by https. The host is the
// one that the request names, or that a trusted proxy says it named, as it was read (a syntax error
// was refused before); what came to such a proxy by https is served. With `hosts`
// anything that is no name of the server gets 421, as its routes do, in the request itself and in
// what a proxy says of it: no client is led away.
// /health and /ready are served, because balancers ask for them without TLS; so is what has no
// path to lead to (OPTIONS *, CONNECT, a target in no form), which the handler refuses.
//
// Owns       the names of the server.
// Borrows    the handler behind it.
// Thread     its reactor's.
// Allocates  a location for each redirect.
// Fails      400 without a host (HTTP/1.0), 421 for a strange one.
// Invariant  the location begins with https and a host that the server answers to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/http/server/operations.hpp"
#include "katana/http/session/exchange.hpp"

namespace katana::server {

class RedirectToHttps final : public session::RequestHandler {
 public:
  // `hosts` empty: every name is led to https by that name.
  RedirectToHttps(session::RequestHandler& handler, std::vector<std::string> addresses,
                  const std::vector<std::string>& hosts)
      : handler_(handler), names_(std::move(addresses), hosts), any_host_(hosts.empty()) {}

  // Requests of this listener are led to `https_port`. Before the reactor runs.
  void add(engine::Listener listener, std::uint16_t https_port);

  void on_request(session::Exchange& exchange, const http::Head& head) noexcept override;
  void on_content_collected(session::Exchange& exchange, const http::Head& head,
                            Bytes content) noexcept override {
    handler_.on_content_collected(exchange, head, content);
  }
  void on_resumed(session::Exchange& exchange, const http::Head& head) noexcept override {
    handler_.on_resumed(exchange, head);
  }
  void on_refused(session::Exchange& exchange, const http::Head* head, unsigned status,
                  Bytes detail) noexcept override {
    handler_.on_refused(exchange, head, status, detail);
  }

 private:
  Reply reply_to(Bytes authority, Bytes path, Bytes query, std::uint16_t port) const;

  session::RequestHandler& handler_;
  const HostList names_;
  const bool any_host_;
  std::vector<std::uint16_t> ports_;  // by listener; 0: nothing is redirected
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
