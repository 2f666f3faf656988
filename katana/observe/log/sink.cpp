#include "katana/observe/log/sink.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/system/printing.hpp"

namespace katana::log {

SinkOptions console() {
  SinkOptions options;
  options.output = std::make_shared<DescriptorOutput>(STDERR_FILENO, "standard error");
  // https://no-color.org
  const bool coloured = isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  options.layout = coloured ? LayoutKind::coloured_text : LayoutKind::text;
  options.when_slow = WhenSlow::drop;  // Ctrl-S stops the display and nothing else
  return options;
}

namespace {

SinkOptions file_of(std::string path, LayoutKind layout, Rotation rotation) {
  SinkOptions options;
  options.output = std::make_shared<FileOutput>(std::move(path));
  options.layout = layout;
  options.rotation = rotation;
  return options;
}

}  // namespace

SinkOptions file(std::string path, Rotation rotation) {
  return file_of(std::move(path), LayoutKind::text, rotation);
}
SinkOptions json_file(std::string path, Rotation rotation) {
  return file_of(std::move(path), LayoutKind::json, rotation);
}
SinkOptions binary_file(std::string path, Rotation rotation) {
  return file_of(std::move(path), LayoutKind::binary, rotation);
}

void report_to_standard_error(Bytes line) {
  // There is no other place to report its failure.
  print_without_waiting(STDERR_FILENO, line);
}

namespace {

constexpr std::size_t spare_max = 2;

std::unique_ptr<OutputRunner> runner_for(const SinkOptions& options,
                                         std::unique_ptr<OutputRunner> given) {
  KATANA_REQUIRE(options.output != nullptr);
  return given ? std::move(given) : inline_runner(options.output, options.layout);
}

}  // namespace

Sink::Sink(SinkOptions options, Report report, std::unique_ptr<OutputRunner> runner)
    : options_(std::move(options)),
      name_(options_.output ? options_.output->name() : ""),
      report_(std::move(report)),
      layout_(options_.own_layout ? options_.own_layout() : make_layout(options_.layout)),
      runner_(runner_for(options_, std::move(runner))) {
  options_.output.reset();  // closing a file may hang: the runner does it
  renew_buffer();
}

void Sink::tell(Bytes what) { report_(fmt::format("katana log: {}: {}\n", name_, what)); }

void Sink::renew_buffer() {
  if (spare_.empty()) {
    buffer_ = Buffer();
    buffer_.reserve(options_.buffer_bytes + 2 * text_bytes_max);
    return;
  }
  buffer_ = std::move(spare_.back());
  spare_.pop_back();
  buffer_.clear();
}

bool Sink::ready(Instant now) {
  if (state_ == State::closed && now >= retry_at_) open(now);
  return state_ != State::closed;
}

// The record that opens the output may be formatted before the result is known.
void Sink::open(Instant now) {
  state_ = State::opening;
  ++opening_;
  size_ = 0;
  period_ = -1;
  begun_anew_ = false;
  layout_->begin(buffer_);
  give({.kind = OutputJob::Kind::open}, now);
}

void Sink::add(const Entry& entry, Bytes& text) {
  const bool is_plain = options_.layout == LayoutKind::text && !options_.own_layout;
  if (is_plain && !text.empty()) return append(buffer_, text);
  const std::size_t before = buffer_.size();
  layout_->add(entry, buffer_);
  if (is_plain) text = {buffer_.data() + before, buffer_.size() - before};
}

void Sink::write(const Entry& entry, Instant now, Bytes& text) {
  if (entry.site->level < options_.level) return;
  if (ready(now) && wants_rotation(entry.wall_ns, now)) rotate(now);
  const bool is_kept = state_ != State::closed && make_capacity(entry, now);
  if (state_ == State::closed) {
    ++lost_, ++lost_in_failure_;
    return;
  }
  if (!is_kept) {
    ++dropped_, ++lost_in_failure_;
    return;
  }
  if (options_.rotation.period.ns > 0 && state_ == State::open) {
    period_ = entry.wall_ns / options_.rotation.period.ns;
  }
  if (buffered_records_ == 0) buffered_wall_ns_ = entry.wall_ns;
  add(entry, text);
  ++buffered_records_, ++accepted_;
  if (buffer_.size() >= options_.buffer_bytes) hand(now);
}

bool Sink::has_capacity(Level level) const noexcept {
  const std::uint64_t most = options_.queue_bytes_max;
  const std::uint64_t used = outstanding_bytes_ + buffer_.size();
  return level >= Level::warn ? used < most : !overflowing_ && used < most - most / 8;
}

bool Sink::make_capacity(const Entry& entry, Instant now) {
  const Level level = entry.site->level;
  if (has_capacity(level)) return true;
  if (outstanding_ == 0) hand(now);
  look(now);
  while (options_.when_slow == WhenSlow::wait && !overflowing_ && outstanding_ > 0 &&
         !has_capacity(level)) {
    find_stall(now);
    if (stalled_) break;
    now = runner_->wait(now, (moved_at_ + options_.stalled_after) - now);
    look(now);
  }
  if (has_capacity(level)) return true;
  if (!std::exchange(overflowing_, true)) note_slowness("it is slower than the log");
  return false;
}

// Gives the buffer to the output's jobs.
void Sink::hand(Instant now) {
  if (buffered_records_ == 0) return;
  size_ += buffer_.size();
  OutputJob job{.kind = OutputJob::Kind::write,
                .bytes = std::move(buffer_),
                .records = std::exchange(buffered_records_, 0)};
  renew_buffer();
  give(std::move(job), now);
}

void Sink::give(OutputJob job, Instant now) {
  if (outstanding_ == 0) moved_at_ = now;
  ++outstanding_;
  outstanding_bytes_ += job.bytes.size();
  job.opening = opening_;
  runner_->give(std::move(job));
  look(now);
}

void Sink::look(Instant now) {
  if (outstanding_ == 0) return;
  while (std::optional<OutputDone> done = runner_->take()) {
    --outstanding_;
    outstanding_bytes_ -= done->job.bytes.size();
    moved_at_ = now;
    stalled_ = false;
    const bool is_open = done->job.kind == OutputJob::Kind::open;
    if (outstanding_ == 0 && done->job.opening == opening_ && !is_open) size_ = done->size;
    on_done(*done, now);
    if (done->job.bytes.capacity() < options_.buffer_bytes) continue;
    // The youngest stays: its text may be read until the next record.
    if (spare_.size() == spare_max) spare_.erase(spare_.begin());
    spare_.push_back(std::move(done->job.bytes));
  }
  if (overflowing_) {
    const std::uint64_t used = outstanding_bytes_ + buffer_.size();
    if (used > options_.queue_bytes_max / 2) return;
    overflowing_ = false;
  } else if (outstanding_ > 0) {
    return;
  }
  if (!reason_.empty() && !failing_) recovered_ = true;
}

void Sink::on_done(OutputDone& done, Instant now) {
  const OutputJob& job = done.job;
  if (job.kind == OutputJob::Kind::open) {
    if (job.opening == opening_) on_opened(done, now);
    return;
  }
  if (job.kind == OutputJob::Kind::rotate) return on_rotated(done, now);
  settled_ += job.records;
  if (done.result) {
    written_ += job.records;
    if (failing_ && job.opening == opening_) recovered_ = true;
    return;
  }
  lost_ += job.records;
  lost_in_failure_ += job.records;
  // Ignored if the output was opened again since.
  if (job.opening == opening_) note_failure(done.result.error(), now);
}

void Sink::on_opened(const OutputDone& done, Instant now) {
  if (!done.result) return note_failure(done.result.error(), now);
  state_ = State::open;
  if (begun_anew_) return;
  size_ += done.size;
  const std::int64_t period_ns = options_.rotation.period.ns;
  period_ = period_ns > 0 && done.begun_wall_ns > 0 ? done.begun_wall_ns / period_ns : -1;
  if (buffered_records_ > 0 && outstanding_ == 0 && wants_rotation(buffered_wall_ns_, now)) {
    // The records belong to the next file, and have its beginning in front of them.
    size_ = 0;
    if (period_ns > 0) period_ = buffered_wall_ns_ / period_ns;
    give({.kind = OutputJob::Kind::rotate, .keep = options_.rotation.keep}, now);
  }
}

void Sink::on_rotated(const OutputDone& done, Instant now) {
  if (done.result) {
    rotation_failed_ = false;
    return;
  }
  if (!std::exchange(rotation_failed_, true)) {
    tell(fmt::format("not rotated: {}. The file goes on growing", done.result.error().describe()));
  }
  retry_at_ = now + options_.retry_after;
}

void Sink::push(Instant now) {
  look(now);
  if (state_ == State::closed && failing_) ready(now);  // for an idle sink to recover too
  // One small job at a time: while the output is busy they form a larger one.
  if (state_ == State::open && outstanding_ == 0) hand(now);
  find_stall(now);
  if (buffered_records_ > 0) tell_next();
}

Instant Sink::wait(Instant now, Duration wait_max) {
  push(now);
  if (is_settled() || outstanding_ == 0) return now;
  now = runner_->wait(now, wait_max);
  push(now);
  return now;
}

void Sink::find_stall(Instant now) {
  if (stalled_ || outstanding_ == 0 || now - moved_at_ < options_.stalled_after) return;
  stalled_ = true;
  note_slowness(fmt::format("it has taken nothing for {} ms", options_.stalled_after.count_ms()));
}

void Sink::note_slowness(std::string reason) {
  if (!reason_.empty()) return;
  reason_ = std::move(reason);
  slowness_untold_ = true;
  tell(fmt::format("{}. Records wait for it, and are dropped beyond {} bytes", reason_,
                   options_.queue_bytes_max));
}

// The output is opened again, as a new disk, directory or file requires.
void Sink::note_failure(const Error& error, Instant now) {
  lost_ += buffered_records_;
  lost_in_failure_ += buffered_records_;
  settled_ += std::exchange(buffered_records_, 0);
  buffer_.clear();
  state_ = State::closed;
  recovered_ = false;
  retry_at_ = now + options_.retry_after;
  if (std::exchange(failing_, true)) return;
  slowness_untold_ = false;
  reason_ = error.describe();
  tell(fmt::format("{}. Records are lost until it can be written; next attempt in {} ms", reason_,
                   options_.retry_after.count_ms()));
}

std::optional<Sink::Trouble> Sink::take_recovery() {
  if (!std::exchange(recovered_, false)) return std::nullopt;
  slowness_untold_ = false;
  return Trouble{name_, std::exchange(reason_, {}), std::exchange(lost_in_failure_, 0),
                 std::exchange(failing_, false)};
}

std::optional<Sink::Trouble> Sink::take_slowness() {
  if (!std::exchange(slowness_untold_, false)) return std::nullopt;
  return Trouble{name_, reason_, lost_in_failure_, false};
}

bool Sink::wants_rotation(std::int64_t wall_ns, Instant now) const noexcept {
  if (rotation_failed_ && now < retry_at_) return false;
  const Rotation& rotation = options_.rotation;
  if (rotation.bytes_max != 0 && size_ + buffer_.size() >= rotation.bytes_max) return true;
  return rotation.period.ns > 0 && period_ >= 0 && wall_ns / rotation.period.ns > period_;
}

void Sink::rotate(Instant now) {
  hand(now);
  if (state_ == State::closed) return;
  size_ = 0;
  begun_anew_ = true;
  buffer_.clear();
  layout_->begin(buffer_);
  give({.kind = OutputJob::Kind::rotate, .keep = options_.rotation.keep}, now);
}

void Sink::reopen(Instant now) {
  hand(now);
  retry_at_ = now;
  state_ = State::closed;
  buffer_.clear();
  ready(now);
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
