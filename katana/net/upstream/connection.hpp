// Connection: a reactor's connection to a server of another protocol than HTTP, which is made anew
// whenever it is lost.
//
//   stopped ─start()─▶ resolving ──▶ connecting ──established()──▶ up
//                          ▲              │                         │
//                          └── waiting ◀──┴───── failed, lost ◀─────┘
//
// It knows the servers and the way to them, and nothing of what is said there: that is the Owner's.
// The owner writes its greeting in on_open(), and calls established() when the server has answered
// it as it should. Then, and not before, the server counts as reached.
//
// The owner keeps or refuses messages while no server is up: write() is false then.
// An answer that has not come when on_closed() is called never comes.
//
// Owns       its timer, the lookup of a name, and of an attempt what TLS needs.
// Borrows    reactor and owner. The arguments of refer(), until they are let go, which may be
//            after the Connection is gone: in the same turn, or with the reactor.
// Thread     its reactor's.
// Allocates  for each attempt; write() takes blocks of the reactor's pool.
// Fails      write() and refer() are false when it is not open, or full; nothing is written then.
//            Everything else is Owner::on_closed() with the reason, and another attempt.
// Invariant  each on_open() is followed by one on_closed(), but when stop() is called, or it is
//            destroyed. No call of the owner comes inside another, nor within start(), stop(),
//            write() or lose(). Bytes arrive in the order of one connection, and none after its
//            on_closed().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/memory/retained.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/random.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/tls/prelude.hpp"
#include "katana/net/upstream/shared.hpp"

namespace katana::upstream {

// What a connection tells. No call may destroy the Connection.
class Owner {
 public:
  // Bytes can be written. Without TLS it is unknown yet whether a server is there.
  virtual void on_open() noexcept = 0;
  // `input` is borrowed for the call and starts with the first byte not consumed so far. Returns
  // how many bytes were consumed; the rest comes again, in front of what arrives next. The rest
  // may be no more than ReactorOptions::carry_extra_bytes: a parser keeps its state instead.
  virtual std::size_t on_bytes(Bytes input) noexcept = 0;
  // The connection is gone. Another attempt follows, after a pause.
  virtual void on_closed(const Error& why) noexcept = 0;
  // An attempt failed before it came to on_open(): no name, no address, no TLS.
  virtual void on_unreachable(const Error& why) noexcept { (void)why; }
  // All that was written has been sent; said once after want_writable().
  virtual void on_writable() noexcept {}
  // Before TLS begins, for servers that speak first in plaintext; it outlives the attempt. Null:
  // nothing.
  virtual tls::Prelude* prelude() noexcept { return nullptr; }

 protected:
  ~Owner() = default;
};

class Connection final : private net::TimerEntry {
 public:
  // As the diagram above has it.
  enum class State : std::uint8_t {
    stopped,     // not begun, or stop() was called
    waiting,     // for the next attempt
    resolving,   // the name is being looked up
    connecting,  // from the first address to established()
    up,          // from established() until it is lost
  };

  Connection(net::Reactor& reactor, std::shared_ptr<Shared> shared, Owner& owner);
  // Resets what is open.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // For this moment; its reactor's thread.
  State state() const noexcept { return state_; }
  // established() was called, and it was not lost since.
  bool is_up() const noexcept { return state_ == State::up; }
  // Of the attempt, or the connection.
  const Server& server() const noexcept { return server_; }
  const Shared& shared() const noexcept { return *shared_; }
  net::Reactor& reactor() noexcept { return reactor_; }
  // Why the last attempt failed, or the last connection broke; none: it is up, or was never begun.
  const std::optional<Error>& problem() const noexcept { return problem_; }

  // Begins, a millisecond later at most, and goes on until stop(). Nothing happens when it has
  // begun.
  void start() noexcept;
  // Sends what was written, and closes. The owner is not called any more.
  void stop() noexcept;
  // The server has answered the greeting. REQUIRES that on_open() was called, and no on_closed()
  // since.
  void established() noexcept;
  // The owner cannot go on with this connection: it is reset, and on_closed(why) follows in this
  // turn or the next.
  void lose(Error why) noexcept;

  // Copies. The output of one turn is sent at its end, in one send.
  bool write(Bytes text) noexcept;
  // The same without a copy.
  bool refer(Bytes text, Retained& memory) noexcept;
  // Written, and not yet taken by the kernel.
  std::size_t pending() const noexcept;
  // write() of so many bytes is true.
  bool takes(std::size_t bytes) const noexcept;
  void want_writable() noexcept;
  // The owner is not offered bytes, and the server is not read, until resume_input().
  void pause_input() noexcept;
  void resume_input() noexcept;

 private:
  class Attempt;

  static void on_timer(TimerEntry& entry) noexcept;
  void begin() noexcept;
  void go_on() noexcept;
  void connect() noexcept;
  void ask_destinations() noexcept;
  Task<void> look_up();
  void arm(Duration after) noexcept;
  // Tries the next address at once, or the next server after a pause.
  void fail_attempt(const Error& why, bool try_addresses) noexcept;
  void note_problem(const Error& why, bool was_up) noexcept;
  void pause() noexcept;
  void on_gone(const net::Connection& connection) noexcept;
  void end(const Error& error, bool was_up, bool was_open) noexcept;
  Error why(const net::Connection& connection) const;
  std::string place() const;
  net::Connection* open_connection() const noexcept;
  void wake() noexcept;

  net::Reactor& reactor_;
  const std::shared_ptr<Shared> shared_;
  Owner& owner_;
  Random random_;
  Attempt* attempt_ = nullptr;  // owns itself until its net::Connection is gone; null: none
  std::optional<Task<void>> lookup_;
  std::optional<Error> lookup_problem_;
  Server server_;
  std::vector<std::string> addresses_;
  std::uint16_t port_ = 0;
  std::size_t address_ = 0;  // of addresses_
  std::size_t turn_ = 0;     // of the list of servers
  Duration pause_;           // the last
  Instant up_since_ = never;
  std::optional<Error> problem_;
  State state_ = State::stopped;
  bool is_down_ = false;  // as Shared counts
};

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
