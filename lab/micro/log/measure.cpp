#include "measure.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "lab/micro/report.hpp"

namespace micro {

std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  unsigned processor = 0;
  return __rdtscp(&processor);  // waits for what was begun before it
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

double ns_per_tick() {
  static const double rate = [] {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const std::uint64_t first = ticks();
    while (Clock::now() - begin < std::chrono::milliseconds(20)) {
    }
    const std::uint64_t last = ticks();
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    return ns / static_cast<double>(last - first);
  }();
  return rate;
}

InstructionCounter::InstructionCounter() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  descriptor_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

InstructionCounter::~InstructionCounter() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<std::uint64_t> InstructionCounter::count() const {
  std::uint64_t value = 0;
  if (descriptor_ < 0 || read(descriptor_, &value, sizeof value) != sizeof value) return {};
  return value;
}

double median(std::vector<double> values) { return percentile(values, 0.5); }

double grouped_percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size());
  const double value = values[std::min(values.size() - 1, static_cast<std::size_t>(at))];
  const auto [first, last] = std::ranges::equal_range(values, value);
  // The width of a group: the distance to the values before it.
  const double step = first == values.begin() ? 0 : value - *(first - 1);
  const double inside =
      (at - static_cast<double>(first - values.begin())) / static_cast<double>(last - first);
  return value - step / 2 + step * inside;
}

double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() +
                  static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

namespace {

std::string instructions_of(const Row& row) {
  return row.instructions.empty() ? "null" : fmt::format("{:.1f}", median(row.instructions));
}

}  // namespace

bool write_json(const std::string& path, const std::vector<Row>& rows,
                const std::vector<Target>& targets) {
  Report report("log");
  for (const Row& row : rows) {
    std::optional<double> instructions;
    if (!row.instructions.empty()) instructions = median(row.instructions);
    const auto [low, high] = std::ranges::minmax(row.values);
    report.add({row.question, row.subject, row.unit, row.better, median(row.values), low, high,
                instructions});
  }
  for (const Target& target : targets) {
    report.add_target(target.text, target.value, target.limit, target.at_most, target.met());
  }
  return report.write(path);
}

void print(const std::vector<Row>& rows, const std::vector<Target>& targets) {
  fmt::print(
      "| question | subject | median | low | high | unit | instructions |\n"
      "|---|---|---:|---:|---:|---|---:|\n");
  for (const Row& row : rows) {
    fmt::print("| {} | {} | {:.4g} | {:.4g} | {:.4g} | {} | {} |\n", row.question, row.subject,
               median(row.values), std::ranges::min(row.values), std::ranges::max(row.values),
               row.unit, instructions_of(row));
  }
  for (const Target& target : targets) {
    fmt::print("\n{}: {:.3g} ({} {}): {}", target.text, target.value,
               target.at_most ? "at most" : "at least", target.limit,
               target.met() ? "met" : "MISSED");
  }
  fmt::print("\n");
}

}  // namespace micro
