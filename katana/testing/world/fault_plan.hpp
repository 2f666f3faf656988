// FaultBounds, PlannedFault: faults that a world draws from its seed, within bounds of the test.
//
// Owns       values.
// Thread     any.
// Allocates  as strings and vectors do.
// Fails      never.
// Invariant  the same seed, bounds and nodes give the same plan. A fault does not depend on those
//            before it, so that the search for a smaller failing case can leave out any of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/testing/world/node_files.hpp"

namespace katana::testing {

// How many faults of each kind a world may have, from none to so many, and how large they are.
struct FaultBounds {
  Duration within = seconds(5);         // they begin between now and then
  std::vector<std::string> nodes = {};  // that crash, and whose clocks jump; empty: all
  std::vector<std::string> hosts = {};  // whose paths are disturbed; empty: all nodes and clients

  unsigned kills_max = 0;                    // a crash of a process, or a loss of power
  unsigned kills_at_call_max = 0;            // at a call of the database
  std::uint64_t calls_max = 100;             // the latest call, counted from the begin of the fault
  unsigned stops_max = 0;                    // a restart with a drain
  Duration down_max = seconds(1);            // a node starts again after at most so long
  unsigned partitions_max = 0;               // in one direction or in both
  Duration partition_max = seconds(1);       // how long one lasts
  unsigned slow_links_max = 0;               // more latency in one direction, and perhaps losses
  Duration slow_link_max = seconds(1);       // how long one lasts
  Duration latency_max = milliseconds(200);  // that it adds to each segment
  unsigned resets_max = 0;                   // of all connections between two hosts
  unsigned clock_jumps_max = 0;              // of a node's wall clock, ahead or back
  Duration clock_jump_max = seconds(60);     // by how much
  unsigned reloads_max = 0;                  // of a node's settings
  unsigned hand_overs_max = 0;               // a zero-downtime restart of a node
  unsigned outages_max = 0;                  // of a shared server, for at most down_max
  unsigned fail_overs_max = 0;               // of a shared server: see WorldServer::fail_over()

  // A few of every kind, for a first test.
  static FaultBounds usual(Duration within = seconds(1)) {
    FaultBounds bounds;
    bounds.within = within;
    bounds.kills_max = bounds.kills_at_call_max = bounds.partitions_max = 2;
    bounds.slow_links_max = bounds.resets_max = 2;
    bounds.stops_max = bounds.clock_jumps_max = bounds.reloads_max = bounds.hand_overs_max = 1;
    bounds.outages_max = bounds.fail_overs_max = 1;
    return bounds;
  }
};

// The kinds of faults that a plan has.
enum class FaultKind : std::uint8_t {
  kill,          // a node ends at a time
  kill_at_call,  // a node ends at a call of its database
  stop,          // a node drains, and starts again
  partition,     // nothing arrives
  slow_link,     // segments take longer, or are lost
  reset,         // connections between two hosts end
  clock_jump,    // the wall clock of a node is wrong from now on
  reload,        // a node reads its settings again
  hand_over,     // a new process of a node serves while the former one drains
  outage,        // a shared server is down
  fail_over,     // another machine takes the place of a shared server
};
// Array size for counts by FaultKind.
inline constexpr std::size_t fault_kinds = 11;
// "kill at call", for reports.
const char* fault_name(FaultKind kind) noexcept;

// One fault of a plan.
struct PlannedFault {
  std::string key;                   // "f3"
  FaultKind kind = FaultKind::kill;  // what happens
  Duration at = {};                  // from the start of the plan
  Duration lasts = {};               // of an outage, a partition, a slow link
  std::string from;                  // a node, or one end of a path
  std::string to;                    // the other end
  bool both_ways = false;            // of a partition
  Crash how = Crash::process;        // of a kill
  std::uint64_t call = 0;            // of kill_at_call
  unsigned turns_later = 0;          // of kill_at_call
  Duration latency = {};             // of slow_link
  std::uint32_t loss = 0;            // of slow_link, in 1/1024
  Duration jump = {};                // of clock_jump

  // "f3: partition api -> store for 420 ms"
  std::string describe() const;
};

// `nodes` and `hosts`: the names that bounds without any mean. `servers`: those that nodes share.
// Keys go on from `first_number`.
std::vector<PlannedFault> plan_faults(std::uint64_t seed, const FaultBounds& bounds,
                                      const std::vector<std::string>& nodes,
                                      const std::vector<std::string>& hosts,
                                      const std::vector<std::string>& servers,
                                      std::size_t first_number);

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
