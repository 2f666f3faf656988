// SeedShare: the seeds that this process runs, and the name of the present one when it dies.
//
//   KATANA_SHARD       the number of the share, from 0
//   KATANA_SHARDS      the number of shares
//   KATANA_SEEDS       the number of seeds, of all shares
//   KATANA_FIRST_SEED  the first of them
//
// Thread     one, and one share at a time.
// Allocates  never.
// Fails      never: text that is no number counts as 0.
#pragma once

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define KATANA_DEATH_CALLBACK 1
#endif
#endif

namespace katana::simulation {

inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class SeedShare {
 public:
  // `repeat`: the command that runs one seed, which is its last argument. `variable`: that says how
  // many there are.
  SeedShare(std::uint64_t count_default, const char* repeat, const char* variable = "KATANA_SEEDS")
      : first_(number_from("KATANA_FIRST_SEED", 1)), count_(number_from(variable, count_default)) {
    command_ = repeat;
    std::signal(SIGABRT, &on_abort);
#if defined(KATANA_DEATH_CALLBACK)
    __sanitizer_set_death_callback(&name_seed);
#endif
  }

  // The number of seeds of all shares.
  std::uint64_t count() const noexcept { return count_; }
  // The number of seeds of this share, about.
  std::uint64_t own_count() const { return count_ / number_from("KATANA_SHARDS", 1); }

  // Calls `run(seed)` for each seed of the share, until one returns false.
  template <class Run>
  void for_each(Run run) const {
    const std::uint64_t shards = number_from("KATANA_SHARDS", 1);
    std::uint64_t seed = first_ + number_from("KATANA_SHARD", 0);
    for (; seed < first_ + count_; seed += shards) {
      present_ = seed;
      if (!run(seed)) return;
    }
  }

 private:
  // Prints the seed of a run that aborts, which could not print it otherwise.
  static void name_seed() {
    const auto seed = static_cast<unsigned long long>(present_);
    std::fprintf(stderr, "simulation: seed %llu. Replay it: %s %llu\n", seed, command_, seed);
  }
  static void on_abort(int) {
    name_seed();
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
  }

  inline static std::uint64_t present_ = 0;
  inline static const char* command_ = "";
  const std::uint64_t first_;
  const std::uint64_t count_;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
