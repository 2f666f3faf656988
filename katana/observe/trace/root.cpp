#include "katana/observe/trace/root.hpp"

#include <algorithm>
#include <cstring>

#include "katana/observe/trace/baggage.hpp"

namespace katana::trace {

void HeldSpans::add(Tracer& tracer, SpanRecord& record, std::uint32_t most) noexcept {
  if (count_.fetch_add(1, std::memory_order_relaxed) >= most) {
    tracer.count(Drop::held_full);
    return Tracer::give_back(record);
  }
  SpanRecord* first = list_.load(std::memory_order_relaxed);
  do {
    if (first == kept_mark()) return tracer.put_ready(record);
    if (first == dropped_mark()) return Tracer::give_back(record);
    record.next_ = first;
    // release: publishes the record to the thread that decides
  } while (!list_.compare_exchange_weak(first, &record, std::memory_order_release,
                                        std::memory_order_relaxed));
}

void HeldSpans::decide(Tracer& tracer, bool kept) noexcept {
  SpanRecord* held = list_.exchange(kept ? kept_mark() : dropped_mark(), std::memory_order_acquire);
  if (held == kept_mark() || held == dropped_mark()) return;
  SpanRecord* oldest = nullptr;
  while (held != nullptr) {
    SpanRecord* const next = held->next_;
    held->next_ = oldest;
    oldest = std::exchange(held, next);
  }
  while (oldest != nullptr) {
    SpanRecord* const next = oldest->next_;
    kept ? tracer.put_ready(*oldest) : Tracer::give_back(*oldest);
    oldest = next;
  }
}

Root::Root(Tracer& tracer, const RootOrigin& origin, Instant began) noexcept
    : tracer_(tracer), parent_(origin.parent), began_(began), baggage_(origin.baggage) {
  const SpanContext& parent = origin.parent;
  const Bytes state = origin.state;
  SpanContext& own = current_.context;
  current_.root = this;
  const bool has_parent = parent.is_valid();
  own.trace = has_parent ? parent.trace : tracer.new_trace();
  own.span = tracer.new_span();
  own.flags = has_parent ? parent.flags & flag_random : flag_random;
  if (tracer.options().sampler.samples(own.trace, has_parent ? &parent : nullptr)) {
    own.flags |= flag_sampled;
  } else {
    may_keep_ = tracer.may_keep_later();
  }
  state_size_ = static_cast<std::uint16_t>(std::min(state.size(), state_.size()));
  if (state_size_ > 0) std::memcpy(state_.data(), state.data(), state_size_);
}

RootRef Root::begin(Tracer& tracer, const RootOrigin& origin, Instant began) {
  return RootRef(new Root(tracer, origin, began));
}

// The keys live as long as the tracer, and so do its records.
void Root::add_baggage(SpanRecord& record) const noexcept {
  for (const std::string& key : tracer_.options().baggage) {
    if (const auto value = find_in_baggage(baggage(), key)) record.add(Key::of_kept(key), *value);
  }
}

bool Root::is_kept(const RootEnd& how, Instant now) const noexcept {
  if (is_sampled()) return true;
  const TracerOptions& options = tracer_.options();
  return (options.keep_failed && how.failed) ||
         (options.keep_slow > Duration{} && how.may_be_slow && now - began_ > options.keep_slow);
}

void Root::finish(SpanRecord& record) noexcept {
  if (is_sampled()) {
    tracer_.put_ready(record);
  } else {
    held_.add(tracer_, record, tracer_.options().held_max);
  }
}

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
