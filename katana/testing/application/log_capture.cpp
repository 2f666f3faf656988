#include "katana/testing/application/log_capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"

namespace katana::testing {

// The logging thread writes to an Output.
struct LogCapture::Kept final : log::Output {
  const std::string& name() const noexcept override { return called; }
  bool may_block() const noexcept override { return false; }
  Result<void> open(const log::Layout&) override { return {}; }
  Result<void> write(Bytes lines) override {
    const std::lock_guard lock(mutex);
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      if (end > 0) records.push_back(parse(lines.substr(0, end)));
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    return {};
  }
  const std::string called = "a test's capture";
  mutable std::mutex mutex;
  std::vector<LogRecord> records;
};

std::shared_ptr<LogCapture::Kept> LogCapture::make() { return std::make_shared<Kept>(); }

log::SinkOptions LogCapture::sink() {
  return {.output = kept_, .layout = log::LayoutKind::json, .buffer_bytes = 4096};
}

// Parses the output of JsonLayout.
LogRecord LogCapture::parse(std::string_view line) {
  LogRecord record;
  const auto value = container::read_json<container::Value>(line);
  const container::Object* const object = value ? value->get_object() : nullptr;
  if (object == nullptr) {
    record.message = line;
    return record;
  }
  for (const container::Member& member : *object) {
    if (member.name == "level") {
      record.level = log::parse_level(member.value.as_text()).value_or(log::Level::info);
    } else if (member.name == "logger") {
      record.logger = member.value.as_text();
    } else if (member.name == "message") {
      record.message = member.value.as_text();
    } else if (member.name != "time" && member.name != "thread") {
      record.fields.set(member.name, member.value);
    }
  }
  return record;
}

std::string LogRecord::field(std::string_view name) const {
  const container::Value* const found = fields.find(name);
  if (found == nullptr) return {};
  if (found->kind() == container::Kind::text) return found->as_text();
  return container::to_json(*found);
}

std::string LogRecord::describe() const {
  std::string text = fmt::format("{} {}: {}", log::level_name(level), logger, message);
  if (!fields.empty()) text += " " + container::to_json(container::Value(fields));
  return text;
}

std::vector<LogRecord> LogCapture::records() const {
  const std::lock_guard lock(kept_->mutex);
  return kept_->records;
}

std::vector<LogRecord> LogCapture::records_of(std::string_view logger) const {
  std::vector<LogRecord> found = records();
  std::erase_if(found, [&](const LogRecord& each) { return each.logger != logger; });
  return found;
}

std::shared_ptr<const LogRecord> LogCapture::find(std::string_view text) const {
  const std::lock_guard lock(kept_->mutex);
  for (const LogRecord& each : kept_->records) {
    const bool has = each.message.find(text) != std::string::npos ||
                     std::ranges::any_of(each.fields, [&](const container::Member& member) {
                       return each.field(member.name).find(text) != std::string::npos;
                     });
    if (has) return std::make_shared<LogRecord>(each);
  }
  return nullptr;
}

std::size_t LogCapture::count(log::Level level) const {
  const std::lock_guard lock(kept_->mutex);
  return static_cast<std::size_t>(
      std::ranges::count_if(kept_->records, [&](const auto& each) { return each.level >= level; }));
}

std::string LogCapture::describe() const {
  std::string text;
  for (const LogRecord& each : records()) text += each.describe() + "\n";
  return text;
}

void LogCapture::clear() {
  const std::lock_guard lock(kept_->mutex);
  kept_->records.clear();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
