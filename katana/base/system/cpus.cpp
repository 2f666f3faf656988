#include "katana/base/system/cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace katana {
namespace detail {
namespace {

// The limit in cpu.max: "max 100000", or the microseconds in a period and the period. 0: no limit.
unsigned limit_of(const std::string& file) {
  std::ifstream stream(file);
  std::int64_t quota_us = 0;
  std::int64_t period_us = 0;
  if (!(stream >> quota_us >> period_us) || quota_us <= 0 || period_us <= 0) return 0;
  const std::int64_t cpus = quota_us / period_us + (quota_us % period_us != 0 ? 1 : 0);
  return static_cast<unsigned>(std::clamp<std::int64_t>(cpus, 1, CPU_SETSIZE));
}

// The group "/a/b" from "0::/a/b", in the hierarchy of version 2. Empty: there is none.
std::string group_of(const std::string& membership) {
  std::ifstream stream(membership);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return {};
}

}  // namespace

unsigned quota_cpus(const std::string& membership, const std::string& root) {
  std::string group = group_of(membership);
  unsigned smallest = 0;
  while (!group.empty()) {
    const unsigned limit = limit_of(root + group + "/cpu.max");
    if (limit != 0 && (smallest == 0 || limit < smallest)) smallest = limit;
    group.resize(group.rfind('/'));
  }
  // The root of a container's view also has the file.
  const unsigned limit = limit_of(root + "/cpu.max");
  return limit != 0 && (smallest == 0 || limit < smallest) ? limit : smallest;
}

}  // namespace detail

unsigned usable_cpus() noexcept {
  unsigned count = 1;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    count = static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
  }
  try {
    const unsigned limit = detail::quota_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
    if (limit != 0) count = std::min(count, limit);
  } catch (...) {  // out of memory: only the CPUs count
    return count;
  }
  return count;
}

Duration spin_for(Duration longest) noexcept {
  static const bool alone = usable_cpus() == 1;
  return alone ? Duration{} : longest;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
