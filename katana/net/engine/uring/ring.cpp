#include "katana/net/engine/uring/ring.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "katana/base/system/check.hpp"
#include "katana/net/engine/uring/features.hpp"
#include "katana/net/engine/uring/restrictions.hpp"

namespace katana::engine {
namespace {

// Since Linux 6.13 one call brings at most so many deferred completions.
constexpr unsigned works_per_call_max = 20;
// The most completions that are collected in one turn.
constexpr unsigned together_max = 512;

int register_with(int ring, unsigned operation, void* argument, unsigned count) {
  return static_cast<int>(syscall(__NR_io_uring_register, ring, operation, argument, count));
}

void sleep_for(Duration duration) {
  const timespec time{duration.ns / 1'000'000'000, duration.ns % 1'000'000'000};
  ::nanosleep(&time, nullptr);
}

}  // namespace

int make_ring(std::uint32_t submissions, io_uring& ring, io_uring_params& parameters) {
  const io_uring_params wanted = parameters;
  const auto make = [&] {
    parameters = wanted;
    return io_uring_queue_init_params(submissions, &ring, &parameters);
  };
  return make_when_memory_is_free(make, sleep_for);
}

int make_receive_ring(io_uring& ring, io_uring_buf_reg& registration) {
  return make_when_memory_is_free(
      [&] { return io_uring_register_buf_ring(&ring, &registration, 0); }, sleep_for);
}

Ring::~Ring() {
  if (!started_) return;
  // A registered ring belongs to the thread that registered it; on another thread it ends with that
  // one.
  if (registered_ && pthread_equal(owner_, pthread_self()) != 0) {
    io_uring_rsrc_update slot{};
    slot.offset = static_cast<std::uint32_t>(enter_fd_);
    (void)register_with(ring_.ring_fd, IORING_UNREGISTER_RING_FDS, &slot, 1);  // or it ends with us
  }
  io_uring_queue_exit(&ring_);
}

Result<void> Ring::start(const UringOptions& options) {
  rules_ = options.rules;
  io_uring_params parameters{};
  parameters.flags = ring_setup_flags;
  if (!rules_.deferred_work) parameters.flags &= ~std::uint32_t{IORING_SETUP_DEFER_TASKRUN};
  parameters.cq_entries = options.completions;
  const int result = make_ring(options.submissions, ring_, parameters);
  if (result < 0) return std::unexpected(uring_error("start io_uring", -result));
  started_ = true;
  enter_fd_ = ring_.ring_fd;
  if (auto restricted = restrict_ring(ring_); !restricted) return restricted;
  // Entries are submitted in the order of their places: the kernel's table of indices is filled
  // once. Later versions of liburing ask a kernel that can do without the table for none.
  if (ring_.sq.array == nullptr) return {};
  for (unsigned index = 0; index < ring_.sq.ring_entries; ++index) ring_.sq.array[index] = index;
  return {};
}

std::size_t Ring::memory_bytes() const noexcept {
  return started_ ? ring_.sq.ring_sz + ring_.sq.ring_entries * sizeof(io_uring_sqe) : 0;
}

// The thread that calls this is the only one that the ring will serve.
void Ring::enable() noexcept {
  enabled_ = true;
  owner_ = pthread_self();
  KATANA_CHECK(register_with(ring_.ring_fd, IORING_REGISTER_ENABLE_RINGS, nullptr, 0) == 0);
  if (!rules_.registered_ring) return;
  io_uring_rsrc_update slot{};
  slot.offset = -1u;  // any
  slot.data = static_cast<std::uint64_t>(ring_.ring_fd);
  // A little cheaper to enter. A thread has only a few places for it, and works without one.
  if (register_with(ring_.ring_fd, IORING_REGISTER_RING_FDS, &slot, 1) == 1) {
    registered_ = true;
    enter_fd_ = static_cast<int>(slot.offset);
  }
}

void Ring::enter(const Wait& wait) noexcept {
  enter(wait, true);
  if (!rules_.enter_again) return;
  // Collects the other completions that are here by now: events that arrive together are answered
  // together.
  unsigned before = 0;
  for (unsigned ready = completions(); ready - before >= works_per_call_max && ready < together_max;
       ready = completions()) {
    before = ready;
    enter(Wait{}, true);
  }
}

void Ring::enter(const Wait& wait, bool gets_events) noexcept {
  if (!enabled_) enable();
  io_uring_sq& queue = ring_.sq;
  // release: the entries are written before the kernel sees the tail.
  std::atomic_ref(*queue.ktail).store(queue.sqe_tail, std::memory_order_release);
  const unsigned count =
      queue.sqe_tail - std::atomic_ref(*queue.khead).load(std::memory_order_acquire);
  unsigned flags = registered_ ? IORING_ENTER_REGISTERED_RING : 0u;
  if (gets_events) flags |= IORING_ENTER_GETEVENTS;
  __kernel_timespec timeout{wait.at_most.ns / 1'000'000'000, wait.at_most.ns % 1'000'000'000};
  EnterArgument argument{};
  const bool waits = gets_events && wait.at_most.ns > 0 && completions() == 0;
  if (waits) {
    flags |= IORING_ENTER_EXT_ARG;
    argument.timeout = reinterpret_cast<std::uintptr_t>(&timeout);
    if (wait.completions > 1) {  // it costs a timer
      argument.min_wait_us = static_cast<std::uint32_t>(wait.collect.ns / 1'000);
    }
  }
  const long result = syscall(__NR_io_uring_enter, enter_fd_, count, waits ? wait.completions : 0u,
                              flags, waits ? &argument : nullptr, waits ? sizeof argument : 0u);
  if (result >= 0) return;
  // ETIME and EINTR end a wait. EAGAIN and EBUSY leave entries in the queue for the next time. Any
  // other error is fatal (EBADR: completions were lost for lack of memory).
  KATANA_CHECK(errno == ETIME || errno == EINTR || errno == EAGAIN || errno == EBUSY);
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
