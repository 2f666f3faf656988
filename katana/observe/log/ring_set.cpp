#include "katana/observe/log/ring_set.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE \
  23  // Linux 5.14; older kernels refuse it, and pages come as they are met
#endif

namespace katana::log {
namespace {

constexpr std::uint64_t ready_bytes_max = 32 * 1024;

}  // namespace

Result<RingSet*> RingSet::make(std::uint32_t rings, std::uint64_t ring_bytes) {
  KATANA_REQUIRE(std::has_single_bit(ring_bytes) && rings > 0);
  void* const memory = mmap(nullptr, rings * ring_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return fail(Code::resource_exhausted,
                fmt::format("log: {} rings of {} bytes cannot be mapped: {}; lower threads_max or "
                            "ring_bytes",
                            rings, ring_bytes, std::strerror(errno)));
  }
  return new RingSet(rings, ring_bytes, static_cast<char*>(memory));
}

RingSet::RingSet(std::uint32_t rings, std::uint64_t ring_bytes, char* memory)
    : rings_(std::make_unique<Ring[]>(rings)),
      count_(rings),
      ring_bytes_(ring_bytes),
      memory_(memory) {
  for (std::uint32_t index = 0; index < rings; ++index) {
    rings_[index].set_memory(memory + index * ring_bytes, ring_bytes);
  }
}

RingSet::~RingSet() { munmap(memory_, count_ * ring_bytes_); }

void RingSet::remove_user() noexcept {
  // acquire and release: the last user sees all earlier writes of the others.
  if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

Ring* RingSet::take() noexcept {
  for (std::uint32_t index = 0; index < count_; ++index) {
    Ring& ring = rings_[index];
    Ring::State expected = Ring::State::free;
    // acquire: pairs with the writer's release of an emptied ring.
    if (!ring.state.compare_exchange_strong(expected, Ring::State::open,
                                            std::memory_order_acq_rel)) {
      continue;
    }
    ring.thread_id.store(static_cast<std::uint32_t>(gettid()), std::memory_order_relaxed);
    // The first records then do not wait for pages. A thread that logs little costs no more than
    // these pages. Errors are ignored.
    madvise(memory_ + index * ring_bytes_, std::min(ring_bytes_, ready_bytes_max),
            MADV_POPULATE_WRITE);
    return &ring;
  }
  return nullptr;
}

namespace {

pthread_key_t thread_end_key;

void leave(ThreadSlot& slot) noexcept {
  if (slot.set == nullptr) return;
  // release: the writer that sees it closed sees all of its records.
  slot.ring->state.store(Ring::State::closed, std::memory_order_release);
  slot.set->remove_user();
  slot = {};
}

// Called after the destructors of thread_local objects, and again if one of them has logged.
void on_thread_end(void*) noexcept {
  for (ThreadSlot& slot : thread_slots) leave(slot);
}

}  // namespace

Result<void> prepare_thread_ends() {
  static const int failure = pthread_key_create(&thread_end_key, on_thread_end);
  if (failure == 0) return {};
  return fail(Code::resource_exhausted,
              fmt::format("log: pthread_key_create: {}; the process uses too many thread-specific "
                          "keys",
                          std::strerror(failure)));
}

bool attach(ThreadSlot& slot, RingSet& set, std::uint64_t generation) noexcept {
  leave(slot);
  Ring* const ring = set.take();
  if (ring == nullptr) return false;
  set.add_user();
  slot = {generation, ring, &set};
  pthread_setspecific(thread_end_key, &slot);  // any value but null: the destructor is called
  return true;
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
