// Options: which servers a connection may lead to, and how long everything about it may take.
// Observer: who is told that servers cannot be reached, and that they can again.
//
// Owns       values; `tls` has names of files.
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

// Which server comes first. spread: one drawn for each connection, so that those of many processes
// spread over a cluster. listed: the first of the list.
enum class Order : std::uint8_t { spread, listed };

// Of all connections of one Shared together. It must not call back into them.
class Observer {
 public:
  // Between two calls of on_still_down() in one outage, at least.
  static constexpr Duration still_down_period = seconds(1);

  virtual ~Observer() = default;
  // A connection of the process is down, and none was.
  virtual void on_down(const std::string& server, const Error& why) noexcept = 0;
  // It is still down, for another reason than the last one that was told; at most once in
  // still_down_period. A reason that comes sooner is told with a later attempt, if it still holds.
  virtual void on_still_down(const std::string& server, const Error& why) noexcept {
    (void)server, (void)why;
  }
  // All are up again, after so long.
  virtual void on_recovered(const std::string& server, Duration down_for) noexcept = 0;
};

struct Options {
  std::string kind = "server";       // for messages: what listens there, such as "Redis"
  std::vector<Server> servers = {};  // at least one
  Order order = Order::spread;       // of the first attempt; later ones go down the list
  // Of an attempt, for each address of the server: connection, TLS, and what the protocol says
  // until Connection::established() is called.
  Duration connect_timeout = seconds(2);
  // Decorrelated jitter: the pause before an attempt is drawn from backoff_min to three times the
  // last pause, and is never longer than backoff_max. A server's further addresses are tried
  // without a pause. It begins anew for a connection that was up for longer than backoff_max.
  Duration backoff_min = milliseconds(50);
  Duration backoff_max = seconds(5);
  // A server that is gone without a word is noticed after so long; see
  // engine::ConnectOptions::vanished_after.
  Duration vanished_after = seconds(10);
  // Written and not yet taken by the kernel; write() is false beyond it.
  std::size_t outgoing_bytes_max = std::size_t{4} * 1024 * 1024;
  // With those that a cluster announces.
  std::size_t servers_max = 64;
  // None: plaintext.
  std::optional<tls::ClientTlsOptions> tls = std::nullopt;
  ResolverOptions resolver = {};
  Observer* observer = nullptr;
  // Of the jitter, and of Order::spread; 0: a random one for each connection.
  std::uint64_t seed = 0;
};

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
