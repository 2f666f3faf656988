// Session, Protocol and SessionReplacement: what a module above net/reactor implements to serve
// connections.
//
// Owns       a Session lives in its connection's memory; the reactor destroys it when the link
//            is gone, and its destructor cancels whatever it still waits for.
// Thread     its reactor's.
// Fails      no call may throw. A session that cannot go on calls Connection::finish() or
//            reset().
// Invariant  no call arrives inside another call of the same session, and none after the
//            destructor.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::net {

class Connection;
class Reactor;

class Session {
 public:
  virtual ~Session() = default;
  // `input` is borrowed for the call and starts with the first byte not consumed so far. Returns
  // how many bytes were consumed; the rest comes again, in front of what arrives next. Not called
  // while the connection has a PauseReason.
  virtual std::size_t on_bytes(Bytes input) noexcept = 0;
  // The other side sends no more. Said when it is known, to a paused session before the bytes that
  // it has not been offered yet; and again whenever the connection is attended and all of them have
  // been: what a session could not do about it while it was paused, it can do then.
  virtual void on_input_end() noexcept = 0;
  // The outbox, found full before, has room again.
  virtual void on_writable() noexcept {}
  // The time given to Connection::set_deadline() has come.
  virtual void on_deadline() noexcept = 0;
  // The reactor is about to stop: finish what is in flight and begin nothing new.
  virtual void on_drain() noexcept = 0;

  // ---- for when memory is scarce ----
  // Output blocks that it holds beside its connection's outbox.
  virtual std::size_t blocks_held() const noexcept { return 0; }
  // What it has charged to Reactor::memory(), or keeps others from discharging.
  virtual std::size_t held_bytes() const noexcept { return 0; }
  // Gives up the largest of that, and says so to the other side: it is among those who hold most.
  // The connection is woken after it. Returns what goes only once the connection is attended.
  virtual std::size_t on_memory_scarce() noexcept { return 0; }
};

// Makes the sessions of one listener, or of connections that we begin; one instance per reactor. A
// connection with a transform gets its session when that is open:
// Connection::application_protocol() is known in open().
class Protocol {
 public:
  virtual ~Protocol() = default;
  // Size of the largest session that open() makes.
  virtual std::size_t session_bytes() const noexcept = 0;
  // Constructs a session in `memory`, which has session_bytes() bytes aligned for any type.
  virtual Session* open(void* memory, Connection& connection) noexcept = 0;
  // Memory on the heap that all its sessions share, and that each has at most for itself, beside
  // what is charged to Reactor::memory(): for the budget that is printed.
  virtual std::size_t shared_bytes() const noexcept { return 0; }
  virtual std::size_t heap_bytes_each() const noexcept { return 0; }
  // A connection with a transform ends, and its session could not be opened.
  virtual void on_not_opened(Connection&) noexcept {}
};

// Makes the session that follows another one on the same connection, for
// Connection::replace_session(), and holds what the first hands over to the second: an upgrade's
// agreed options, a handler.
//
// Owns       what it hands over. The connection owns it until its one call of open(), or until the
//            connection ends, whichever comes first.
// Invariant  the first session is destroyed before open() is called, in whose memory it is.
class SessionReplacement {
 public:
  virtual ~SessionReplacement() = default;
  // At most what the reactor's listeners were given (ReactorOn: session_bytes_max).
  virtual std::size_t session_bytes() const noexcept = 0;
  // As Protocol::open(). The outbox may hold what the first session wrote. Its unconsumed input
  // is offered next; the end of the other side is told as ever (on_input_end).
  virtual Session* open(void* memory, Connection& connection) noexcept = 0;
};

// A replacement that hands nothing over.
class PlainReplacement final : public SessionReplacement {
 public:
  explicit PlainReplacement(Protocol& protocol) noexcept : protocol_(protocol) {}
  std::size_t session_bytes() const noexcept override { return protocol_.session_bytes(); }
  Session* open(void* memory, Connection& connection) noexcept override {
    return protocol_.open(memory, connection);
  }

 private:
  Protocol& protocol_;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
