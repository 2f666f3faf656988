// Progress: what a run shows while it runs. On a terminal a block of lines that is redrawn, else
// one line for each interval.
//
// Owns: whether it has drawn. Thread: one. Allocates: its lines.
#pragma once

#include <cstdio>

#include "lab/load/plan.hpp"
#include "lab/load/run.hpp"

namespace katana::load {

class Progress {
 public:
  Progress(const LoadPlan& plan, std::FILE* out, bool on_terminal)
      : plan_(plan), out_(out), on_terminal_(on_terminal) {}

  void show(const IntervalStatistics& interval, const RunResult& so_far);
  // Takes the block off the terminal: the result follows.
  void clear();

 private:
  void show_line(const IntervalStatistics& interval);
  void show_block(const IntervalStatistics& interval, const RunResult& so_far);

  const LoadPlan& plan_;
  std::FILE* out_;
  bool on_terminal_;
  int drawn_lines_ = 0;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
