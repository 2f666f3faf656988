// Collector: makes a Profile of samples: equal stacks are one, and addresses get their modules.
//
// Owns       what it has collected: each stack once, each set of labels once, and their pairs.
// Thread     one at a time.
// Allocates  about `bytes_max` together with the profile that is made of it.
// Fails      never: samples beyond this are counted as lost.
// Invariant  the sum of counts and lost is the number of periods that were added. A stack whose
//            amount was taken away again is in no profile.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/observe/profile/profile.hpp"
#include "katana/observe/profile/sample_ring.hpp"

namespace katana::profile {

// The most memory of a collector with its profile, about.
inline constexpr std::size_t collector_bytes_max = std::size_t{32} << 20;

class Collector {
 public:
  explicit Collector(Duration period, std::size_t bytes_max = collector_bytes_max) noexcept
      : period_(period), bytes_max_(bytes_max) {}

  // How often a stack was found, and what it stands for, as in Found.
  struct Amount {
    std::int64_t count = 0;  // of samples, or allocations
    std::int64_t ns = 0;     // or bytes
  };

  // `thread`: whose sample it is; its name is read at its first one.
  void add(pid_t thread, const Sample& sample);
  // The same for a sample that stands for this. Returns where it was added, which stays there as
  // long as the collector; null: it was lost.
  Amount* add(pid_t thread, const Sample& sample, Amount part);
  // The profile so far, without its times and the name of the program.
  Profile profile(Kind kind, std::uint64_t lost) const;
  std::size_t bytes() const noexcept { return bytes_; }  // estimated, with those of the profile

 private:
  using Addresses = std::vector<std::uintptr_t>;
  struct Hash {
    std::size_t operator()(const Addresses& addresses) const noexcept;
    std::size_t operator()(const Labels& labels) const noexcept;
  };
  // A stack and its labels, which stay where they are in their maps.
  struct Pair {
    const Addresses* stack;
    const Labels* labels;
    auto operator<=>(const Pair&) const = default;
  };
  const std::string& name_of(pid_t thread);

  const Duration period_;
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::unordered_set<Addresses, Hash> stacks_;
  std::unordered_set<Labels, Hash> labels_;
  std::map<Pair, Amount> amounts_;
  std::unordered_map<pid_t, std::string> names_;
  std::uint64_t lost_ = 0;
};

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
