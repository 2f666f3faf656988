// Session, Protocol and SessionReplacement: the interfaces that a module above net/reactor
// implements to serve connections.
//
// Owns       a Session lives in its connection's memory; the reactor destroys it when the link is
//            gone. Its destructor cancels its pending waits.
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
  // the number of consumed bytes; the rest comes again, in front of the next bytes. Not called
  // while the connection has a PauseReason.
  virtual std::size_t on_bytes(Bytes input) noexcept = 0;
  // The other side sends no more. A paused session is told before the bytes that it has not been
  // offered yet. It is told again whenever the connection is attended and all of them have been
  // offered. It can then do what it could not do while it was paused.
  virtual void on_input_end() noexcept = 0;
  // The outbox, found full before, has room again.
  virtual void on_writable() noexcept {}
  // The time given to Connection::set_deadline() has come.
  virtual void on_deadline() noexcept = 0;
  // The reactor is about to stop: finish work in progress and begin nothing new.
  virtual void on_drain() noexcept = 0;
  // The protocol that it speaks, for lists of connections: "http/1.1". A literal; empty: unnamed.
  virtual Bytes protocol_name() const noexcept { return {}; }

  // ---- for when memory is scarce ----
  // The number of output blocks that it holds besides its connection's outbox.
  virtual std::size_t blocks_held() const noexcept { return 0; }
  // The bytes that it has charged to Reactor::memory(), or keeps others from discharging.
  virtual std::size_t held_bytes() const noexcept { return 0; }
  // Gives up the largest part of it, and tells the other side: the session is among the largest
  // holders. The connection is woken afterwards. Returns the bytes that are freed only once the
  // connection is attended.
  virtual std::size_t on_memory_scarce() noexcept { return 0; }
};

// Makes the sessions of one listener, or of outgoing connections; one instance per reactor. A
// connection with a transform gets its session when the transform is open:
// Connection::application_protocol() is known in open().
class Protocol {
 public:
  virtual ~Protocol() = default;
  // Size of the largest session that open() makes.
  virtual std::size_t session_bytes() const noexcept = 0;
  // Constructs a session in `memory`, which has session_bytes() bytes aligned for any type.
  virtual Session* open(void* memory, Connection& connection) noexcept = 0;
  // Heap memory that all its sessions share, and the most that each has alone, besides memory
  // charged to Reactor::memory(). For the printed budget.
  virtual std::size_t shared_bytes() const noexcept { return 0; }
  virtual std::size_t heap_bytes_each() const noexcept { return 0; }
  // A connection with a transform ends, and its session could not be opened.
  virtual void on_not_opened(Connection&) noexcept {}
};

// Makes the next session on the same connection, for Connection::replace_session(). It holds the
// data that the first session hands over: an upgrade's agreed options, a handler.
//
// Owns       the data that it hands over. The connection owns it until its one call of open(), or
//            until the connection ends, whichever comes first.
// Invariant  the first session is destroyed before open() is called, which uses its memory.
class SessionReplacement {
 public:
  virtual ~SessionReplacement() = default;
  // At most ReactorOn's session_bytes_max.
  virtual std::size_t session_bytes() const noexcept = 0;
  // Like Protocol::open(). The outbox may hold output of the first session. Its unconsumed input is
  // offered next; the end of the other side is reported as usual (on_input_end).
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
