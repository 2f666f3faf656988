// SpanBuffer: the records of one thread: a fixed number of them. Spans take them, and they return
// after they were drained.
//
//   take ─► the span ─► put_ready ─► drain ─► give_back ─► take
//                    └► give_back: it is not kept
//
// Owns       its records, in one piece of memory that is used only as far as necessary.
// Thread     take() that of the buffer; put_ready() and give_back() any; drain() one at a time.
// Allocates  when it is made.
// Fails      take() is null when all records are in use.
// Invariant  a record is in exactly one place: with the buffer, a span, a request that is
//            undecided, or waiting for the drain.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "katana/base/values/random.hpp"
#include "katana/observe/trace/span_record.hpp"

namespace katana::trace {

class SpanBuffer {
 public:
  SpanBuffer(std::uint32_t records_max, std::uint64_t seed)
      : random(seed),
        memory_(std::make_unique_for_overwrite<std::byte[]>(records_max * sizeof(SpanRecord))),
        records_max_(records_max) {}
  SpanBuffer(const SpanBuffer&) = delete;
  SpanBuffer& operator=(const SpanBuffer&) = delete;

  // Takes a record for a new span; null: all are in use.
  SpanRecord* take() noexcept {
    // acquire: the drain has finished reading it
    if (free_ == nullptr) free_ = returned_.exchange(nullptr, std::memory_order_acquire);
    SpanRecord* record = free_;
    if (record != nullptr) {
      free_ = record->next_;
    } else if (fresh_ < records_max_) {
      record = new (&memory_[fresh_++ * sizeof(SpanRecord)]) SpanRecord;
    } else {
      return nullptr;
    }
    record->begin();
    record->buffer_ = this;
    return record;
  }
  // Returns the number of records that wait for the drain.
  static std::uint32_t put_ready(SpanRecord& record) noexcept {
    SpanBuffer& to = *record.buffer_;
    push(to.ready_, record);
    return to.ready_count_.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  static void give_back(SpanRecord& record) noexcept { push(record.buffer_->returned_, record); }

  // Calls f(const SpanRecord&) for each ready record, in the order of their ends, and takes the
  // records back.
  template <class F>
  std::size_t drain(const F& f) {
    SpanRecord* newest = ready_.exchange(nullptr, std::memory_order_acquire);
    SpanRecord* oldest = nullptr;
    while (newest != nullptr) {
      SpanRecord* const next = newest->next_;
      newest->next_ = oldest;
      oldest = std::exchange(newest, next);
    }
    std::uint32_t count = 0;
    while (oldest != nullptr) {
      SpanRecord* const next = oldest->next_;
      f(static_cast<const SpanRecord&>(*oldest));
      give_back(*oldest);
      oldest = next;
      ++count;
    }
    ready_count_.fetch_sub(count, std::memory_order_relaxed);
    return count;
  }
  std::uint32_t records_max() const noexcept { return records_max_; }

  Random random;                         // for ids that its thread makes
  std::atomic<bool> is_orphaned{false};  // its thread has ended: another may take it

 private:
  static void push(std::atomic<SpanRecord*>& list, SpanRecord& record) noexcept {
    record.next_ = list.load(std::memory_order_relaxed);
    // release: publishes the record. Lists are only taken whole: a head that returned does no harm.
    while (!list.compare_exchange_weak(record.next_, &record, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
  }

  static_assert(std::is_trivially_destructible_v<SpanRecord>);
  static_assert(alignof(SpanRecord) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  const std::unique_ptr<std::byte[]> memory_;
  const std::uint32_t records_max_;
  std::uint32_t fresh_ = 0;     // records from here on were never used
  SpanRecord* free_ = nullptr;  // used by its thread
  std::atomic<SpanRecord*> returned_{nullptr};
  std::atomic<SpanRecord*> ready_{nullptr};
  std::atomic<std::uint32_t> ready_count_{0};
};

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
