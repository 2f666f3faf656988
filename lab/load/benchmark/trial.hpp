// Trial: one load of the benchmark, and its figures of server and generator.
//
// Thread: one; the run has its own. Allocates: yes.
// Fails: when the run cannot begin; failures of the server are in the row.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "lab/load/plan.hpp"
#include "lab/load/target.hpp"
#include "lab/process/server_process.hpp"

namespace katana::load {

struct Trial {
  std::string label;
  LoadPlan plan;
  RequestSpec request;
};

struct Row {
  std::string label;
  std::uint32_t connections = 0;
  double rate_per_s = 0;
  double connects_per_s = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t p999_ns = 0;
  std::int64_t max_ns = 0;
  std::uint64_t samples = 0;
  std::uint64_t errors = 0;
  std::string error_text;
  double server_us = -1;     // CPU for each request; negative: unknown
  double server_share = -1;  // share of one CPU
  double generator_share = 0;
  double others = -1;  // CPUs that other programs took meanwhile; negative: unknown
  bool saturated = false;
  std::vector<std::string> void_reasons;
  std::string remark;  // the limit of this row's use
};

Result<Row> measure(const Trial& trial, const Url& url, const Address& address,
                    const lab::ServerProcess& server);

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
