#include "katana/observe/log/log.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "katana/base/system/futex.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"
#include "katana/observe/log/live_logs.hpp"
#include "katana/observe/log/writer.hpp"

namespace katana::log {

namespace {

constexpr std::size_t loggers_max = 1024;
constexpr std::uint64_t ring_bytes_min = 64 * 1024;
constexpr std::uint64_t ring_bytes_max = 1u << 30;
constexpr std::uint32_t threads_limit = 16 * 1024;
constexpr int short_sleeps_after_burst = 16;
// Looks of a writer that dozes, after which no record is in progress that did not see the doze.
constexpr int doze_looks_max = 3;
constexpr Duration until_woken{INT64_MAX};
constexpr Duration crash_wait_max = seconds(2);

Result<void> check(const Options& options) {
  const auto wrong = [](std::string what) { return fail(Code::invalid_argument, std::move(what)); };
  if (!std::has_single_bit(options.ring_bytes) || options.ring_bytes < ring_bytes_min ||
      options.ring_bytes > ring_bytes_max) {
    return wrong(fmt::format("log: ring_bytes is {}: use a power of two from {} to {}",
                             options.ring_bytes, ring_bytes_min, ring_bytes_max));
  }
  if (options.threads_max == 0 || options.threads_max > threads_limit) {
    return wrong(
        fmt::format("log: threads_max is {}: use 1 to {}", options.threads_max, threads_limit));
  }
  if (options.poll_interval <= Duration{} || options.poll_interval_max < options.poll_interval) {
    return wrong("log: poll_interval must be positive, and poll_interval_max not less");
  }
  if (options.doze_interval < options.poll_interval_max || options.doze_after < 0) {
    return wrong(
        "log: doze_interval must not be less than poll_interval_max, nor doze_after than 0");
  }
  for (const SinkOptions& sink : options.sinks) {
    if (sink.output == nullptr) return wrong("log: a sink has no output: use console() or file()");
    if (sink.queue_bytes_max < sink.buffer_bytes) {
      return wrong(
          fmt::format("log: queue_bytes_max of {} is {}: use no less than buffer_bytes, {}",
                      sink.output->name(), sink.queue_bytes_max, sink.buffer_bytes));
    }
  }
  return {};
}

// Levels by name, and the level of all other loggers.
class Levels {
 public:
  explicit Levels(Level others) : others_(others) {}
  Level of(Bytes name) const {
    for (const auto& [known, level] : named_) {
      if (known == name) return level;
    }
    return others_;
  }
  // These levels, changed by `text`. A level for all others ends those by name that it lacks.
  Result<Levels> with(Bytes text) const {
    Levels levels = *this;
    levels.named_.clear();
    bool is_for_all = false;
    while (!text.empty()) {
      const Bytes part = text.substr(0, text.find(','));
      text.remove_prefix(std::min(part.size() + 1, text.size()));
      const std::size_t equals = part.find('=');
      const auto level = parse_level(part.substr(equals == Bytes::npos ? 0 : equals + 1));
      if (!level) return std::unexpected(level.error());
      if (equals == Bytes::npos) {
        levels.others_ = *level;
        is_for_all = true;
      } else {
        levels.set(part.substr(0, equals), *level);
      }
    }
    if (is_for_all) return levels;
    Levels kept = *this;
    for (const auto& [name, level] : levels.named_) kept.set(name, level);
    return kept;
  }

 private:
  void set(Bytes name, Level level) {
    for (auto& [known, its_level] : named_) {
      if (known == name) {
        its_level = level;
        return;
      }
    }
    named_.emplace_back(name, level);
  }
  Level others_;
  std::vector<std::pair<std::string, Level>> named_;
};

// With WhenFull::block the sinks may wait for outputs as well.
std::vector<SinkOptions> sinks_of(const Options& options) {
  std::vector<SinkOptions> sinks = options.sinks;
  for (SinkOptions& sink : sinks) {
    if (options.when_full == WhenFull::block) sink.when_slow = WhenSlow::wait;
  }
  return sinks;
}

class LogCore final : public Log, private Channel, private LiveLog {
 public:
  LogCore(Options options, const LogPlace& place, RingSet& rings);
  ~LogCore() override;
  LogCore(const LogCore&) = delete;
  LogCore& operator=(const LogCore&) = delete;

  // Held by the place in the table of Logs, whose address is needed before the Log exists.
  struct Placeholder final : LiveLog {
    void flush_at_exit() noexcept override {}
    void flush_in_crash(int) noexcept override {}
  };

  Logger logger(std::string name) override;
  Result<void> set_levels(Bytes levels) override { return change_levels(levels, nullptr); }
  Result<void> reset_levels(Bytes levels) override;
  using Log::flush;
  void flush(Duration wait_max) noexcept override;
  void reopen() noexcept override;
  void stop() noexcept override;
  Counts counts() const noexcept override;
  Result<void> health() const override;
  std::uint64_t memory_bytes_max() const noexcept override;

 private:
  void write_now() noexcept override;
  void wake_writer() noexcept override;
  void flush_at_exit() noexcept override { flush(); }
  void flush_in_crash(int signal) noexcept override;

  // Changes `base`, or the present levels.
  Result<void> change_levels(Bytes levels, const Levels* base);
  Writer::MakeRunner make_runner();
  void run() noexcept;
  void pass_all() noexcept;
  void finish() noexcept;
  void count() noexcept;
  Duration turn(Duration interval) noexcept;
  void serve_requests() noexcept;
  void begin_flush() noexcept;
  Duration rest(Duration interval, Instant now) noexcept;
  Duration longer(Duration interval) const noexcept;
  void sleep(Duration interval) noexcept;

  Options options_;  // without its outputs, which belong to the runners
  const std::size_t index_;
  Writer writer_;
  mutable std::mutex trouble_mutex_;  // guards data for other threads
  std::string told_trouble_;
  std::mutex names_;  // guards loggers_, their names and levels_
  std::deque<LoggerState> loggers_;
  std::deque<std::string> logger_names_;
  Levels levels_;

  std::mutex writing_;  // Mode::synchronous: its holder is the writer
  std::thread thread_;
  std::atomic<pid_t> writer_id_{0};
  FutexWord sleeping_{0};
  std::atomic<std::uint32_t> flushes_wanted_{0};
  FutexWord flushes_done_{0};
  std::atomic<bool> output_moved_{false};
  std::uint32_t flush_begun_ =
      0;  // of those wanted: it is written, and outputs have yet to take it
  Instant flush_until_ = {};
  std::atomic<bool> reopen_wanted_{false};
  std::atomic<bool> stop_wanted_{false};
  std::atomic<int> crash_signal_{0};
  bool crash_noted_ = false;
  int short_sleeps_ = 0;  // number left
  int idle_looks_ = 0;
  int doze_looks_ = 0;  // without a record, each in time
  Instant looked_at_ = {};
  std::atomic<std::uint64_t> records_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> dropped_by_outputs_{0};
  bool stopped_ = false;
};

LogCore::LogCore(Options options, const LogPlace& place, RingSet& rings)
    : Channel(ChannelOptions{place.index, place.generation, options.when_full, options.block_max,
                             options.mode == Mode::synchronous},
              rings),
      options_(std::move(options)),
      index_(place.index),
      writer_(rings, sinks_of(options_), options_.report, ticks::TickScale(), make_runner()),
      levels_(options_.level) {
  for (SinkOptions& sink : options_.sinks) sink.output.reset();
  live_logs()[index_].store(this, std::memory_order_release);
  if (options_.mode == Mode::synchronous) return;
  // The writer takes no signal that is meant for the program, and no SIGPIPE of a sink that is a
  // pipe. It must receive the signal of its own crash.
  thread_ = quiet_thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "katana-log");
}

LogCore::~LogCore() {
  stop();
  remove_live_log(index_);
  rings().remove_user();
}

Logger LogCore::logger(std::string name) {
  const std::scoped_lock lock(names_);
  for (LoggerState& known : loggers_) {
    if (known.name == name) return Logger(known);
  }
  KATANA_REQUIRE(loggers_.size() < loggers_max);
  LoggerState& added = loggers_.emplace_back();
  added.name = logger_names_.emplace_back(std::move(name));
  added.channel = this;
  added.level = levels_.of(added.name);
  return Logger(added);
}

Result<void> LogCore::reset_levels(Bytes levels) {
  const Levels base(options_.level);
  return change_levels(levels, &base);
}

Result<void> LogCore::change_levels(Bytes levels, const Levels* base) {
  const std::scoped_lock lock(names_);
  auto changed = (base != nullptr ? *base : levels_).with(levels);
  if (!changed) return std::unexpected(changed.error().within("log: levels are not changed"));
  levels_ = *std::move(changed);
  for (LoggerState& known : loggers_) {
    known.level.store(levels_.of(known.name), std::memory_order_relaxed);
  }
  return {};
}

void LogCore::run() noexcept {
  writer_id_.store(gettid(), std::memory_order_relaxed);
  Duration interval = options_.poll_interval;
  // acquire: the last pass sees all records that were committed before stop().
  while (!stop_wanted_.load(std::memory_order_acquire)) {
    interval = turn(interval);
    if (interval > Duration{}) sleep(interval);
  }
  serve_requests();
  pass_all();
  finish();
}

// An output that hangs holds up neither the writer nor the end.
Writer::MakeRunner LogCore::make_runner() {
  return [this](const SinkOptions& sink) -> std::unique_ptr<OutputRunner> {
    if (!sink.output->may_block()) return nullptr;
    return thread_runner(sink.output, sink.layout, [this] {
      output_moved_.store(true, std::memory_order_seq_cst);
      wake_writer();
    });
  };
}

// Outputs get the present records while they make progress. Notes about outputs that have not taken
// theirs then go to the others.
void LogCore::finish() noexcept {
  writer_.mark();
  const Instant begin = monotonic_now();
  const Instant end = writer_.await_outputs(begin, begin + options_.end_max);
  writer_.note_unwritten();
  if (writer_.pass(Writer::everything, end) > 0) {
    writer_.push(end);
    writer_.mark();
    writer_.await_outputs(end, end + milliseconds(100));
  }
  writer_.abandon();
  count();
}

void LogCore::count() noexcept {
  records_.store(writer_.records(), std::memory_order_relaxed);
  lost_.store(writer_.lost(), std::memory_order_relaxed);
  dropped_by_outputs_.store(writer_.dropped_by_outputs(), std::memory_order_relaxed);
  std::string trouble = writer_.trouble();
  if (trouble == told_trouble_) return;
  const std::lock_guard lock(trouble_mutex_);
  told_trouble_ = std::move(trouble);
}

Result<void> LogCore::health() const {
  const std::lock_guard lock(trouble_mutex_);
  if (told_trouble_.empty()) return {};
  return fail(Code::unavailable, told_trouble_);
}

// Runs one pass. Returns the time to sleep afterwards; zero while there is much to do.
Duration LogCore::turn(Duration interval) noexcept {
  serve_requests();
  writer_.scale().follow();
  const Instant time = monotonic_now();
  writer_.note_drops(*this);
  const std::uint64_t grace =
      writer_.is_pressed() ? 0 : writer_.scale().ticks_in(options_.order_grace.ns);
  const std::uint64_t bytes = writer_.pass(ticks::now() - grace, time);
  writer_.push(time);
  count();
  if (bytes >= options_.ring_bytes / 4) {
    // The burst may only have paused because its thread waits for room; with WhenFull::drop it
    // never does.
    short_sleeps_ = options_.when_full == WhenFull::block ? short_sleeps_after_burst : 0;
    return {};
  }
  if (short_sleeps_ > 0) {
    --short_sleeps_;
    return Duration{options_.poll_interval.ns / 16};
  }
  if (bytes == 0) return rest(interval, time);
  idle_looks_ = 0;
  return bytes < options_.ring_bytes / 64 ? longer(interval) : options_.poll_interval;
}

// The interval that follows this one while there is little to do.
Duration LogCore::longer(Duration interval) const noexcept {
  // A record ended the doze. It is younger than order_grace.
  if (interval > options_.poll_interval_max) return options_.poll_interval;
  return std::min(Duration{std::max(interval.ns, options_.poll_interval.ns) * 2},
                  options_.poll_interval_max);
}

// Returns the time to sleep after a pass without records.
Duration LogCore::rest(Duration interval, Instant now) noexcept {
  if (dozes()) {
    // A look that comes late says nothing of other threads: the process may have been stopped.
    const bool on_time = now - looked_at_ < 2 * options_.doze_interval;
    doze_looks_ = on_time ? doze_looks_ + 1 : 0;
    looked_at_ = now;
    const bool is_over = doze_looks_ > doze_looks_max && writer_.is_at_rest();
    return is_over ? until_woken : options_.doze_interval;
  }
  if (++idle_looks_ > options_.doze_after) {
    idle_looks_ = doze_looks_ = 0;
    looked_at_ = now;
    doze();
    return options_.poll_interval_max;
  }
  return longer(interval);
}

// Writes all present records, and the log's own notes.
void LogCore::pass_all() noexcept {
  writer_.note_drops(*this);
  const int signal = crash_signal_.load(std::memory_order_relaxed);
  if (signal != 0 && !std::exchange(crash_noted_, true)) writer_.note_crash(signal);
  const Instant time = monotonic_now();
  writer_.pass(Writer::everything, time);
  writer_.push(time);
  if (writer_.pass(Writer::everything, time) > 0) writer_.push(time);  // notes of recoveries
  count();
}

// A flush is done when the outputs have the records of its start; the writer goes on meanwhile.
void LogCore::serve_requests() noexcept {
  if (reopen_wanted_.exchange(false, std::memory_order_relaxed)) writer_.reopen(monotonic_now());
  while (flushes_wanted_.load(std::memory_order_acquire) !=
         flushes_done_.load(std::memory_order_relaxed)) {
    if (flush_begun_ == flushes_done_.load(std::memory_order_relaxed)) begin_flush();
    if (!writer_.is_settled() && monotonic_now() < flush_until_) return writer_.tell_next();
    // release: the waiting thread sees the written records.
    flushes_done_.store(flush_begun_, std::memory_order_release);
    futex_wake(&flushes_done_, INT32_MAX);
  }
}

void LogCore::begin_flush() noexcept {
  flush_begun_ = flushes_wanted_.load(std::memory_order_acquire);
  pass_all();
  writer_.mark();
  flush_until_ = monotonic_now() + options_.end_max;
}

void LogCore::sleep(Duration interval) noexcept {
  sleeping_.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // as in wake_writer(), for dozes()
  // After that store, a thread that asks for a flush, moves an output or ends the doze sees the
  // sleeper and wakes it.
  const bool asked = flushes_wanted_.load(std::memory_order_seq_cst) != flush_begun_ ||
                     stop_wanted_.load(std::memory_order_seq_cst) ||
                     output_moved_.exchange(false, std::memory_order_seq_cst) ||
                     (interval == until_woken && !dozes());
  if (!asked) futex_wait(sleeping_, 1, interval == until_woken ? Duration{-1} : interval);
  sleeping_.store(0, std::memory_order_relaxed);
}

void LogCore::wake_writer() noexcept {
  // The caller's writes are before the exchange: the writer sees them, or is seen asleep.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleeping_.exchange(0, std::memory_order_seq_cst) == 1) futex_wake(&sleeping_, INT32_MAX);
}

void LogCore::write_now() noexcept {
  std::unique_lock lock(writing_, std::try_to_lock);
  if (!lock.owns_lock()) {
    // A user's output that logs: the thread that has the lock may wait for it.
    if (is_output_thread()) return;
    lock.lock();
  }
  if (reopen_wanted_.exchange(false, std::memory_order_relaxed)) writer_.reopen(monotonic_now());
  writer_.scale().follow();
  pass_all();
  if (is_output_thread()) return;  // for the same reason
  writer_.mark();
  const Instant begin = monotonic_now();
  writer_.await_outputs(begin, begin + options_.end_max);
  count();
}

void LogCore::flush(Duration wait_max) noexcept {
  if (synchronous()) return write_now();
  // A user's output that flushes.
  if (writer_id_.load(std::memory_order_relaxed) == gettid() || is_output_thread()) return;
  const Instant end = monotonic_now() + std::min(wait_max, options_.end_max);
  const std::uint32_t wanted = flushes_wanted_.fetch_add(1, std::memory_order_seq_cst) + 1;
  wake_writer();
  while (true) {
    const std::uint32_t done = flushes_done_.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(done - wanted) >= 0) return;
    if (stop_wanted_.load(std::memory_order_relaxed)) return;  // stop() writes it
    const Duration left = end - monotonic_now();
    if (left <= Duration{}) return;
    futex_wait(flushes_done_, done, std::min(left, milliseconds(100)));
  }
}

void LogCore::reopen() noexcept {
  reopen_wanted_.store(true, std::memory_order_relaxed);
  flush();
}

void LogCore::stop() noexcept {
  if (std::exchange(stopped_, true)) return;
  set_stopped();
  if (synchronous()) {
    write_now();
    const std::scoped_lock lock(writing_);
    return finish();
  }
  stop_wanted_.store(true, std::memory_order_seq_cst);
  wake_writer();
  thread_.join();
}

// Runs in a signal handler: atomics, futexes and one write, nothing else.
void LogCore::flush_in_crash(int signal) noexcept {
  int none = 0;
  crash_signal_.compare_exchange_strong(none, signal);
  const pid_t thread = gettid();
  if (synchronous()) return;  // all earlier records are written, except this thread's last one
  if (writer_id_.load(std::memory_order_relaxed) == thread) {
    constexpr Bytes line = "katana log: the writer crashed; what it had not written is lost\n";
    report_to_standard_error(line);
    return;
  }
  const std::uint32_t wanted = flushes_wanted_.fetch_add(1, std::memory_order_seq_cst) + 1;
  wake_writer();
  constexpr Duration step = milliseconds(20);
  for (Duration waited; waited < crash_wait_max; waited.ns += step.ns) {
    const std::uint32_t done = flushes_done_.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(done - wanted) >= 0) return;
    futex_wait(flushes_done_, done, step);
  }
}

Counts LogCore::counts() const noexcept {
  Counts counts;
  counts.records = records_.load(std::memory_order_relaxed);
  counts.lost = lost_.load(std::memory_order_relaxed);
  counts.dropped_by_outputs = dropped_by_outputs_.load(std::memory_order_relaxed);
  counts.dropped = dropped_without_ring();
  std::uint64_t most = 0;
  for (const Ring& ring : const_cast<LogCore*>(this)->rings().rings()) {
    counts.dropped += ring.dropped();
    counts.dropped_warnings += ring.dropped_warnings();
    const std::uint64_t waiting = ring.waiting();
    counts.waiting_bytes += waiting;
    most = std::max(most, waiting);
  }
  counts.fullest_ring = static_cast<double>(most) / static_cast<double>(options_.ring_bytes);
  counts.refused = refused_when_stopped();
  return counts;
}

std::uint64_t LogCore::memory_bytes_max() const noexcept {
  std::uint64_t bytes = options_.threads_max * (options_.ring_bytes + sizeof(Ring));
  for (const SinkOptions& sink : options_.sinks) {
    bytes += sink.queue_bytes_max + 2 * (sink.buffer_bytes + 2 * text_bytes_max);
  }
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Log>> Log::start(Options options) {
  if (auto right = check(options); !right) return std::unexpected(right.error());
  if (auto prepared = prepare_thread_ends(); !prepared) return std::unexpected(prepared.error());
  static LogCore::Placeholder placeholder;
  const std::optional<LogPlace> place = add_live_log(placeholder);
  if (!place) {
    return fail(Code::resource_exhausted,
                fmt::format("log: this process has {} logs already: stop one of them", logs_max));
  }
  auto rings = RingSet::make(options.threads_max, options.ring_bytes);
  if (!rings) {
    remove_live_log(place->index);
    return std::unexpected(rings.error());
  }
  try {
    return std::make_unique<LogCore>(std::move(options), *place, **rings);
  } catch (const std::exception& error) {
    remove_live_log(place->index);
    (*rings)->remove_user();
    return fail(Code::resource_exhausted,
                fmt::format("log: the writer cannot be started: {}", error.what()));
  }
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
