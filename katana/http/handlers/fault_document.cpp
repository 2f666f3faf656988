#include "katana/http/handlers/fault_document.hpp"

#include <vector>

namespace katana::detail {
namespace {

struct Fault {
  std::string pointer;
  std::string detail;
};
KATANA_DESCRIBE(Fault, pointer, detail)

struct FaultList {
  std::vector<Fault> errors;
};
KATANA_DESCRIBE(FaultList, errors)

}  // namespace

Reply fault_problem(const ProblemType& type, Bytes detail, const container::Findings& findings) {
  FaultList list;
  for (const container::Finding& each : findings.list()) {
    list.errors.push_back({.pointer = each.pointer, .detail = each.words});
  }
  return problem(type, detail, list);
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
