// ProcessCounters: hardware counters of another process and the threads it has, from now on.
//
// Owns       a descriptor for each thread and counter.
// Thread     one.
// Fails      read() is nothing where the machine does not count, or does not let us see.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace e2e {

struct Counted {
  double instructions = 0;
  double cycles = 0;
  double cache_misses = 0;
};

class ProcessCounters {
 public:
  explicit ProcessCounters(pid_t process) {
    std::error_code ignored;
    const std::string tasks = fmt::format("/proc/{}/task", process);
    for (const auto& task : std::filesystem::directory_iterator(tasks, ignored)) {
      const pid_t thread = std::atoi(task.path().filename().c_str());
      for (std::size_t index = 0; index < kinds.size(); ++index) {
        descriptors_[index].push_back(open(thread, kinds[index]));
      }
    }
  }
  ~ProcessCounters() {
    for (const auto& each : descriptors_) {
      for (const int fd : each) {
        if (fd >= 0) ::close(fd);
      }
    }
  }
  ProcessCounters(const ProcessCounters&) = delete;
  ProcessCounters& operator=(const ProcessCounters&) = delete;

  std::optional<Counted> read() const {
    std::array<double, 3> sums{};
    for (std::size_t index = 0; index < kinds.size(); ++index) {
      for (const int fd : descriptors_[index]) {
        std::uint64_t count = 0;
        if (fd < 0 || ::read(fd, &count, sizeof count) != sizeof count) return std::nullopt;
        sums[index] += static_cast<double>(count);
      }
      if (sums[index] <= 0) return std::nullopt;
    }
    return Counted{sums[0], sums[1], sums[2]};
  }

 private:
  static constexpr std::array<std::uint64_t, 3> kinds{
      PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_CACHE_MISSES};

  static int open(pid_t thread, std::uint64_t kind) {
    perf_event_attr event{};
    event.type = PERF_TYPE_HARDWARE;
    event.size = sizeof event;
    event.config = kind;
    event.exclude_hv = 1;
    return static_cast<int>(syscall(SYS_perf_event_open, &event, thread, -1, -1, 0));
  }

  std::array<std::vector<int>, 3> descriptors_;
};

}  // namespace e2e
