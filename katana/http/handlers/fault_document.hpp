// Problem documents that list what does not fit, each with its place:
//
//   {"type":…,"title":…,"status":…,"detail":…,
//    "errors":[{"pointer":"/limit","detail":"is missing"}]}
//
// Json<T> writes them for a body, Query<T> and its like for parameters.
//
// Thread     any; there is no state.
// Allocates  the document.
#pragma once

#include "katana/data/container/findings.hpp"
#include "katana/http/handlers/problem_type.hpp"

namespace katana::detail {

// A problem of that type with the findings as `errors` (the example of RFC 9457 §3).
Reply fault_problem(const ProblemType& type, Bytes detail, const container::Findings& findings);

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
