// write_json: the result of a run as one JSON object; docs/guides/load.md explains each key. Other
// generators use parts of it.
//
// Thread: functions of their arguments. Allocate: what they return.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "lab/load/plan.hpp"
#include "lab/load/run.hpp"
#include "lab/load/target.hpp"
#include "lab/load/verdict.hpp"

namespace katana::load {

struct ReportInput {
  const LoadPlan& plan;
  const Target& target;
  const RunResult& result;
  const Verdict& verdict;
  std::string_view url;
  std::string_view method;
};

using Json = nlohmann::ordered_json;

// With so many digits behind the point.
double rounded(double value, int digits = 3);
// Percentiles in microseconds, and the number of samples.
Json times_of(const Histogram& histogram);
// Indented text, with a line end; bytes that are not UTF-8 are replaced.
std::string text_of(const Json& json);

std::string write_json(const ReportInput& input);

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
