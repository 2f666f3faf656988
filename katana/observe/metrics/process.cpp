#include "katana/observe/metrics/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

namespace katana::metrics {
namespace {

Result<std::string> read_file(const std::string& path) {
  std::string text(4096, '\0');
  std::size_t size = 0;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    for (ssize_t count = 1; count > 0; size += static_cast<std::size_t>(count)) {
      if (size == text.size()) text.resize(size * 2);
      count = std::max<ssize_t>(0, ::read(file, text.data() + size, text.size() - size));
    }
    ::close(file);
  }
  if (size == 0) {
    return fail(
        Code::unavailable,
        fmt::format("cannot read '{}': is proc mounted, and may this process see it?", path));
  }
  text.resize(size);
  return text;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::optional<double> to_number(std::string_view word) {
  double value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return std::nullopt;
  return value;
}

std::unexpected<Error> malformed(const std::string& path) {
  return fail(Code::data_loss, fmt::format("'{}' does not have the format of proc(5)", path));
}

// The words behind `name` on the line that begins with it.
std::vector<std::string_view> words_after(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    const std::string_view rest = text.substr(at + name.size());
    return split(rest.substr(0, rest.find('\n')));
  }
  return {};
}

Result<double> read_boot_time(const std::string& root) {
  const std::string path = root + "/stat";
  auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  const auto words = words_after(*text, "btime ");
  const auto seconds = words.empty() ? std::nullopt : to_number(words[0]);
  if (!seconds) return malformed(path);
  return *seconds;
}

// Finds figures.start_time_seconds if it is not known yet: its file is a long one.
Result<void> read_stat(const std::string& root, const ProcessUnits& units,
                       ProcessStatistics& statistics) {
  const std::string path = root + "/self/stat";
  auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  // The name in parentheses may contain spaces and parentheses: fields count from the last one.
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return malformed(path);
  const auto words = split(std::string_view(*text).substr(name_end + 1));
  constexpr std::size_t state = 3;  // the number that proc(5) gives to the first word here
  const auto field = [&](std::size_t number) {
    return number - state < words.size() ? to_number(words[number - state]) : std::nullopt;
  };
  const auto user = field(14), system = field(15), threads = field(20), start = field(22),
             size = field(23), resident = field(24);
  if (!user || !system || !threads || !start || !size || !resident) return malformed(path);
  if (statistics.start_time_seconds == 0) {
    const auto boot = read_boot_time(root);
    if (!boot) return std::unexpected(boot.error());
    statistics.start_time_seconds = *boot + *start / units.ticks_per_second;
  }
  statistics.cpu_seconds = (*user + *system) / units.ticks_per_second;
  statistics.threads = *threads;
  statistics.virtual_bytes = *size;
  statistics.resident_bytes = *resident * units.page_bytes;
  return {};
}

Result<void> read_descriptors(const std::string& root, ProcessStatistics& statistics) {
  const std::string folder = root + "/self/fd";
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) {
    return fail(Code::unavailable, fmt::format("cannot read '{}': {}", folder,
                                               std::generic_category().message(errno)));
  }
  double count = 0;
  while (const dirent* const entry = ::readdir(entries)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(entries);
  statistics.open_fds = std::max(0.0, count - 1);  // except the one opened for this
  const std::string path = root + "/self/limits";
  auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  const auto words = words_after(*text, "Max open files ");
  if (words.empty()) return malformed(path);
  const auto limit =
      words[0] == "unlimited" ? std::numeric_limits<double>::infinity() : to_number(words[0]);
  if (!limit) return malformed(path);
  statistics.max_fds = *limit;
  return {};
}

struct ProcessMetrics {
  ObservedCounter cpu_seconds;
  Gauge start_time, resident, size, threads, open_fds, max_fds;

  void set(const ProcessStatistics& statistics) const {
    cpu_seconds.observe(statistics.cpu_seconds);
    start_time.set(statistics.start_time_seconds);
    resident.set(statistics.resident_bytes);
    size.set(statistics.virtual_bytes);
    threads.set(statistics.threads);
    open_fds.set(statistics.open_fds);
    max_fds.set(statistics.max_fds);
  }
};

Result<Gauge> add_gauge(Registry& registry, std::string name, std::string unit, std::string help) {
  auto family = registry.gauges(
      {.name = std::move(name), .help = std::move(help), .labels = {}, .unit = std::move(unit)});
  if (!family) return std::unexpected(family.error());
  return family->resolve({});
}

}  // namespace

ProcessUnits system_units() noexcept {
  return {static_cast<double>(::sysconf(_SC_CLK_TCK)),
          static_cast<double>(::sysconf(_SC_PAGESIZE))};
}

Result<ProcessStatistics> read_process(const std::string& root, const ProcessUnits& units,
                                       double start_time_seconds) {
  ProcessStatistics statistics{.start_time_seconds = start_time_seconds};
  if (auto read = read_stat(root, units, statistics); !read) return std::unexpected(read.error());
  if (auto read = read_descriptors(root, statistics); !read) return std::unexpected(read.error());
  return statistics;
}

Result<void> add_process_metrics(Registry& registry, const std::string& root) {
  const auto statistics = read_process(root);
  if (!statistics) return std::unexpected(statistics.error().within("process metrics"));
  ProcessMetrics metrics;
  struct Row {
    Gauge* gauge;
    const char *name, *unit, *help;
  };
  const std::array rows{
      Row{&metrics.start_time, "process_start_time_seconds", "seconds",
          "Start time of the process, in seconds since 1970."},
      Row{&metrics.resident, "process_resident_memory_bytes", "bytes", "Resident memory."},
      Row{&metrics.size, "process_virtual_memory_bytes", "bytes",
          "Address space, most of which is reserved and not used."},
      Row{&metrics.threads, "process_threads", "", "Threads of the process."},
      Row{&metrics.open_fds, "process_open_fds", "", "Open file descriptors."},
      Row{&metrics.max_fds, "process_max_fds", "", "Most file descriptors that may be open."}};
  for (const Row& row : rows) {
    auto gauge = add_gauge(registry, row.name, row.unit, row.help);
    if (!gauge) return std::unexpected(gauge.error());
    *row.gauge = *gauge;
  }
  auto cpu = registry.observed_counters({.name = "process_cpu_seconds",
                                         .help = "User and system time of all threads.",
                                         .labels = {},
                                         .unit = "seconds"});
  if (!cpu) return std::unexpected(cpu.error());
  auto seconds = cpu->resolve({});
  if (!seconds) return std::unexpected(seconds.error());
  metrics.cpu_seconds = *seconds;
  registry.before_scrape([metrics, root, start = statistics->start_time_seconds] {
    if (const auto now = read_process(root, system_units(), start)) metrics.set(*now);
  });
  return {};
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
