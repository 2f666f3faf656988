// Options: the servers that a connection may lead to, and the timeouts of everything about it.
// Observer: receives a call when servers become unreachable, and when they recover.
//
// Owns       values; `tls` has file names.
// Borrows    the observer, and the resolver's pool, for as long as the Shared lives.
// Thread     a value. An Observer is called on any reactor's thread, by one of them at a time.
// Fails      Shared::make() names the invalid option and its range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/tls/client_options.hpp"
#include "katana/net/upstream/address_cache.hpp"
#include "katana/net/upstream/server.hpp"

namespace katana::upstream {

// The server of the first attempt.
//   spread  drawn at random for each connection: those of many processes spread over a cluster
//   listed  the first of the list
enum class Order : std::uint8_t { spread, listed };

// Observes all connections of one Shared together. It must not call back into them.
class Observer {
 public:
  // The least time between two calls of on_still_down() in one outage.
  static constexpr Duration still_down_period = seconds(1);

  virtual ~Observer() = default;
  // A connection of the process went down while all others were up.
  virtual void on_down(const std::string& server, const Error& why) noexcept = 0;
  // Connections are still down, for another reason than the last reported one; at most once in
  // still_down_period. A reason that comes sooner is reported with a later attempt, if it still
  // holds.
  virtual void on_still_down(const std::string& server, const Error& why) noexcept {
    (void)server, (void)why;
  }
  // All are up again; the outage lasted `down_for`.
  virtual void on_recovered(const std::string& server, Duration down_for) noexcept = 0;
};

struct Options {
  std::string kind = "server";       // for messages: the server's kind, such as "Redis"
  std::vector<Server> servers = {};  // at least one
  Order order = Order::spread;       // of the first attempt; later ones go down the list
  // The timeout of one attempt, for each address of the server: connection, TLS, and the exchange
  // of the protocol until Connection::established() is called.
  Duration connect_timeout = seconds(2);
  // Decorrelated jitter. The pause before an attempt is drawn from backoff_min to three times the
  // last pause, and is never longer than backoff_max. A server's further addresses are tried
  // without a pause. The jitter begins anew for a connection that was up for longer than
  // backoff_max.
  Duration backoff_min = milliseconds(50);
  Duration backoff_max = seconds(5);
  // The timeout for a server that vanished without a reset; see
  // engine::ConnectOptions::vanished_after.
  Duration vanished_after = seconds(10);
  // The most written bytes that the kernel has not taken; write() is false beyond it.
  std::size_t outgoing_bytes_max = std::size_t{4} * 1024 * 1024;
  // The most servers, including those that a cluster announces.
  std::size_t servers_max = 64;
  // None: plaintext.
  std::optional<tls::ClientTlsOptions> tls = std::nullopt;
  ResolverOptions resolver = {};
  Observer* observer = nullptr;
  // The seed of the jitter and of Order::spread; 0: a random one for each connection.
  std::uint64_t seed = 0;
};

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
