// Tracer: decides which traces are recorded, makes ids of spans, and keeps the records of all
// threads until they are drained.
//
//   trace::Tracer tracer({.sampler = trace::Sampler::of_ratio(0.01), .keep_slow = seconds(1)});
//   tracer.drain([&](const trace::SpanRecord& span) { encode(span); });
//
// Owns       a SpanBuffer for each thread that records.
// Borrows    nothing. It outlives every root and span.
// Thread     any; drain() one at a time.
// Allocates  the buffer, with a thread's first span.
// Fails      never: a record without room is counted by its reason, and the work goes on.
// Invariant  recording a span takes no lock and no memory, except the first of a thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/trace/sampler.hpp"
#include "katana/observe/trace/span_buffer.hpp"
#include "katana/observe/trace/span_record.hpp"

namespace katana::trace {

// The sampling and the limits of a tracer.
struct TracerOptions {
  Sampler sampler = {};            // follows the caller by default, and samples what begins here
  std::uint32_t spans_max = 1024;  // of each thread, not yet drained; about 2 KiB each
  // Requests without sampling are kept nevertheless if they took longer than this (0: none), or if
  // they failed. Their spans are held until the request ends.
  Duration keep_slow = {};
  bool keep_failed = false;
  std::uint32_t held_max = 64;  // spans of one such request
  // Spans whose names the conventions of OpenTelemetry may still change: of messages and pools.
  bool experimental = false;
  bool exemplars = true;  // durations of requests refer to the recorded ones
  // False: contexts of other processes are neither read nor sent.
  bool propagates = true;
  // Keys of W3C Baggage that are read, sent, and attributes of requests; see Baggage.
  std::vector<std::string> baggage = {};
  // Null: the machine's monotonic clock.
  std::function<Instant()> clock = {};
  // Called by a thread when half of its records wait for the drain. It must not block.
  std::function<void()> on_filling = {};
  std::uint64_t seed = 0;  // of ids; 0: one of the system's
};

// The reason why a span was not recorded.
enum class Drop : std::uint8_t {
  buffer_full,  // all records of its thread were in use
  held_full,    // its request held held_max already
  count,
};

// A header field that was received with a request and could not be used.
enum class Ignored : std::uint8_t { trace_parent, trace_state, baggage, count };

class Tracer {
 public:
  explicit Tracer(TracerOptions options = {});
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // The options that the constructor got.
  const TracerOptions& options() const noexcept { return options_; }
  // The time by the clock of the options.
  Instant now() const noexcept;
  // A new id from this thread's generator.
  TraceId new_trace() noexcept;
  // A new id of a span.
  SpanId new_span() noexcept;
  // Whether keep_slow or keep_failed is set.
  bool may_keep_later() const noexcept {
    return options_.keep_slow > Duration{} || options_.keep_failed;
  }

  // Takes a record for this thread. Null: none is free, which is counted.
  SpanRecord* take() noexcept;
  // Makes an ended record ready for the drain.
  void put_ready(SpanRecord& record) noexcept;
  // Options::on_filling is called at the next put_ready() as well, once. A drain() must follow, for
  // the spans of before. False: there is no on_filling.
  bool call_at_next_span() noexcept;
  // Returns a record that is not kept.
  static void give_back(SpanRecord& record) noexcept { SpanBuffer::give_back(record); }

  // Calls f for each span that has ended since the last call. Returns their number.
  std::size_t drain(const std::function<void(const SpanRecord&)>& f);

  // Count a span or a field that was dropped or ignored.
  void count(Drop why) noexcept { add(dropped_[static_cast<std::size_t>(why)]); }
  void count(Ignored what) noexcept { add(ignored_[static_cast<std::size_t>(what)]); }
  // The counts since the tracer was made.
  std::uint64_t counted(Drop why) const noexcept {
    return dropped_[static_cast<std::size_t>(why)].load(std::memory_order_relaxed);
  }
  std::uint64_t counted(Ignored what) const noexcept {
    return ignored_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }
  // The number of cut texts of spans.
  std::uint64_t cut_texts() const noexcept { return cut_texts_.load(std::memory_order_relaxed); }
  // The number of drained spans; dropped ones are not included.
  std::uint64_t drained() const noexcept { return drained_.load(std::memory_order_relaxed); }

 private:
  static void add(std::atomic<std::uint64_t>& counter) noexcept {
    counter.fetch_add(1, std::memory_order_relaxed);
  }
  SpanBuffer& own() noexcept;
  std::shared_ptr<SpanBuffer> find_or_make();

  const TracerOptions options_;
  const std::uint64_t number_;  // unlike that of every other tracer of the process
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Drop::count)> dropped_{};
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Ignored::count)> ignored_{};
  std::atomic<std::uint64_t> cut_texts_{0};
  std::atomic<std::uint64_t> drained_{0};
  std::atomic<bool> calls_at_next_span_{false};
  std::mutex mutex_;  // guards buffers_
  std::vector<std::shared_ptr<SpanBuffer>> buffers_;
  std::uint64_t seed_;
};

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
