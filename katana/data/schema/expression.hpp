// Expression: a regular expression of ECMA 262, for `pattern` and `patternProperties`.
//
// An Automaton decides in time proportional to the text. It does not know back references,
// lookahead and lookbehind. PCRE2 decides such expressions, and backtracks as far as the budget
// allows.
//
// Owns       the compiled code of PCRE2, and the automaton. The thread owns the memory of a match.
// Thread     any, at once.
// Allocates  compile(); the first match of a thread; find() where the automaton has no table.
// Fails      compile() with an Error that names the place in the expression. A search is `costly`
//            when the budget has too few steps: no text can block a reactor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/step_budget.hpp"
#include "katana/data/schema/automaton.hpp"

namespace katana::schema {

class Expression {
 public:
  // Compiles an expression. `text` is UTF-8.
  static Result<Expression> compile(Bytes text);
  // True if compile() would accept the text. It costs less than compile().
  static bool is_valid(Bytes text, StepBudget& budget);
  // Searches for a match anywhere in the text. Text that is not UTF-8 does not match.
  Found find(Bytes text, StepBudget& budget) const;
  // True if the time of find() is proportional to the text.
  bool is_linear() const noexcept { return automaton_.has_value(); }

 private:
  struct Free {
    void operator()(void* code) const noexcept;
  };
  using CodePointer = std::unique_ptr<void, Free>;
  Expression(CodePointer code, std::optional<Automaton> automaton, bool is_anchored) noexcept
      : code_(std::move(code)), automaton_(std::move(automaton)), is_anchored_(is_anchored) {}
  static Result<CodePointer> compile_code(Bytes text, bool is_anchored);
  Found find_by_code(Bytes text, StepBudget& budget) const;
  Found match_at(Bytes text, std::size_t offset, StepBudget& budget) const;

  CodePointer code_;  // null with an automaton; matches only at its offset
  std::optional<Automaton> automaton_;
  bool is_anchored_;  // it can match only at the begin of a text
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
