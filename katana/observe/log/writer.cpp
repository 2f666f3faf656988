#include "katana/observe/log/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace katana::log {

namespace {

constexpr std::uint64_t note_ring_bytes = 64 * 1024;
constexpr std::uint64_t release_bytes = 8 * 1024;  // a blocked thread gets room after so many

}  // namespace

Writer::Writer(RingSet& rings, std::vector<SinkOptions> sinks, const Report& report,
               ticks::TickScale scale, const MakeRunner& make_runner)
    : rings_(rings), scale_(scale), note_memory_(std::make_unique<char[]>(note_ring_bytes)) {
  for (SinkOptions& options : sinks) {
    auto runner = make_runner ? make_runner(options) : nullptr;
    sinks_.push_back(std::make_unique<Sink>(std::move(options), report, std::move(runner)));
    decodes_ = decodes_ || !sinks_.back()->is_binary();
  }
  sources_.reserve(rings.rings().size() + 1);
  notes_.set_memory(note_memory_.get(), note_ring_bytes);
  note_logger_.name = "log";
}

void Writer::gather() {
  sources_.clear();
  for (Ring& ring : rings_.rings()) {
    // acquire: a ring that is closed has all of its records.
    const Ring::State state = ring.state.load(std::memory_order_acquire);
    if (state == Ring::State::free) continue;
    sources_.push_back({&ring, ring.published(), state == Ring::State::closed});
  }
  sources_.push_back({&notes_, notes_.published(), false});
}

// False: no record of this pass is left.
bool Writer::skip_padding(Source& source) noexcept {
  Ring& ring = *source.ring;
  while (ring.read_position() < source.end && ring.front().prefix.padding == only_padding) {
    ring.pop(ring.front().prefix.bytes);
  }
  return ring.read_position() < source.end;
}

std::uint64_t Writer::pass(std::uint64_t horizon_ticks, Instant now) {
  gather();
  std::uint64_t before = 0, after = 0;
  for (const Source& source : sources_) before += source.ring->read_position();
  while (true) {
    Source* first = nullptr;
    std::uint64_t first_ticks = UINT64_MAX, second_ticks = UINT64_MAX;
    for (Source& source : sources_) {
      if (!skip_padding(source)) continue;
      const std::uint64_t ticks = source.ring->front().ticks;
      if (first == nullptr || ticks < first_ticks) {
        second_ticks = first_ticks;
        first_ticks = ticks;
        first = &source;
      } else {
        second_ticks = std::min(second_ticks, ticks);
      }
    }
    if (first == nullptr || first_ticks > horizon_ticks) break;
    // Takes all its records before the next ring's first: mostly one ring has a long run.
    drain_run(*first, std::min(second_ticks, horizon_ticks), now);
  }
  for (const Source& source : sources_) after += source.ring->read_position();
  give_back_rings();
  note_troubles();
  return after - before;
}

void Writer::drain_run(Source& source, std::uint64_t horizon_ticks, Instant now) {
  Ring& ring = *source.ring;
  std::uint64_t unreleased = 0;
  while (skip_padding(source) && ring.front().ticks <= horizon_ticks) {
    const std::uint64_t bytes = ring.front().prefix.bytes;
    write(ring, now);
    ring.pop(bytes);
    unreleased += bytes;
    if (unreleased >= release_bytes) {
      ring.release();
      unreleased = 0;
    }
  }
  ring.release();
}

void Writer::write(const Ring& ring, Instant now) {
  const RecordHead& head = ring.front();
  const char* const record = reinterpret_cast<const char*>(&head);
  // The next record is in the producer's cache: it is fetched while this one is formatted.
  for (std::size_t line = 8; line < 10; ++line) {
    __builtin_prefetch(record + line * cache_line_bytes);
  }
  const std::size_t names_bytes = head.shape->field_count * sizeof(const char*);
  const Bytes names(record + sizeof head, names_bytes);
  const Bytes arguments(names.data() + names_bytes, head.prefix.bytes - sizeof head - names_bytes -
                                                        head.prefix.context_bytes -
                                                        head.prefix.padding);
  Entry entry;
  entry.site = &sites_.site(head, names);
  entry.wall_ns = scale_.wall_ns(head.ticks);
  entry.thread_id = ring.thread_id.load(std::memory_order_relaxed);
  entry.raw_arguments = arguments;
  entry.raw_context = {arguments.data() + arguments.size(), head.prefix.context_bytes};
  if (decodes_) {
    KATANA_CHECK(decoder_.decode(entry, arguments));
    if (!entry.raw_context.empty()) add_context(entry, entry.raw_context);
  }
  ++records_;
  Bytes text;
  for (const auto& sink : sinks_) sink->write(entry, now, text);
}

void Writer::add_context(Entry& entry, Bytes context) noexcept {
  while (!context.empty()) {
    const char* name = nullptr;
    std::memcpy(&name, context.data(), sizeof name);
    const auto kind = static_cast<Kind>(context[sizeof name]);
    context.remove_prefix(sizeof name + 1);
    std::optional<Value> value = Decoder::take(kind, context);
    KATANA_CHECK(value.has_value());
    value->name = name;
    if (!decoder_.add_field(entry, *value)) return;
  }
}

// Frees the rings of threads that had ended before this pass and that it has emptied.
void Writer::give_back_rings() {
  for (Source& source : sources_) {
    Ring& ring = *source.ring;
    if (!source.closed || ring.read_position() != source.end) continue;
    // release: pairs with RingSet::take(), whose thread continues at this position.
    ring.state.store(Ring::State::free, std::memory_order_release);
  }
}

bool Writer::is_pressed() const noexcept {
  return std::ranges::any_of(rings_.rings(), [](const Ring& ring) {
    return ring.published() - ring.read_position() > ring.capacity() / 2;
  });
}

void Writer::push(Instant now) {
  for (const auto& sink : sinks_) sink->push(now);
}

void Writer::reopen(Instant now) {
  for (const auto& sink : sinks_) sink->reopen(now);
}

void Writer::mark() noexcept {
  for (const auto& sink : sinks_) sink->mark();
}

bool Writer::is_settled() const noexcept {
  return std::ranges::all_of(sinks_, [](const auto& sink) { return sink->is_settled(); });
}

bool Writer::is_at_rest() const noexcept {
  const auto is_read = [](const Ring& ring) { return ring.published() == ring.read_position(); };
  if (!is_read(notes_) || !std::ranges::all_of(rings_.rings(), is_read)) return false;
  return std::ranges::all_of(sinks_, [](const auto& sink) { return sink->is_at_rest(); });
}

void Writer::abandon() noexcept {
  for (const auto& sink : sinks_) sink->abandon();
}

Instant Writer::await_outputs(Instant now, Instant until) {
  // In short steps: a stalled output then does not keep the next one from getting its rest.
  constexpr Duration step = milliseconds(10);
  while (!is_settled() && now < until) {
    for (const auto& sink : sinks_) {
      if (!sink->is_settled()) now = sink->wait(now, std::min(step, until - now));
    }
  }
  return now;
}

void Writer::tell_next() noexcept {
  for (const auto& sink : sinks_) sink->tell_next();
}

std::uint64_t Writer::lost() const noexcept {
  std::uint64_t lost = 0;
  for (const auto& sink : sinks_) lost += sink->lost();
  return lost;
}

std::string Writer::trouble() const {
  for (const auto& sink : sinks_) {
    if (!sink->trouble().empty()) return fmt::format("{}: {}", sink->name(), sink->trouble());
  }
  return {};
}

std::uint64_t Writer::dropped_by_outputs() const noexcept {
  std::uint64_t dropped = 0;
  for (const auto& sink : sinks_) dropped += sink->dropped();
  return dropped;
}

template <class... A>
void Writer::note(Level level, Pattern<A...> pattern, const A&... arguments) {
  const detail::Call call = {level, pattern.text(), pattern.where(), nullptr, ticks::now()};
  const Shape& shape = shape_of<A...>;
  const detail::RecordSize size = detail::record_size(call, shape, capture(arguments)...);
  char* const capacity = notes_.reserve(size.padded(), level);
  if (capacity == nullptr) return;  // told with the next note: the counters go on
  detail::put_record(
      capacity, size, note_logger_, call, shape,
      [&](char* at) noexcept {
        ((at = detail::put_name(at, arguments)), ...);
        return at;
      },
      capture(arguments)...);
  notes_.commit(size.padded());
}

void Writer::note_troubles() {
  for (const auto& sink : sinks_) {
    if (const auto slowness = sink->take_slowness()) {
      note(Level::warn, "{} is slow: {}", Bytes(slowness->sink), Bytes(slowness->reason));
    }
    const auto recovery = sink->take_recovery();
    if (!recovery) continue;
    if (recovery->failed) {
      note(Level::warn, "{} can be written again", Bytes(recovery->sink),
           field("lost", recovery->lost), field("reason", recovery->reason));
    } else {
      note(Level::warn, "{} takes records again: {} were dropped", Bytes(recovery->sink),
           recovery->lost, field("reason", recovery->reason));
    }
  }
}

void Writer::note_unwritten() {
  for (const auto& sink : sinks_) {
    if (sink->waiting() == 0) continue;
    note(Level::warn, "{} records are not written to {}: it has not taken them in time",
         sink->waiting(), Bytes(sink->name()));
  }
}

void Writer::note_drops(const Channel& channel) {
  for (Ring& ring : rings_.rings()) {
    const std::uint64_t dropped = ring.dropped();
    if (dropped == ring.dropped_told) continue;
    note(Level::warn, "{} records were dropped: a ring was full", dropped - ring.dropped_told,
         field("dropped_by", ring.thread_id.load(std::memory_order_relaxed)));
    ring.dropped_told = dropped;
  }
  const std::uint64_t without_ring = channel.dropped_without_ring();
  if (without_ring == told_without_ring_) return;
  note(Level::warn, "{} records were dropped: more threads log than threads_max allows",
       without_ring - told_without_ring_);
  told_without_ring_ = without_ring;
}

void Writer::note_crash(int signal) { note(Level::fatal, "crashed by signal {}", signal); }

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
