#include "lab/process/usage.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

namespace katana::lab {
namespace {

namespace fs = std::filesystem;

// "Key:  123 kB" in a file of such lines; 0: there is none.
double number_of(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  std::istringstream words{std::string(text.substr(at + key.size(), 64))};
  double value = 0;
  words >> value;
  return value;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<double> sum_of(const std::vector<HardwareCounter>& counters) {
  double sum = 0;
  for (const HardwareCounter& counter : counters) {
    const auto count = counter.read_count();
    if (!count) return std::nullopt;
    sum += *count;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

}  // namespace

std::int64_t thread_run_delay_ns() noexcept {
  std::FILE* file = std::fopen("/proc/thread-self/schedstat", "re");
  if (file == nullptr) return 0;
  long long on_cpu = 0;
  long long waited = 0;
  const int read = std::fscanf(file, "%lld %lld", &on_cpu, &waited);
  std::fclose(file);
  return read == 2 ? waited : 0;
}

double process_cpu_s(pid_t process) noexcept {
  clockid_t clock{};
  if (::clock_getcpuclockid(process, &clock) != 0) return 0;
  return static_cast<double>(clock_time(clock).ns) / 1e9;
}

double machine_busy_s() {
  std::istringstream fields(content_of("/proc/stat"));
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft = 0, steal = 0;
  fields >> name >> user >> nice >> system >> idle >> waiting >> irq >> soft >> steal;
  return (user + nice + system + irq + soft + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void Usage::add(const Usage& other) noexcept {
  cpu_s += other.cpu_s;
  rss_mib += other.rss_mib;
  rss_mib_max += other.rss_mib_max;
  anonymous_mib += other.anonymous_mib;
  written_bytes += other.written_bytes;
  descriptors += other.descriptors;
}

Usage usage_of(pid_t process) {
  const std::string folder = fmt::format("/proc/{}", process);
  const std::string status = content_of(folder + "/status");
  Usage usage;
  usage.cpu_s = process_cpu_s(process);
  usage.rss_mib = number_of(status, "VmRSS:") / 1024;
  usage.rss_mib_max = number_of(status, "VmHWM:") / 1024;
  usage.anonymous_mib = number_of(status, "RssAnon:") / 1024;
  const std::string io = content_of(folder + "/io");
  usage.written_bytes = static_cast<std::uint64_t>(number_of(io, "\nwrite_bytes:"));
  usage.descriptors = names_in(folder + "/fd").size();
  return usage;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;  // a process of another user, or one that has ended
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  return names;
}

HardwareCounter::HardwareCounter(Event event, pid_t thread, Space space, Threads threads) noexcept {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = static_cast<std::uint64_t>(event);
  attributes.inherit = threads == Threads::and_those_it_starts ? 1 : 0;
  attributes.exclude_kernel = space == Space::user ? 1 : 0;
  attributes.exclude_hv = 1;
  fd_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, -1, -1,
                                 static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC)));
}

HardwareCounter::~HardwareCounter() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<double> HardwareCounter::read_count() const noexcept {
  std::uint64_t count = 0;
  if (fd_ < 0 || ::read(fd_, &count, sizeof count) != sizeof count) return {};
  return static_cast<double>(count);
}

std::optional<double> counted_between(std::optional<double> before,
                                      std::optional<double> after) noexcept {
  if (!before || !after || *after <= *before) return std::nullopt;
  return *after - *before;
}

ProcessCounters::ProcessCounters(pid_t process) {
  for (const std::string& name : names_in(fmt::format("/proc/{}/task", process))) {
    const pid_t thread = std::atoi(name.c_str());
    instructions_.emplace_back(Event::instructions, thread, Space::user_and_kernel);
    cycles_.emplace_back(Event::cycles, thread, Space::user_and_kernel);
    cache_misses_.emplace_back(Event::cache_misses, thread, Space::user_and_kernel);
  }
}

std::optional<ProcessCounters::Counts> ProcessCounters::read_counts() const {
  const auto instructions = sum_of(instructions_);
  const auto cycles = sum_of(cycles_);
  const auto cache_misses = sum_of(cache_misses_);
  if (!instructions || !cycles || !cache_misses) return std::nullopt;
  return Counts{*instructions, *cycles, *cache_misses};
}

}  // namespace katana::lab

// SPDX-License-Identifier: Apache-2.0
