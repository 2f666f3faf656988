#include "katana/observe/crash/recent_records.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "katana/observe/crash/recent_texts.hpp"
#include "katana/observe/crash/report_writer.hpp"
#include "katana/observe/log/layout.hpp"

namespace katana::crash {
namespace {

constexpr std::size_t record_bytes_max = 512;

struct Place {
  std::atomic<std::uint64_t> number{0};  // of its record, from 1; 0: none, or it is being written
  std::size_t bytes = 0;
  std::array<char, record_bytes_max> text{};
};

constinit std::array<Place, recent_records_max> record_places{};
constinit std::atomic<std::uint64_t> last_record{0};

void keep(Bytes line) noexcept {
  const std::uint64_t number = last_record.fetch_add(1, std::memory_order_relaxed) + 1;
  Place& place = record_places[number % record_places.size()];
  place.number.store(0, std::memory_order_relaxed);
  // release: a reader that sees new text sees that the place has no record.
  std::atomic_thread_fence(std::memory_order_release);
  place.bytes = std::min(line.size(), place.text.size());
  std::memcpy(place.text.data(), line.data(), place.bytes);
  place.number.store(number, std::memory_order_release);
}

class RecentOutput final : public log::Output {
 public:
  const std::string& name() const noexcept override { return name_; }
  bool may_block() const noexcept override { return false; }
  Result<void> open(const log::Layout&) override { return {}; }
  Result<void> write(Bytes records) override {
    while (!records.empty()) {
      const std::size_t end = std::min(records.find('\n'), records.size());
      if (end > 0) keep(records.substr(0, end));
      records.remove_prefix(std::min(end + 1, records.size()));
    }
    return {};
  }

 private:
  const std::string name_ = "recent records";
};

class RecentLayout final : public log::Layout {
 public:
  void add(const log::Entry& entry, log::Buffer& buffer) override {
    if (entry.site->logger != left_out_logger) text_->add(entry, buffer);
  }

 private:
  const std::unique_ptr<log::Layout> text_ = log::make_layout(log::LayoutKind::text);
};

}  // namespace

log::SinkOptions recent_records() {
  log::SinkOptions options;
  options.output = std::make_shared<RecentOutput>();
  options.own_layout = [] { return std::make_unique<RecentLayout>(); };
  options.buffer_bytes = 4096;
  options.queue_bytes_max = 4096;  // its writes end at once
  return options;
}

namespace {

// Calls `use` with a copy of the text of each record, the oldest first.
template <class Use>
void each_record(Use use) {
  const std::uint64_t end = last_record.load(std::memory_order_acquire);
  const std::uint64_t begin = end > record_places.size() ? end - record_places.size() : 0;
  for (std::uint64_t number = begin + 1; number <= end; ++number) {
    const Place& place = record_places[number % record_places.size()];
    if (place.number.load(std::memory_order_acquire) != number) continue;
    std::array<char, record_bytes_max> copy;
    const std::size_t bytes = std::min(place.bytes, copy.size());
    std::memcpy(copy.data(), place.text.data(), bytes);
    // acquire: a writer that began meanwhile has removed the number.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (place.number.load(std::memory_order_relaxed) != number) continue;
    use(Bytes{copy.data(), bytes});
  }
}

}  // namespace

std::vector<std::string> recent_texts() {
  std::vector<std::string> texts;
  each_record([&](Bytes text) { texts.emplace_back(text); });
  return texts;
}

void write_recent_records(ReportWriter& report) noexcept {
  each_record([&](Bytes text) {
    report.word("record ");
    report.value(text, record_bytes_max);
    report.end_line();
  });
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
