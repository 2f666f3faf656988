// Report: the figures of a run, for people and for programs.
//
// Thread: a function of its arguments. Allocates: its text.
#pragma once

#include <string>
#include <vector>

#include "lab/chat_load/plan.hpp"
#include "lab/chat_load/worker.hpp"

namespace katana::chat_load {

struct Summary {
  // A thread that used more of a CPU than this is taken for the limit of the run.
  static constexpr double cpu_share_max = 0.9;
  // Messages that were sent later than this after they were due (p99): a load that was not kept.
  static constexpr double send_lag_max_us = 20'000;
  // A server that is longer behind than this share of the time of sending: its queues grew.
  static constexpr double behind_share_max = 0.05;

  Statistics total;
  double duration_s = 0;  // time of sending
  double behind_s = 0;    // from its end to the last delivery
  bool behind = false;    // by more than that share
  double cpu_share = 0;   // share of the busiest thread
  bool saturated = false;
  bool interrupted = false;  // it ended before its time
  std::uint64_t missing = 0;
  // Deliveries promised to receivers that stayed, neither delivered nor reported as dropped; below
  // 0: there were more than promised.
  std::int64_t unaccounted = 0;
  std::vector<std::string> notes;  // notes for the reader of the report
};

Summary summarise(const ChatPlan& plan, const std::vector<const Statistics*>& threads);
std::string to_text(const ChatPlan& plan, const Summary& summary);
std::string to_json(const ChatPlan& plan, const Summary& summary);

}  // namespace katana::chat_load

// SPDX-License-Identifier: Apache-2.0
