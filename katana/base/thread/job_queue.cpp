#include "katana/base/thread/job_queue.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "katana/base/system/check.hpp"

namespace katana::thread {

JobQueue::JobQueue(std::size_t size, std::size_t timed_one_in)
    : mask_(size - 1),
      timed_one_in_(timed_one_in),
      times_mask_(std::max<std::size_t>(size / timed_one_in, 1) - 1),
      // calloc: large zeroed memory comes untouched from the kernel, and a null act is a free slot.
      memory_(std::calloc(size + 2, sizeof(Slot))),
      times_(std::make_unique<std::atomic<std::int64_t>[]>(times_mask_ + 1)) {
  KATANA_REQUIRE(std::has_single_bit(size) && std::has_single_bit(timed_one_in));
  if (memory_ == nullptr) throw std::bad_alloc();
  void* aligned = memory_.get();
  std::size_t capacity = (size + 2) * sizeof(Slot);
  slots_ = static_cast<Slot*>(std::align(64, size * sizeof(Slot), aligned, capacity));
  KATANA_CHECK(slots_ != nullptr);
}

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
