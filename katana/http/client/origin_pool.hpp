// OriginPool: the connections of one reactor to one origin, and the calls that wait for one.
//
// Owns       its connections, the addresses of the origin, and its OriginState.
// Borrows    the ReactorContext; the calls that wait.
// Thread     its reactor's.
// Fails      a call that exceeds waiting_max. When no address can be connected to, and no
//            connection is left, every waiting call fails with the reason.
// Invariant  at most connections_max connections; no call waits while a connection has capacity.
//            There is one connection until it is known how many calls it takes. This is known when
//            TLS has agreed on the protocol, or the server has sent its limit. Connections are
//            opened and destroyed only in run(), outside of any session and engine call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/http/client/call.hpp"
#include "katana/http/client/client_connection.hpp"
#include "katana/http/client/origin_health.hpp"
#include "katana/http/client/origin_state.hpp"
#include "katana/http/client/protocol_driver.hpp"
#include "katana/http/client/reactor_context.hpp"
#include "katana/http/client/run_queue.hpp"
#include "katana/http/client/url.hpp"

namespace katana::net {
class Destinations;
}

namespace katana::client {

class OriginPool final : public Runnable, private ConnectionEvents {
 public:
  OriginPool(ReactorContext& context, const Origin& origin, DriverFactory make_driver);

  // Retry budget and circuit breaker of the origin.
  OriginHealth& health() noexcept { return health_; }
  // Includes connections that are still opening.
  std::size_t connection_count() const noexcept { return connections_.size(); }
  // Sends the call as soon as a connection has capacity; fails it if waiting_max calls wait.
  void add(Call& call) noexcept;
  // Closes the idle connections, after one was found dead.
  void retire_idle() noexcept;
  bool empty() const noexcept { return connections_.empty() && waiting_.empty() && !lookup_; }

 private:
  // Destroys closed connections, assigns waiting calls to connections, and opens new ones.
  void run() noexcept override;
  void on_idle() noexcept override;
  void on_change() noexcept override { context_.queue().run_later(*this); }
  void on_connect_failed(CallList& calls, const Error& error, bool answered) noexcept override;

  ClientConnection* find_available() noexcept;
  void assign_waiting() noexcept;
  void open_connections() noexcept;
  std::size_t count_wanted() const noexcept;
  bool open_connection() noexcept;
  bool may_connect() const noexcept;
  void limit_idle() noexcept;
  void fail_waiting(const Error& error) noexcept;
  bool knows_addresses() const noexcept;
  void ask_destinations() noexcept;
  Task<void> look_up();

  ReactorContext& context_;
  const DriverFactory make_driver_;
  const net::Destinations* const destinations_;  // null: the machine's network
  OriginState state_;
  OriginHealth health_;
  std::vector<std::unique_ptr<ClientConnection>> connections_;  // the one used last is last
  CallList waiting_;
  std::uint16_t port_;
  std::vector<std::string> addresses_;
  std::size_t address_ = 0;   // index of the next one to try
  std::size_t failures_ = 0;  // consecutive, of connections
  Instant addresses_until_{};
  Instant begin_again_at_{};
  std::optional<Task<void>> lookup_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
