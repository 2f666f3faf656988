// Lint: coroutines that use what is gone, and expressions with co_await that g++ 12 compiles
// wrongly, found in the tokens of a source.
//
// g++ 12 destroys some temporaries of an awaited expression twice, without a message: the program
// dies later, in a destructor (docs/concepts/lifetimes.md). The last two rules hold for all
// compilers. The rules know no types. They also name some expressions that are sound. A comment
// `katana-lint: allow RULE` on the line, or alone on the line before, permits such an expression.
//
//   conditional-await     `a ? b : co_await c`
//   conditional-argument  `co_await f(a ? g() : "text")`
//   captured-lambda       `co_await f([x = std::move(x)] { … })`
//   default-braces        `Task<void> f(Options options = {})`
//   kept-reference        `router.get("/", [&]() -> Task<Reply> { … })`
//   temporary-lambda      `spawn([x]() -> Task<void> { … }())`
//
// Owns       nothing.
// Thread     any.
// Allocates  tokens and findings.
// Fails      never: code that it does not understand has no findings.
// Source     decision 0018.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/values/described.hpp"

namespace katana::tool::lint {

struct Finding {
  std::string file;
  std::size_t line = 0;    // from 1
  std::size_t column = 0;  // from 1
  std::string rule;
  std::string message;  // the mistake, and the remedy
};
KATANA_DESCRIBE(Finding, file, line, column, rule, message)

// In the order of the source.
std::vector<Finding> lint_source(std::string_view source, const std::string& file);

}  // namespace katana::tool::lint

// SPDX-License-Identifier: Apache-2.0
