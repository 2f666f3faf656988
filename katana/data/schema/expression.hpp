// Expression: a regular expression of ECMA 262, as `pattern` and `patternProperties` have it.
//
// An Automaton decides in time proportional to the text. An expression that it does not know, one
// that refers back or looks ahead or behind, is for PCRE2, which goes back as often as the budget
// lets it.
//
// Owns       what PCRE2 compiled, and the automaton. The memory of a match is the thread's.
// Thread     any, at once.
// Allocates  compile(); the first match of a thread; find() where the automaton has no table.
// Fails      compile() with an Error that says where in the expression. find() is `costly` when the
//            budget has not enough steps, so that no text can stop a reactor.
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
  // `text` is UTF-8.
  static Result<Expression> compile(Bytes text);
  // Whether compile() would take it; costs less.
  static bool is_valid(Bytes text, StepBudget& budget);
  // Anywhere in the text. Text that is not UTF-8 does not match.
  Found find(Bytes text, StepBudget& budget) const;
  // Its time is proportional to the text.
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

  CodePointer code_;  // of an automaton's nothing; matches at its offset alone
  std::optional<Automaton> automaton_;
  bool is_anchored_;  // it matches at the begin of a text or nowhere
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
