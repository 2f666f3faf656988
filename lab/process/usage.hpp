// Usage: the resources that a thread, a process or the machine has used so far: processor time,
// memory, and the processor's counters.
//
// Owns       a HardwareCounter its descriptor; the rest nothing.
// Thread     any; a HardwareCounter is of one thread at a time.
// Allocates  while reading /proc.
// Fails      values that cannot be read (the process has ended, or is another user's) are 0. A
//            counter that the machine does not have, or does not show us, is nothing.
// Source     proc(5), clock_getcpuclockid(3), perf_event_open(2).
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/monotonic_clock.hpp"

namespace katana::lab {

// ---- processor time: user and system --------------------------------------------------------

inline std::int64_t thread_cpu_ns() noexcept { return clock_time(CLOCK_THREAD_CPUTIME_ID).ns; }
inline std::int64_t own_cpu_ns() noexcept { return clock_time(CLOCK_PROCESS_CPUTIME_ID).ns; }
// The time in which the calling thread could have run and was not given a CPU.
std::int64_t thread_run_delay_ns() noexcept;
// The CPU seconds of a process with all its threads, those that ended included.
double process_cpu_s(pid_t process) noexcept;
// The busy seconds of all CPUs together, for all processes, since the machine was started; to a
// hundredth.
double machine_busy_s();

// ---- a process ------------------------------------------------------------------------------

struct Usage {
  double cpu_s = 0;
  double rss_mib = 0;
  // Not getrusage(): its maximum begins with that of the process that started this one.
  double rss_mib_max = 0;
  double anonymous_mib = 0;         // the part of rss_mib that is no file's memory
  std::uint64_t written_bytes = 0;  // to the disk
  std::size_t descriptors = 0;      // open

  void add(const Usage& other) noexcept;
};
Usage usage_of(pid_t process);

// The names in a folder of /proc, as far as they are there to be read.
std::vector<std::string> names_in(const std::string& folder);

// ---- counters of the processor --------------------------------------------------------------

enum class Event : std::uint64_t {
  instructions = PERF_COUNT_HW_INSTRUCTIONS,
  cycles = PERF_COUNT_HW_CPU_CYCLES,
  cache_misses = PERF_COUNT_HW_CACHE_MISSES,
};

enum class Space : std::uint8_t { user, user_and_kernel };
enum class Threads : std::uint8_t { one, and_those_it_starts };

// Counts events of a thread since the counter was made.
class HardwareCounter {
 public:
  // `thread`: 0 is the calling one.
  explicit HardwareCounter(Event event, pid_t thread = 0, Space space = Space::user,
                           Threads threads = Threads::one) noexcept;
  HardwareCounter(HardwareCounter&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  HardwareCounter& operator=(HardwareCounter&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~HardwareCounter();

  std::optional<double> read_count() const noexcept;

 private:
  int fd_;
};
// Nothing also for a counter that did not move: some machines open a counter and then count
// nothing.
std::optional<double> counted_between(std::optional<double> before,
                                      std::optional<double> after) noexcept;

// Counts events of a process, with the threads that it has when this is made.
class ProcessCounters {
 public:
  struct Counts {
    double instructions = 0;
    double cycles = 0;
    double cache_misses = 0;
  };

  explicit ProcessCounters(pid_t process);
  // Nothing, unless all three are counted.
  std::optional<Counts> read_counts() const;

 private:
  std::vector<HardwareCounter> instructions_;
  std::vector<HardwareCounter> cycles_;
  std::vector<HardwareCounter> cache_misses_;
};

}  // namespace katana::lab

// SPDX-License-Identifier: Apache-2.0
