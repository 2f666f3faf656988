// Proxy: the origins that are reached through a proxy, and the way (RFC 9110 §9.3.6, RFC 9112
// §3.2.2).
// Tunnel: the CONNECT of one connection, before TLS begins.
//
//   http://   the request goes to the proxy, with its URL as target
//   https://  CONNECT host:port, then TLS with the server: the proxy sees neither request nor
//             certificate
//
// Owns       its texts.
// Thread     a Proxy any; a Tunnel its reactor's.
// Allocates  when made.
// Fails      make() names the invalid option. Tunnel::error() has the proxy, the origin and the
//            remedy.
// Invariant  only the proxy gets its credentials: in CONNECT, and in requests in plaintext, which
//            the proxy reads in any case.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/client/options.hpp"
#include "katana/http/client/url.hpp"
#include "katana/net/tls/prelude.hpp"
#include "katana/wire/http1/response_machine.hpp"

namespace katana::client {

class Proxy {
 public:
  // Returns nothing if the options have no URL.
  static Result<std::optional<Proxy>> make(const ProxyOptions& options);

  // Returns false for an origin of `except`, which gets direct connections.
  bool serves(const Origin& origin) const;
  const Origin& origin() const noexcept { return origin_; }  // of the proxy
  // A complete line, or empty.
  const std::string& authorization() const noexcept { return authorization_; }

 private:
  Origin origin_;
  std::string authorization_;
  std::vector<std::string> except_;
};

// The CONNECT request of one connection, and the reply to it (RFC 9110 §9.3.6).
class Tunnel final : public tls::Prelude {
 public:
  Tunnel(const Proxy& proxy, const Origin& to, http1::HeadMemo& memo, std::size_t head_bytes_max);

  Bytes request() const noexcept override { return request_; }
  Step next(Bytes input) noexcept override;
  bool done() const noexcept { return state_ == State::done; }
  // The reason why there is no tunnel. REQUIRES not done().
  Error error(bool timed_out) const;

 private:
  const std::string name_;  // the proxy and the target, for errors
  std::string request_;
  http1::ResponseMachine machine_;
  http1::HeadMemo& memo_;
  const std::size_t head_bytes_max_;
  std::size_t head_bytes_ = 0;
  std::string kept_;  // an incomplete line of the reply
  State state_ = State::going;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
