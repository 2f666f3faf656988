// Collector: makes a Profile of samples: equal stacks are one, and addresses get their modules.
//
// Owns       what it has collected.
// Thread     one at a time.
// Allocates  freely, up to stacks_max different stacks.
// Fails      never: samples with further stacks are counted as lost.
// Invariant  the sum of counts and lost is the number of periods that were added.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "katana/base/values/instant.hpp"
#include "katana/observe/profile/profile.hpp"
#include "katana/observe/profile/sample_ring.hpp"

namespace katana::profile {

inline constexpr std::size_t stacks_max = 200'000;  // different ones of a profile

class Collector {
 public:
  explicit Collector(Duration period) noexcept : period_(period) {}

  // `thread`: whose sample it is; its name is read at its first one.
  void add(pid_t thread, const Sample& sample);
  // The profile so far, without its times and the name of the program.
  Profile profile(Kind kind, std::uint64_t lost) const;

 private:
  struct Entry {
    Sample sample;
    pid_t thread;
    std::int64_t count = 0;
  };
  const std::string& name_of(pid_t thread);

  const Duration period_;
  std::unordered_map<std::string, Entry> entries_;  // by the bytes of what distinguishes them
  std::unordered_map<pid_t, std::string> names_;
  std::uint64_t lost_ = 0;
};

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
