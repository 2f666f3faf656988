// Client: the client of a request: its address and port, and the scheme and host that it uses.
// Without trusted proxies they are the address of the connection, whether it has TLS, and the
// authority of the request. Trusted proxies may state other values (wire/http/forwarded.hpp).
//
// Owns       Arrival a share of the rules; a request may outlive its connection.
// Borrows    Client::host, from the head.
// Thread     values. ProxyTrust does not change.
// Allocates  never, except for the rules.
// Fails      a malformed statement of a trusted proxy is ignored, and the caller counts it.
// Invariant  without trusted proxies no header of a request influences address and scheme. Reading
//            the endpoint through a request marks its reply as personal.
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

// Computed anew by each call; see client_of().
struct Client {
  Client() noexcept = default;
  explicit Client(const engine::PeerEndpoint& of) noexcept : endpoint_(of) {}

  // https: the connection has TLS, or a trusted proxy says so.
  http::Scheme scheme = http::Scheme::http;
  // The host that the client named, with the port if it sent one; empty: HTTP/1.0 without a host.
  Bytes host;
  // A trusted proxy stated one of these.
  bool is_forwarded = false;
  // A statement of a trusted proxy was malformed, or there were too many; it was ignored.
  bool is_malformed = false;

  // Port 0: not known. Family::local: a process of this machine, on a Unix-domain socket.
  const engine::PeerEndpoint& endpoint() const noexcept KATANA_VIEW {
    if (mark_ != nullptr) mark_->set(Personal::address);
    return endpoint_;
  }
  // Empty for a Unix-domain socket.
  std::optional<IpAddress> address() const noexcept { return endpoint().ip(); }
  std::optional<std::uint16_t> port() const noexcept {
    if (endpoint().port == 0) return std::nullopt;
    return endpoint_.port;
  }
  bool is_secure() const noexcept { return scheme == http::Scheme::https; }
  // As in "192.0.2.1:5000", "[2001:db8::1]" or "unix:uid=1000".
  engine::PeerAddress text() const noexcept { return endpoint().text(); }
  // "https://shop.example:8443", for absolute URLs; empty without a host.
  std::string origin() const;

  // Sets the endpoint that a trusted proxy stated.
  void set_endpoint(const engine::PeerEndpoint& to) noexcept { endpoint_ = to; }
  // From now on, reading the endpoint sets `mark`, which lives as long as the request does.
  void mark_reads(PersonalMark* mark) noexcept { mark_ = mark; }

 private:
  engine::PeerEndpoint endpoint_;
  PersonalMark* mark_ = nullptr;  // null: the reply is not shared
};

// The trusted proxies and the rules for their headers: http.trusted_proxies and http.forwarded.
class ProxyTrust {
 public:
  ProxyTrust(std::span<const Network> proxies, const http::ForwardedRules& rules)
      : proxies_(proxies), rules_(rules) {}
  // Returns null if there are no trusted proxies.
  static std::shared_ptr<const ProxyTrust> make(std::span<const Network> proxies,
                                                const http::ForwardedRules& rules);

  // True if `peer` is one of the proxies.
  bool trusts(const engine::PeerEndpoint& peer) const noexcept;
  // The rules for reading their headers.
  const http::ForwardedRules& rules() const noexcept { return rules_; }
  // The trusted proxies.
  const NetworkSet& proxies() const noexcept { return proxies_; }

 private:
  const NetworkSet proxies_;
  const http::ForwardedRules rules_;
};

// The connection of a request.
struct Arrival {
  engine::PeerEndpoint peer;                     // of the connection
  bool is_secure = false;                        // TLS of this server
  std::shared_ptr<const ProxyTrust> trust = {};  // null: no proxy is trusted

  // True if the connection comes from one of the trusted proxies.
  bool from_proxy() const noexcept { return trust != nullptr && trust->trusts(peer); }
};

// Returns the client of a request with this head that arrived on such a connection.
Client client_of(const Arrival& arrival, const http::Head& head) noexcept;

// Returns the authority of the target, or Host, or `:authority`; empty: none.
Bytes authority_of(const http::Head& head) noexcept;

// A target of https needs TLS, or a trusted proxy that may have ended TLS (RFC 9110 §7.4). Returns
// the reason for 421. Empty: the request is served. A :scheme is not judged, as proxies send that
// of their client over plaintext HTTP/2. Handlers judge by the connection.
Bytes https_problem(const Arrival& arrival) noexcept;

// The step of a request at one moment.
enum class RequestStep : std::uint8_t {
  receiving,  // its body is not complete, and its handler waits for it
  handling,   // its handler, or middleware, has not begun the reply
  replying,   // the reply has begun
};

// The state of a request at one moment, for lists of the requests in flight.
struct RequestProgress {
  RequestStep step = RequestStep::handling;  // at this moment
  unsigned status = 0;                       // of the reply; 0: not begun
  Bytes method = {};                         // empty: not known. Borrowed, for the call
  engine::PeerEndpoint client = {};          // as client_of() finds it
};

// Knows the connection of a request: its exchange, or a copy of the request.
class ClientSource {
 public:
  // The connection of the request.
  virtual Arrival arrival() noexcept = 0;
  // The result of client_of(). REQUIRES the head of that request.
  virtual Client client(const http::Head& head) noexcept = 0;
  // The mark of the reply to the request, shared with copies of the request. Null: the reply is not
  // shared.
  virtual std::shared_ptr<PersonalMark> personal_mark() noexcept { return nullptr; }
  // Marks the reply: it depends on a part of the request that differs between clients. `names`:
  // header fields, with '_' for '-', valid as long as the program; see RequestState::read_fields().
  virtual void personalise(Personal) noexcept {}
  virtual void note_read_fields(std::span<const std::string_view> /*names*/) {}
  // The state of the request, between the calls of its session. Changes and counts nothing.
  virtual RequestProgress progress() noexcept { return {}; }

 protected:
  ~ClientSource() = default;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
