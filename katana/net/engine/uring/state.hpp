// State: the data of the io_uring engine about links, listeners and watched descriptors, and the
// names of completions.
//
// Owns       values; a slot owns what is held for its link.
// Thread     values; a slot owns the held bytes of its link.
// Allocates  held bytes only.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/sockets.hpp"
#include "katana/net/engine/uring/outputs.hpp"

namespace katana::engine {

// Counts of events. A test checks with them that it met the case that it tests.
struct UringCounters {
  std::uint64_t late_completions = 0;  // of links that were gone
  std::uint64_t held_bytes = 0;        // arrived for a paused link
  std::uint64_t held_much = 0;         // times that receives became short because of held bytes
  std::uint64_t no_buffer = 0;         // receives that found the ReceiveRing empty
  std::uint64_t multishot_ends = 0;    // receives that had to be armed again after a delivery
  std::uint64_t sends_direct = 0;      // by their own system call
  std::uint64_t sends_staged = 0;      // copied into a block, and sent with the turn's submission
  std::uint64_t sends_cut = 0;         // given up: not read within delivery_grace
  std::uint64_t ends_missed = 0;       // by a multishot receive, and found by a poll
};

// Bytes, and perhaps the end of the stream, that arrived for a link while it was paused. Their
// memory is counted in `sum`, which outlives the object.
struct UringHeld {
  // The most bytes that a resumed link delivers in one turn.
  static constexpr std::size_t per_turn_max = 64 * 1024;
  explicit UringHeld(std::size_t& all) noexcept : sum(all) {}
  ~UringHeld() { sum -= counted; }
  UringHeld(const UringHeld&) = delete;
  UringHeld& operator=(const UringHeld&) = delete;
  // Copies the bytes, and adds their memory to `sum`.
  void append(Bytes more) {
    bytes.append(more);
    sum += bytes.capacity() - counted;
    counted = bytes.capacity();
  }

  std::size_t& sum;         // memory of all held bytes of the engine
  std::string bytes;        // those that arrived while the link was paused
  std::size_t counted = 0;  // part of `sum` that is this link's
  std::size_t begin = 0;
  bool ended = false;  // the stream ends behind the bytes
};
// Does nothing for -1.
inline void close_descriptor(int fd) {
  if (fd >= 0) ::close(fd);
}
//   connecting  the other side has not answered yet
//   broken      nothing can be sent; bytes that arrived can be read
//   over        broken and read to the end; no event follows
enum class UringState : std::uint8_t { open, connecting, broken, over };

// The engine's data about one link.
struct UringSlot {
  int fd = -1;                           // socket; -1: the slot is free
  std::uint32_t generation = 1;          // of the Link that has it; counts up with each
  std::uint32_t next_free = 0;           // index of the next free slot
  std::uint32_t output = Outputs::none;  // staged or under way
  std::unique_ptr<UringHeld> held;       // null: nothing arrived while it was paused
  std::uint32_t receive_max = 0;         // 0: as many as a buffer holds
  bool paused = false;                   // by pause_receive()
  bool singly = false;                   // its next receive is no multishot
  bool receiving = false;                // a receive is armed
  bool multishot = false;                // … that stays so
  bool fed = false;                      // … and has brought bytes
  bool cancelling = false;               // … and is being cancelled
  bool hangup_watched = false;           // a poll for its end is armed
  bool end_seen = false;                 // … and has reported it
  bool break_told = false;               // reported while it was paused
  bool writable_watched = false;         // a poll for room is armed
  bool send_wanted = false;              // a send is pending: on_sent() is due
  bool shutdown_wanted = false;          // our side ends when `output` is gone
  bool input_ended = false;              // the other side sends no more
  bool touched = false;                  // in touched_
  UringState state = UringState::open;   // of the connection
  std::uint16_t failure = 0;             // the errno value of the break

  // Whether input is delivered as it arrives.
  bool is_reading() const noexcept { return !paused && held == nullptr && !input_ended; }
};
// Sends as much as there is room for. Not 0: the errno value with which the connection broke.
inline int send_some(const UringSlot& slot, std::span<const iovec> parts, int flags,
                     std::size_t& sent, UringCounters& counters) {
  const ssize_t count = send_parts(slot.fd, parts, flags | MSG_DONTWAIT);
  ++counters.sends_direct;
  sent = count > 0 ? static_cast<std::size_t>(count) : 0;
  return count >= 0 || errno == EAGAIN ? 0 : errno;
}
// A listening socket.
struct UringListener {
  // How long close_listeners() still accepts connections whose handshake has begun.
  static constexpr Duration handshake_grace = milliseconds(100);
  static constexpr Duration accept_poll = milliseconds(10);  // how often it then looks
  int fd = -1;                                               // listening socket
  bool peer_speaks_first = true;                             // ListenOptions::peer_speaks_first
  bool shared = false;      // with another process: ListenOptions::socket, hand_over()
  bool armed = false;       // an accept is submitted
  bool multishot = false;   // it stays submitted after a connection
  bool cancelling = false;  // its cancellation is submitted
};
// A connection that was accepted and waits for a free slot.
struct UringWaiting {
  int fd;             // its socket
  Listener listener;  // the one that accepted it
  PeerEndpoint peer;  // its address
};
// A polled descriptor that belongs to another owner.
struct UringWatched {
  int fd = -1;                   // borrowed; -1: the place is free
  Watcher* watcher = nullptr;    // borrowed; null: unwatched
  Readiness wanted = {};         // events of the next poll
  std::uint32_t generation = 1;  // tells late completions apart
  bool armed = false;            // a poll is submitted
};

// The user data of an entry is kind << 56 | generation << 24 | index.
// The purpose of an entry; it decides which function gets the completion.
enum class UringKind : std::uint8_t {
  ignored,   // of no further interest
  wake,      // the eventfd of wake()
  accept,    // a listener
  watch,     // a watched descriptor
  receive,   // of a link
  send,      // of a link
  writable,  // a poll for room to send
  hangup     // a poll for the end of a link
};
// The user data of an entry.
inline std::uint64_t tag(UringKind kind, std::uint32_t index, std::uint32_t generation) {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} << 56 | std::uint64_t{generation} << 24 |
         index;
}
// The user data of an entry for a link.
inline std::uint64_t tag(UringKind kind, Link link) {
  return tag(kind, link.index, link.generation);
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
