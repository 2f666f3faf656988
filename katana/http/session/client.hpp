// Client: the client of a request, and how it calls the server: address, port, scheme and host of a
// request, in one place. Without trusted proxies that is the peer of the connection, whether that
// has TLS, and the authority of the request; with them, what they say (wire/http/forwarded.hpp).
//
// Owns       Arrival a share of the rules, so that a request may outlive its connection.
// Borrows    Client::host, from the head.
// Thread     values. ProxyTrust does not change.
// Allocates  never, but to make the rules.
// Fails      what a trusted proxy says wrongly is left out, and counted by the caller.
// Invariant  without trusted proxies no field of a request has any influence on address and scheme.
//            Reading the endpoint through a request marks its reply as personal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/ip_address.hpp"
#include "katana/base/values/network.hpp"
#include "katana/http/session/personal.hpp"
#include "katana/net/engine/endpoints.hpp"
#include "katana/wire/http/forwarded.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::session {

// Read anew by each call; see client_of().
struct Client {
  Client() noexcept = default;
  explicit Client(const engine::PeerEndpoint& of) noexcept : endpoint_(of) {}

  // https: TLS of the connection, or what a trusted proxy says.
  http::Scheme scheme = http::Scheme::http;
  // As the client called the server, with the port if it said one; empty: HTTP/1.0 without any.
  Bytes host;
  // A trusted proxy said one of these.
  bool is_forwarded = false;
  // A trusted proxy said something that is malformed, or too many did; it was left out.
  bool is_malformed = false;

  // Port 0: not known. Family::local: a process of this machine, by a Unix-domain socket.
  const engine::PeerEndpoint& endpoint() const noexcept KATANA_VIEW {
    if (mark_ != nullptr) mark_->set(Personal::address);
    return endpoint_;
  }
  // None: a Unix-domain socket.
  std::optional<IpAddress> address() const noexcept { return endpoint().ip(); }
  std::optional<std::uint16_t> port() const noexcept {
    if (endpoint().port == 0) return std::nullopt;
    return endpoint_.port;
  }
  bool is_secure() const noexcept { return scheme == http::Scheme::https; }
  // As in "192.0.2.1:5000", "[2001:db8::1]" or "unix:uid=1000".
  engine::PeerAddress text() const noexcept { return endpoint().text(); }
  // "https://shop.example:8443", to write absolute URLs with; empty without a host.
  std::string origin() const;

  // As a trusted proxy says.
  void set_endpoint(const engine::PeerEndpoint& to) noexcept { endpoint_ = to; }
  // Reading the endpoint from here on sets `mark`, which lives as long as the request does.
  void mark_reads(PersonalMark* mark) noexcept { mark_ = mark; }

 private:
  engine::PeerEndpoint endpoint_;
  PersonalMark* mark_ = nullptr;  // null: the reply is not shared
};

// Whose word counts: the rules of http.trusted_proxies and http.forwarded.
class ProxyTrust {
 public:
  ProxyTrust(std::span<const Network> proxies, const http::ForwardedRules& rules)
      : proxies_(proxies), rules_(rules) {}
  // Null: none.
  static std::shared_ptr<const ProxyTrust> make(std::span<const Network> proxies,
                                                const http::ForwardedRules& rules);

  // It is one of the proxies.
  bool trusts(const engine::PeerEndpoint& peer) const noexcept;
  // How what they say is read.
  const http::ForwardedRules& rules() const noexcept { return rules_; }
  // Whose word counts.
  const NetworkSet& proxies() const noexcept { return proxies_; }

 private:
  const NetworkSet proxies_;
  const http::ForwardedRules rules_;
};

// How a request came.
struct Arrival {
  engine::PeerEndpoint peer;                     // of the connection
  bool is_secure = false;                        // by TLS of this server
  std::shared_ptr<const ProxyTrust> trust = {};  // null: no proxy is trusted

  // Its peer is one of the trusted proxies.
  bool from_proxy() const noexcept { return trust != nullptr && trust->trusts(peer); }
};

// The client of a request with this head that came so.
Client client_of(const Arrival& arrival, const http::Head& head) noexcept;

// The authority of the target, or Host, or `:authority`; empty: none.
Bytes authority_of(const http::Head& head) noexcept;

// Knows how a request came: its exchange, or a copy of it.
class ClientSource {
 public:
  // How the request came.
  virtual Arrival arrival() noexcept = 0;
  // As client_of() says it. REQUIRES the head of that request.
  virtual Client client(const http::Head& head) noexcept = 0;
  // Of the reply to the request, shared with copies of the request; null: nothing shares replies.
  virtual std::shared_ptr<PersonalMark> personal_mark() noexcept { return nullptr; }
  // What was read of the request is not the same for every client. `names`: of header fields, with
  // '_' for '-', for as long as the program; see RequestState::read_fields().
  virtual void personalise(Personal) noexcept {}
  virtual void note_read_fields(std::span<const std::string_view> /*names*/) {}

 protected:
  ~ClientSource() = default;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
