// Verdict: whether the figures say something about the server, or about the generator.
//
// Thread: a function of its arguments. Allocates: its sentences.
#pragma once

#include <string>
#include <vector>

#include "lab/load/plan.hpp"
#include "lab/load/run.hpp"

namespace katana::load {

struct Verdict {
  static constexpr double busy_share_max = 0.9;
  static constexpr double unsent_share_max = 0.01;
  static constexpr double stalled_share_max = 0.01;

  double cpu_share = 0;   // share of the busiest thread, without the busy tail
  double wait_share = 0;  // share of the thread that waited most for a CPU it could have used
  bool saturated = false;
  std::vector<std::string> void_reasons;  // open loop: the schedule was not kept
  std::vector<std::string> notes;         // more notes for a reader

  bool is_void() const { return !void_reasons.empty(); }
};

Verdict judge(const LoadPlan& plan, const RunResult& result);

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
