// simulate(): runs a function on worlds of many seeds. It reports the first one in which a property
// does not hold: made small, as a timeline, with the line that repeats it.
//
//   TEST(Booking, sells_no_seat_twice) {
//     const auto found = testing::simulate({.seeds = 1'000}, [](testing::World& world) { … });
//     EXPECT_TRUE(found.holds) << found;
//   }
//
// Environment, unless reads_environment is false:
//
//   KATANA_SEED=7                only this seed
//   KATANA_DROP=f2,ada#3         leaves out these faults, requests and clients
//   KATANA_SEEDS=500, 1000+500   so many seeds, from 1 or from another one on
//   KATANA_SIMULATE_SECONDS=60   ends after so many seconds of real time
//   KATANA_SIMULATE_REPORT=FILE  appends a line of JSON for each call of simulate()
//
// Owns       the worlds.
// Thread     one.
// Allocates  freely: a test's tool.
// Fails      by the result. An exception that leaves the function is a failure of its world.
// Invariant  a finding is repeated by its seed and its `drop`, unless it says that the runs of a
//            seed differ.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "katana/testing/world/world.hpp"

namespace katana::testing {

// Which seeds run, and how.
struct SimulateOptions {
  std::uint64_t first_seed = 1;  // the others follow it
  std::uint64_t seeds = 100;     // so many
  // Every so many seeds one runs twice, and both runs must be the same. 0: none.
  std::uint64_t twice_every = 20;
  // The most runs in search of a smaller failing case. 0: the first one is reported.
  unsigned shrink_runs_max = 250;
  // The options of each world; its seed is replaced.
  WorldOptions world = {};
  bool reads_environment = true;
  // The name of the function, for the test of a finding: "users_book".
  std::string name = "the_world";
};

// A seed in which something does not hold.
struct Finding {
  std::uint64_t seed = 0;         // of the world
  std::string property;           // "no seat is sold twice"
  std::string text;               // what is wrong
  std::vector<std::string> drop;  // faults, requests and clients that the failure does not need
  std::size_t events = 0;         // requests and faults that are left
  unsigned runs = 0;              // of the search for a smaller case
  std::string timeline;           // of the smallest case
  std::string repeat;             // "KATANA_SEED=7 KATANA_DROP=f2 build/booking_test"
  std::string test;               // a test of the smallest case, to be pasted
};

// The result of simulate().
struct Simulated {
  bool holds = true;                                   // no seed failed
  std::uint64_t seeds = 0;                             // that were run
  std::uint64_t operations = 0;                        // of all their clients
  std::uint64_t unknown = 0;                           // operations with an unknown outcome
  std::array<std::uint64_t, fault_kinds> faults = {};  // by FaultKind
  std::optional<Finding> finding = {};                 // the first seed that failed

  // The finding with its timeline, or the figures of the seeds that held.
  std::string describe() const;
};

inline std::ostream& operator<<(std::ostream& to, const Simulated& simulated) {
  return to << simulated.describe();
}

// Sets up a world, lets it run, and names its properties. finish() is called afterwards.
using WorldFunction = std::function<void(World&)>;

// Runs `f` with a world of each seed, until one fails.
Simulated simulate(SimulateOptions options, const WorldFunction& f);
// The same with 100 seeds.
inline Simulated simulate(const WorldFunction& f) { return simulate({}, f); }

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
