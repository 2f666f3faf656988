// Connection: a reactor's connection to a server of a protocol other than HTTP. It reconnects
// whenever the connection is lost.
//
//   stopped ─start()─▶ resolving ──▶ connecting ──established()──▶ up
//                          ▲              │                         │
//                          └── waiting ◀──┴───── failed, lost ◀─────┘
//
// It knows the servers and how to reach them; the Owner knows the protocol. The owner writes its
// greeting in on_open(). It calls established() when the server has answered the greeting
// correctly. Only then the server counts as reached.
//
// The owner keeps or refuses messages while no server is up: write() is false then. Answers that
// have not arrived by on_closed() never arrive.
//
// Owns       its timer, the lookup of a name, and the TLS objects of an attempt.
// Borrows    reactor and owner. The arguments of refer() until they are released, which may be
//            after the Connection is destroyed: in the same turn, or with the reactor.
// Thread     its reactor's.
// Allocates  for each attempt; write() takes blocks of the reactor's pool.
// Fails      write() and refer() return false and write nothing when the connection is not open or
//            is full. All other failures call Owner::on_closed() with the reason; another attempt
//            follows.
// Invariant  each on_open() is followed by one on_closed(), except after stop() or destruction. No
//            call of the owner comes inside another, nor within start(), stop(), write() or lose().
//            Bytes arrive in the order of one connection, and none after its on_closed().
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

// The events of a connection. No call may destroy the Connection.
class Owner {
 public:
  // Bytes can be written. Without TLS it is not known yet whether a server is there.
  virtual void on_open() noexcept = 0;
  // `input` is borrowed for the call and starts with the first byte not consumed so far. Returns
  // the number of consumed bytes; the rest comes again, in front of the next bytes. The rest may be
  // at most ReactorOptions::carry_extra_bytes: a parser keeps its state instead.
  virtual std::size_t on_bytes(Bytes input) noexcept = 0;
  // The connection is gone. Another attempt follows, after a pause.
  virtual void on_closed(const Error& why) noexcept = 0;
  // An attempt failed before on_open(): no name, no address, no TLS.
  virtual void on_unreachable(const Error& why) noexcept { (void)why; }
  // All written bytes have been sent; called once after want_writable().
  virtual void on_writable() noexcept {}
  // The exchange before TLS, for servers that speak first in plaintext. It outlives the attempt.
  // Null: none.
  virtual tls::Prelude* prelude() noexcept { return nullptr; }

 protected:
  ~Owner() = default;
};

class Connection final : private net::TimerEntry {
 public:
  // The states of the diagram above.
  enum class State : std::uint8_t {
    stopped,     // not begun, or stop() was called
    waiting,     // for the next attempt
    resolving,   // the name is being looked up
    connecting,  // from the first address to established()
    up,          // from established() until it is lost
  };

  Connection(net::Reactor& reactor, std::shared_ptr<Shared> shared, Owner& owner);
  // Resets an open connection.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The state at this moment; on its reactor's thread only.
  State state() const noexcept { return state_; }
  // True from established() until the connection is lost.
  bool is_up() const noexcept { return state_ == State::up; }
  // The server of the current attempt or connection.
  const Server& server() const noexcept { return server_; }
  const Shared& shared() const noexcept { return *shared_; }
  net::Reactor& reactor() noexcept { return reactor_; }
  // The reason of the last failed attempt or lost connection. None: it is up, or was never started.
  const std::optional<Error>& problem() const noexcept { return problem_; }

  // Begins within a millisecond, and goes on until stop(). Has no effect when it has begun.
  void start() noexcept;
  // Sends the written bytes and closes. The owner is not called any more.
  void stop() noexcept;
  // Reports that the server has answered the greeting. REQUIRES a call of on_open() without
  // on_closed() since.
  void established() noexcept;
  // The owner cannot go on with this connection: it is reset, and on_closed(why) follows in this
  // turn or the next.
  void lose(Error why) noexcept;

  // Copies the bytes. The output of one turn is sent at its end, in one send.
  bool write(Bytes text) noexcept;
  // The same without a copy.
  bool refer(Bytes text, Retained& memory) noexcept;
  // The number of written bytes that the kernel has not taken yet.
  std::size_t pending() const noexcept;
  // Whether write() of so many bytes would return true.
  bool takes(std::size_t bytes) const noexcept;
  void want_writable() noexcept;
  // Until resume_input(), the owner gets no bytes and the server is not read.
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
  std::size_t turn_ = 0;     // index into the list of servers
  Duration pause_;           // the last one
  Instant up_since_ = never;
  std::optional<Error> problem_;
  State state_ = State::stopped;
  bool is_down_ = false;  // as counted by Shared
};

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
