#include "katana/observe/crash/facts.hpp"

#include <algorithm>
#include <atomic>

#include "katana/observe/crash/report_writer.hpp"
#include "katana/observe/crash/stack.hpp"

namespace katana::crash {
namespace {

constinit std::array<std::atomic<Section*>, sections_max> sections{};
constinit std::atomic<ThreadFacts> facts_of_threads{nullptr};

}  // namespace

void set_thread_facts(ThreadFacts facts) noexcept { facts_of_threads.store(facts); }

ThreadFacts thread_facts() noexcept { return facts_of_threads.load(); }

void ThreadText::add(Bytes text) noexcept {
  for (const char each : text) {
    if (used_ + 1 >= bytes_.size()) return;  // a place is left for the line end
    const auto code = static_cast<unsigned char>(each);
    bytes_[used_++] = code < 0x20 || code == 0x7f ? '?' : each;
  }
}

void ThreadText::end_line() noexcept {
  if (used_ == bytes_.size()) return;
  bytes_[used_++] = '\n';
  whole_ = used_;
}

void ThreadText::add_number(std::int64_t value) noexcept {
  char digits[20];
  int count = 0;
  auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
  do {
    digits[count++] = static_cast<char>('0' + left % 10);
    left /= 10;
  } while (left != 0);
  while (count > 0) add({&digits[--count], 1});
}

void add_section(Section& section) noexcept {
  for (std::atomic<Section*>& place : sections) {
    Section* none = nullptr;
    if (place.compare_exchange_strong(none, &section)) return;
  }
}

void remove_section(Section& section) noexcept {
  for (std::atomic<Section*>& place : sections) {
    Section* present = &section;
    if (place.compare_exchange_strong(present, nullptr)) return;
  }
}

void write_sections(ReportWriter& report) noexcept {
  struct Argument {
    Section* section;
    ReportWriter& report;
  };
  for (const std::atomic<Section*>& place : sections) {
    Argument argument{place.load(std::memory_order_acquire), report};
    if (argument.section == nullptr) continue;
    (void)guarded(
        [](void* given) {
          const Argument& each = *static_cast<Argument*>(given);
          each.section->write(each.report);
        },
        &argument);
    report.drop_line();  // one that is not ended, or made a fault
  }
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
