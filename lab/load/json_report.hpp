// write_json: the result of a run as one JSON object; docs/guides/load.md explains each key.
//
// Thread: a function of its arguments. Allocates: the text.
#pragma once

#include <string>
#include <string_view>

#include "load/plan.hpp"
#include "load/run.hpp"
#include "load/target.hpp"
#include "load/verdict.hpp"

namespace katana::load {

struct ReportInput {
  const LoadPlan& plan;
  const Target& target;
  const RunResult& result;
  const Verdict& verdict;
  std::string_view url;
  std::string_view method;
};

std::string write_json(const ReportInput& input);

}  // namespace katana::load
