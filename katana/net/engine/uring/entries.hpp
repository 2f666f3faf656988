// Entries: one function for each kind of entry that the engine submits.
//
// Owns       nothing.
// Borrows    the memory that an entry names, until its completion.
// Thread     the ring's.
// Fails      false: the submission queue is full and the kernel takes nothing at present.
// Invariant  `name` comes back in every completion of the entry. An entry without a waiter is
//            reported only when it fails (IOSQE_CQE_SKIP_SUCCESS), with the name 0.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/net/engine/uring/receive_ring.hpp"
#include "katana/net/engine/uring/ring.hpp"

namespace katana::engine {

// The flags of liburing's header, as numbers of the entry's types.
inline constexpr auto skip_success = static_cast<std::uint8_t>(IOSQE_CQE_SKIP_SUCCESS);
inline constexpr auto select_buffer = static_cast<std::uint8_t>(IOSQE_BUFFER_SELECT);

// Receives at most `most` bytes; 0: as many as a buffer holds.
inline bool submit_receive(Ring& ring, int fd, bool multishot, std::size_t most,
                           std::uint64_t name) {
  io_uring_sqe* const entry = ring.next();
  if (entry == nullptr) return false;
  io_uring_prep_recv(entry, fd, nullptr, most, 0);
  if (multishot && ring.rules().multishot_receive) entry->ioprio |= IORING_RECV_MULTISHOT;
  entry->flags |= select_buffer;
  entry->buf_group = ReceiveRing::group;
  entry->user_data = name;
  return true;
}

// MSG_WAITALL: one completion, when the kernel has taken every byte.
inline bool submit_send(Ring& ring, int fd, Bytes bytes, std::uint64_t name) {
  io_uring_sqe* const entry = ring.next();
  if (entry == nullptr) return false;
  io_uring_prep_send(entry, fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_WAITALL);
  entry->user_data = name;
  return true;
}

// Closes a descriptor. Reported only if it fails.
inline bool submit_close(Ring& ring, int fd) {
  io_uring_sqe* const entry = ring.next();
  if (entry == nullptr) return false;
  io_uring_prep_close(entry, fd);
  if (ring.rules().quiet_entries) entry->flags |= skip_success;
  return true;
}

// Cancels an entry, which reports the cancellation in its own completion.
KATANA_RARE inline bool submit_cancel(Ring& ring, std::uint64_t cancelled) {
  io_uring_sqe* const entry = ring.next();
  if (entry == nullptr) return false;
  io_uring_prep_cancel64(entry, cancelled, 0);
  if (ring.rules().quiet_entries) entry->flags |= skip_success;
  return true;
}

// Accepts one connection, or with `multishot` all until it is cancelled.
inline bool submit_accept(Ring& ring, int listener, bool multishot, std::uint64_t name) {
  io_uring_sqe* const entry = ring.next();
  if (entry == nullptr) return false;
  io_uring_prep_accept(entry, listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (multishot) entry->ioprio |= IORING_ACCEPT_MULTISHOT;
  entry->user_data = name;
  return true;
}

// Polls once. Errors and hang-ups are reported without being asked for.
KATANA_RARE inline bool submit_poll(Ring& ring, int fd, unsigned events, std::uint64_t name) {
  io_uring_sqe* const entry = ring.next();
  if (entry == nullptr) return false;
  io_uring_prep_poll_add(entry, fd, events);
  entry->user_data = name;
  return true;
}

// Polls until cancelled. Reports each end of a side, an end of both, and an error.
KATANA_RARE inline bool submit_hangup_poll(Ring& ring, int fd, std::uint64_t name) {
  io_uring_sqe* const entry = ring.next();
  if (entry == nullptr) return false;
  io_uring_prep_poll_multishot(entry, fd, POLLRDHUP);  // the kernel adds the others
  entry->user_data = name;
  return true;
}

// Reads once into memory that stays until the completion.
KATANA_RARE inline bool submit_read(Ring& ring, int fd, void* memory, unsigned count,
                                    std::uint64_t name) {
  io_uring_sqe* const entry = ring.next();
  if (entry == nullptr) return false;
  io_uring_prep_read(entry, fd, memory, count, 0);
  entry->user_data = name;
  return true;
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
