#include "katana/observe/trace/tracer.hpp"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "katana/base/system/monotonic_clock.hpp"

namespace katana::trace {
namespace {

std::uint64_t seed_of_system() noexcept {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) == sizeof seed) return seed;
  return static_cast<std::uint64_t>(monotonic_now().ns);
}

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// The last used buffer of this thread, and its others, which few threads have: those of tests, and
// of programs with several tracers.
class ThreadBuffers {
 public:
  ~ThreadBuffers() {
    // release: publishes the data that this thread has left in it
    for (auto& [number, buffer] : all_) buffer->is_orphaned.store(true, std::memory_order_release);
  }
  SpanBuffer* find(std::uint64_t number) noexcept {
    if (number == last_number_) [[likely]]
      return last_;
    const auto found = std::ranges::find(all_, number, &Entry::first);
    if (found == all_.end()) return nullptr;
    last_number_ = number;
    return last_ = found->second.get();
  }
  void add(std::uint64_t number, std::shared_ptr<SpanBuffer> buffer) {
    // Drops buffers of destroyed tracers.
    std::erase_if(all_, [](const Entry& each) { return each.second.use_count() == 1; });
    last_number_ = number;
    last_ = buffer.get();
    all_.emplace_back(number, std::move(buffer));
  }

 private:
  using Entry = std::pair<std::uint64_t, std::shared_ptr<SpanBuffer>>;
  std::uint64_t last_number_ = 0;
  SpanBuffer* last_ = nullptr;
  std::vector<Entry> all_;
};

ThreadBuffers& buffers_of_thread() noexcept {
  static thread_local ThreadBuffers buffers;
  return buffers;
}

}  // namespace

Tracer::Tracer(TracerOptions options)
    : options_(std::move(options)),
      number_(next_number()),
      seed_(options_.seed != 0 ? options_.seed : seed_of_system()) {}

Tracer::~Tracer() = default;

Instant Tracer::now() const noexcept { return options_.clock ? options_.clock() : monotonic_now(); }

std::shared_ptr<SpanBuffer> Tracer::find_or_make() {
  const std::lock_guard lock(mutex_);
  for (const auto& each : buffers_) {
    // acquire: sees the data that its thread has left in it
    if (each->is_orphaned.exchange(false, std::memory_order_acquire)) return each;
  }
  return buffers_.emplace_back(std::make_shared<SpanBuffer>(options_.spans_max, seed_++));
}

SpanBuffer& Tracer::own() noexcept {
  ThreadBuffers& known = buffers_of_thread();
  if (SpanBuffer* const found = known.find(number_)) [[likely]]
    return *found;
  auto made = find_or_make();
  SpanBuffer& own = *made;
  known.add(number_, std::move(made));
  return own;
}

TraceId Tracer::new_trace() noexcept {
  Random& random = own().random;
  TraceId id{random.next(), random.next()};
  if (!id.is_valid()) id.low = 1;
  return id;
}

SpanId Tracer::new_span() noexcept {
  const std::uint64_t value = own().random.next();
  return {value != 0 ? value : 1};
}

SpanRecord* Tracer::take() noexcept {
  SpanRecord* const record = own().take();
  if (record == nullptr) [[unlikely]]
    count(Drop::buffer_full);
  return record;
}

void Tracer::put_ready(SpanRecord& record) noexcept {
  if (record.cut_texts() != 0) [[unlikely]]
    cut_texts_.fetch_add(record.cut_texts(), std::memory_order_relaxed);
  const std::uint32_t waiting = SpanBuffer::put_ready(record);
  if (waiting == (options_.spans_max + 1) / 2 && options_.on_filling) [[unlikely]]
    options_.on_filling();
  // seq_cst: the record is ready, or its reader has yet to drain().
  if (calls_at_next_span_.load(std::memory_order_seq_cst) &&
      calls_at_next_span_.exchange(false, std::memory_order_seq_cst)) [[unlikely]] {
    options_.on_filling();
  }
}

bool Tracer::call_at_next_span() noexcept {
  if (!options_.on_filling) return false;
  calls_at_next_span_.store(true, std::memory_order_seq_cst);
  return true;
}

std::size_t Tracer::drain(const std::function<void(const SpanRecord&)>& f) {
  std::vector<std::shared_ptr<SpanBuffer>> buffers;
  {
    const std::lock_guard lock(mutex_);
    buffers = buffers_;
  }
  std::size_t count = 0;
  for (const auto& each : buffers) count += each->drain(f);
  drained_.fetch_add(count, std::memory_order_relaxed);
  return count;
}

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
