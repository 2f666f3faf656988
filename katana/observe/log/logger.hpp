// Logger: a name with a threshold, and the calls that make records.
//
//   logger.info("request done in {} ms", ms, field("status", 200));
//
// The compiler checks the pattern. The arguments are copied, as they are, into the calling thread's
// ring; the Log's writer formats them. Fields come after the arguments of the pattern.
// Borrows    the Log that made it. A Logger that no Log made discards everything.
// Thread     any. Not from a signal handler.
// Allocates  never: no lock, no formatting, no system call either, with four exceptions. The first
//            record of a thread takes a ring. A ring that is more than half full wakes the writer,
//            once. A full ring may block under WhenFull::block. A synchronous Log writes.
// Fails      false: the record was below the threshold, suppressed, or dropped. Dropped records
//            are counted, and the log says so.
#pragma once

#include <new>
#include <string>
#include <utility>

#include "katana/observe/log/channel.hpp"
#include "katana/observe/log/context.hpp"
#include "katana/observe/log/logger_handle.hpp"
#include "katana/observe/log/pattern.hpp"
#include "katana/observe/log/rate_limit.hpp"
#include "katana/observe/log/record.hpp"
#include "katana/observe/log/ticks.hpp"

namespace katana::log {

namespace detail {

template <class T>
inline char* put_name(char* at, const T&) noexcept {
  return at;
}
template <class T>
inline char* put_name(char* at, const Field<T>& one) noexcept {
  std::memcpy(at, &one.name, sizeof one.name);
  return at + sizeof one.name;
}

struct Call {
  Level level;
  const char* pattern;
  std::source_location where;
  const Context* context;
  std::uint64_t ticks;
};

inline std::size_t context_bytes(const Call& call) noexcept {
  return call.context != nullptr ? call.context->bytes().size() : 0;
}

struct RecordSize {
  std::size_t exact;
  constexpr std::size_t padded() const noexcept {
    return (exact + record_alignment - 1) & ~(record_alignment - 1);
  }
};

template <class... Captured>
inline RecordSize record_size(const Call& call, const Shape& shape,
                              const Captured&... captured) noexcept {
  return {sizeof(RecordHead) + shape.field_count * sizeof(const char*) +
          (captured_bytes(captured) + ... + 0) + context_bytes(call)};
}

// `names` writes the names of the fields; the captured arguments follow.
template <class Names, class... Captured>
inline void put_record(char* capacity, RecordSize size, const LoggerState& logger, const Call& call,
                       const Shape& shape, const Names& names,
                       const Captured&... captured) noexcept {
  // Constructed in place: a copy through the stack would wait for its narrow stores.
  ::new (capacity) RecordHead{
      {static_cast<std::uint32_t>(size.padded()), static_cast<std::uint16_t>(context_bytes(call)),
       call.level, static_cast<std::uint8_t>(size.padded() - size.exact)},
      call.ticks,
      call.pattern,
      &shape,
      call.where,
      &logger};
  char* at = names(capacity + sizeof(RecordHead));
  ((at = put(at, captured)), ...);
  if (call.context != nullptr) {
    std::memcpy(at, call.context->bytes().data(), context_bytes(call));
  }
}

}  // namespace detail

class Logger : public LoggerHandle {
 public:
  Logger() noexcept = default;
  explicit Logger(LoggerState& state) noexcept : LoggerHandle(state) {}
  Logger(LoggerHandle handle) noexcept : LoggerHandle(handle) {}

  Bytes name() const noexcept { return state_->name; }  // empty for a logger that discards
  // Records below it are discarded.
  Level level() const noexcept { return state_->level.load(std::memory_order_relaxed); }
  // Takes effect at once, for every handle of this name. A discarding logger stays one.
  void set_level(Level level) noexcept {
    if (state_->channel != nullptr) state_->level.store(level, std::memory_order_relaxed);
  }
  bool enabled(Level level) const noexcept { return level >= this->level(); }

#define KATANA_LOG_LEVEL(name)                                                               \
  template <class... A>                                                                      \
  bool name(Pattern<A...> pattern, const A&... arguments) const noexcept {                   \
    return write(Level::name, pattern, arguments...);                                        \
  }                                                                                          \
  template <class... A>                                                                      \
  bool name(RateLimit& limit, Pattern<A...> pattern, const A&... arguments) const noexcept { \
    return write_limited(Level::name, limit, pattern, arguments...);                         \
  }
  // Each makes a record of its level; false: it was discarded, suppressed or dropped. With a
  // RateLimit (KATANA_AT_MOST) only so many records of the call site are written.
  KATANA_LOG_LEVEL(trace)
  KATANA_LOG_LEVEL(debug)
  KATANA_LOG_LEVEL(info)
  KATANA_LOG_LEVEL(warn)
  KATANA_LOG_LEVEL(error)
  KATANA_LOG_LEVEL(fatal)
#undef KATANA_LOG_LEVEL

  // Like the functions above, with the level as a value.
  template <class... A>
  bool write(Level level, Pattern<A...> pattern, const A&... arguments) const noexcept {
    if (!enabled(level)) return false;
    return record({level, pattern.text(), pattern.where(), current_context(), ticks::now()},
                  arguments...);
  }
  // With a time from the caller: for records of the past, and for tests.
  template <class... A>
  bool write_at(std::uint64_t at_ticks, Level level, Pattern<A...> pattern,
                const A&... arguments) const noexcept {
    if (!enabled(level)) return false;
    return record({level, pattern.text(), pattern.where(), current_context(), at_ticks},
                  arguments...);
  }

 private:
  template <class... A>
  bool write_limited(Level level, RateLimit& limit, Pattern<A...> pattern,
                     const A&... arguments) const noexcept;

  template <class... A>
  bool record(const detail::Call& call, const A&... arguments) const noexcept {
    static_assert(detail::fields_come_last<A...>(),
                  "fields come after the arguments of the pattern");
    static_assert(shape_of<A...>.slot_count <= slots_max,
                  "a record has too many values: log it in parts");
    return append(
        call, shape_of<A...>,
        [&](char* at) noexcept {
          ((at = detail::put_name(at, arguments)), ...);
          return at;
        },
        capture(arguments)...);
  }

  template <class Names, class... Captured>
  bool append(const detail::Call& call, const Shape& shape, const Names& names,
              const Captured&... captured) const noexcept {
    const detail::RecordSize size = detail::record_size(call, shape, captured...);
    Channel& channel = *state_->channel;
    Ring* const ring = channel.ring();
    char* const capacity = channel.reserve(ring, size.padded(), call.level);
    if (capacity == nullptr) [[unlikely]]
      return false;
    detail::put_record(capacity, size, *state_, call, shape, names, captured...);
    channel.commit(*ring, size.padded());
    return true;
  }
};

template <class... A>
bool Logger::write_limited(Level level, RateLimit& limit, Pattern<A...> pattern,
                           const A&... arguments) const noexcept {
  if (!enabled(level)) return false;
  const RateLimit::Verdict verdict = limit.ask(ticks::coarse_now());
  if (!verdict.pass) return false;
  detail::Call call = {level, pattern.text(), pattern.where(), current_context(), ticks::now()};
  if (verdict.suppressed == 0) return record(call, arguments...);
  const Context* const outer = current_context();
  Context context = outer != nullptr ? *outer : Context();
  context.add(field("suppressed", verdict.suppressed));
  call.context = &context;
  return record(call, arguments...);
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
