// OriginPool: the connections of one reactor to one origin, and the calls that wait for one.
//
// Owns       its connections, sessions of TLS that may be resumed, and what is known of the host:
//            its addresses, and how many calls one of its connections takes.
// Borrows    the ReactorPool; the calls that wait.
// Thread     its reactor's.
// Fails      a call that would wait behind waiting_max others is refused. When no address can be
//            connected to, and there is no connection left, all that wait are told why.
// Invariant  at most connections_max connections; no call waits while a connection has room. As
//            long as the number of calls that a connection takes is unknown, because TLS has not
//            agreed on the protocol or the server has not sent its limit, there is one. Connections
//            are opened and forgotten in run_pending() alone, never inside a session or an engine.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/task.hpp"
#include "katana/client/call.hpp"
#include "katana/client/client_connection.hpp"
#include "katana/client/url.hpp"
#include "katana/tls/kept_sessions.hpp"

namespace katana::client {

class OriginPool {
 public:
  OriginPool(ReactorPool& pool, const Origin& origin);
  ~OriginPool();
  OriginPool(const OriginPool&) = delete;
  OriginPool& operator=(const OriginPool&) = delete;

  ReactorPool& pool() noexcept { return pool_; }
  const Origin& origin() const noexcept { return origin_; }
  std::size_t connection_count() const noexcept { return connections_.size(); }

  void add(Call& call) noexcept;
  // Gives connections to those that wait, opens connections, and forgets those that are gone.
  void run_pending() noexcept;
  // Kept connections that nobody uses end: one of them was found dead.
  void retire_idle() noexcept;
  bool empty() const noexcept { return connections_.empty() && waiting_.empty() && !lookup_; }

  // ---- for a connection
  // It could not be opened. `calls`, the latest first, have not been sent; `answered`: there was
  // somebody, who did not do his part of TLS.
  void on_connect_failed(CallList& calls, const Error& error, bool answered) noexcept;
  void on_connected() noexcept { failures_ = 0; }
  // How many calls a connection takes at a time, as one has shown. 0: it is not known, or none.
  std::uint32_t calls_per_connection() const noexcept { return calls_per_connection_; }
  void set_calls_per_connection(std::uint32_t calls) noexcept { calls_per_connection_ = calls; }
  tls::KeptSessions& sessions() noexcept { return sessions_; }

  bool pending = false;  // the pool's note

 private:
  ClientConnection* find_available() noexcept;
  void assign_waiting() noexcept;
  void open_connections() noexcept;
  std::size_t count_wanted() const noexcept;
  bool open_connection() noexcept;
  bool may_connect() const noexcept;
  void limit_idle() noexcept;
  void fail_waiting(const Error& error) noexcept;
  bool knows_addresses() const noexcept;
  Task<void> look_up();

  ReactorPool& pool_;
  const Origin origin_;
  std::vector<std::unique_ptr<ClientConnection>> connections_;  // the one used last stands last
  CallList waiting_;
  std::vector<std::string> addresses_;
  std::size_t address_ = 0;   // the one to be tried next
  std::size_t failures_ = 0;  // of connections, in a row
  std::uint32_t calls_per_connection_;
  tls::KeptSessions sessions_;
  Instant addresses_until_{};
  Instant begin_again_at_{};
  std::optional<Task<void>> lookup_;
};

}  // namespace katana::client
