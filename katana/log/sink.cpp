#include "katana/log/sink.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "katana/base/check.hpp"

namespace katana::log {

SinkOptions console() {
  SinkOptions options;
  options.output = std::make_shared<DescriptorOutput>(STDERR_FILENO, "standard error");
  // https://no-color.org
  const bool coloured = isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  options.layout = coloured ? LayoutKind::coloured_text : LayoutKind::text;
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
  // Its failure can be told to nobody.
  [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, line.data(), line.size());
}

Sink::Sink(SinkOptions options, Report report)
    : options_(std::move(options)),
      report_(std::move(report)),
      layout_(make_layout(options_.layout)) {
  KATANA_REQUIRE(options_.output != nullptr);
  buffer_.reserve(options_.buffer_bytes + 2 * text_bytes_max);
}

void Sink::tell(Bytes what) {
  report_(fmt::format("katana log: {}: {}\n", options_.output->name(), what));
}

bool Sink::ready(Instant now) {
  if (open_) return true;
  if (now < retry_at_) return false;
  if (const auto opened = options_.output->open(*layout_); !opened) {
    lose(0, opened.error(), now);
    return false;
  }
  open_ = true;
  const std::int64_t begun_ns = options_.output->begun_wall_ns();
  period_ =
      options_.rotation.period.ns > 0 && begun_ns > 0 ? begun_ns / options_.rotation.period.ns : -1;
  layout_->begin(buffer_);
  return true;
}

void Sink::add(const Entry& entry, Bytes& text) {
  const bool is_plain = options_.layout == LayoutKind::text;
  if (is_plain && !text.empty()) return append(buffer_, text);
  const std::size_t before = buffer_.size();
  layout_->add(entry, buffer_);
  if (is_plain) text = {buffer_.data() + before, buffer_.size() - before};
}

void Sink::write(const Entry& entry, Instant now, Bytes& text) {
  if (entry.site->level < options_.level) return;
  if (!ready(now)) {
    ++lost_, ++lost_in_failure_;
    return;
  }
  if (wants_rotation(entry, now)) rotate(now);
  if (!open_) {
    ++lost_, ++lost_in_failure_;
    return;
  }
  if (options_.rotation.period.ns > 0) period_ = entry.wall_ns / options_.rotation.period.ns;
  add(entry, text);
  ++buffered_records_;
  if (buffer_.size() >= options_.buffer_bytes) push(now);
}

void Sink::push(Instant now) {
  if (!open_ && !reason_.empty()) ready(now);  // so that an idle sink recovers too
  if (buffered_records_ == 0 || !open_) return;
  const auto done = options_.output->write({buffer_.data(), buffer_.size()});
  buffer_.clear();
  const std::uint64_t records = std::exchange(buffered_records_, 0);
  if (!done) return lose(records, done.error(), now);
  written_ += records;
  recovered_ = !reason_.empty();
}

// The output is opened again: that is what a new disk, a new directory or a new file takes.
void Sink::lose(std::uint64_t records, const Error& error, Instant now) {
  lost_ += records;
  lost_in_failure_ += records;
  open_ = false;
  buffer_.clear();
  buffered_records_ = 0;
  recovered_ = false;
  retry_at_ = now + options_.retry_after;
  if (!reason_.empty()) return;
  reason_ = error.describe();
  tell(fmt::format("{}. Records are lost until it can be written; next attempt in {} ms", reason_,
                   options_.retry_after.count_ms()));
}

std::optional<Sink::Recovery> Sink::take_recovery() {
  if (!std::exchange(recovered_, false)) return std::nullopt;
  return Recovery{options_.output->name(), std::exchange(reason_, {}),
                  std::exchange(lost_in_failure_, 0)};
}

bool Sink::wants_rotation(const Entry& entry, Instant now) const noexcept {
  if (rotation_failed_ && now < retry_at_) return false;
  const Rotation& rotation = options_.rotation;
  if (rotation.bytes_max != 0 && options_.output->size() + buffer_.size() >= rotation.bytes_max) {
    return true;
  }
  return rotation.period.ns > 0 && period_ >= 0 && entry.wall_ns / rotation.period.ns > period_;
}

void Sink::rotate(Instant now) {
  push(now);
  if (!open_) return;
  if (const auto done = options_.output->rotate(options_.rotation.keep, *layout_); !done) {
    if (!rotation_failed_) {
      tell(fmt::format("not rotated: {}. The file goes on growing", done.error().describe()));
    }
    rotation_failed_ = true;
    retry_at_ = now + options_.retry_after;
    return;
  }
  rotation_failed_ = false;
  buffer_.clear();
  layout_->begin(buffer_);
}

void Sink::reopen(Instant now) {
  push(now);
  open_ = false;
  buffer_.clear();
  retry_at_ = now;
  ready(now);
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
