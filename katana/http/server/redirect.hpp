// RedirectToHttps: the replies of listeners without TLS to requests that belong to one with TLS.
//
// A request gets 308, which keeps its method, and the same path and query by https. The host is the
// one that the request names, or that a trusted proxy states. A host with a syntax error was
// refused before. A request that a trusted proxy received by https is served. With `hosts` a name
// that is not the server's gets 421, as its routes do. This holds for the name in the request and
// for that of the proxy: no client is redirected to another site.
//
// /health and /ready are served, because balancers request them without TLS. Requests without a
// path are passed to the handler, which refuses them (OPTIONS *, CONNECT, an invalid target).
//
// Owns       the names of the server.
// Borrows    the handler behind it.
// Thread     its reactor's.
// Allocates  a location for each redirect.
// Fails      400 without a host (HTTP/1.0), 421 for a name that is not the server's.
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
  // If `hosts` is empty, every name is redirected to https with the same name.
  RedirectToHttps(session::RequestHandler& handler, std::vector<std::string> addresses,
                  const std::vector<std::string>& hosts)
      : handler_(handler), names_(std::move(addresses), hosts), any_host_(hosts.empty()) {}

  // Redirects requests of this listener to `https_port`. Call it before the reactor runs.
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
