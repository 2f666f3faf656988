#define PCRE2_CODE_UNIT_WIDTH 8
#include "katana/data/schema/expression.hpp"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "katana/base/text/utf8.hpp"

namespace katana::schema {

namespace {

// PCRE2 counts backtracking points, and not the characters that it passes over from there.
constexpr std::size_t bytes_passed_per_step = 256;
constexpr std::uint64_t matches_per_step = 2;
constexpr std::uint32_t matches_first = 8;         // a limit that is enough for most texts
constexpr std::uint32_t matches_max = 16'000'000;  // PCRE2's own is 10,000,000
// The steps to compile the smallest expression, and the most steps per byte, for nested counts.
constexpr std::uint64_t steps_of_compiling = 2'000;
constexpr std::uint64_t steps_of_a_byte = 4;

// The memory with which a thread matches; PCRE2 fills it.
struct Memory {
  Memory()
      : data(pcre2_match_data_create(1, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        stack(pcre2_jit_stack_create(32 * 1024, 1024 * 1024, nullptr)) {
    if (context != nullptr) {
      pcre2_set_depth_limit(context, 10'000);
      pcre2_set_heap_limit(context, 1024);  // KiB
      if (stack != nullptr) pcre2_jit_stack_assign(context, nullptr, stack);
    }
  }
  ~Memory() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  pcre2_match_data* data;
  pcre2_match_context* context;
  pcre2_jit_stack* stack;
};

}  // namespace

void Expression::Free::operator()(void* code) const noexcept {
  pcre2_code_free(static_cast<pcre2_code*>(code));
}

Result<Expression::CodePointer> Expression::compile_code(Bytes text, bool is_anchored) {
  pcre2_compile_context* const context = pcre2_compile_context_create(nullptr);
  if (context == nullptr) return fail(Code::resource_exhausted, "no memory for an expression");
  pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  int error = 0;
  std::size_t offset = 0;
  // `$` is the end of the text alone, \u{…} a character, and [] nothing, as ECMA 262 has it.
  pcre2_code* const code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
      PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS |
          PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C | (is_anchored ? PCRE2_ANCHORED : 0U),
      &error, &offset, context);
  pcre2_compile_context_free(context);
  if (code != nullptr) return CodePointer(code);
  std::array<PCRE2_UCHAR, 256> words{};
  pcre2_get_error_message(error, words.data(), words.size());
  return fail(Code::invalid_argument,
              fmt::format("the regular expression '{}' is not valid at character {}: {}", text,
                          offset + 1, reinterpret_cast<const char*>(words.data())));
}

Result<Expression> Expression::compile(Bytes text) {
  auto code = compile_code(text, false);
  if (!code) return std::unexpected(code.error());
  if (auto automaton = Automaton::compile(text)) return Expression({}, std::move(automaton), false);
  std::uint32_t options = 0;
  const auto* const compiled = static_cast<const pcre2_code*>(code->get());
  (void)pcre2_pattern_info(compiled, PCRE2_INFO_ALLOPTIONS, &options);
  const bool is_anchored = (options & PCRE2_ANCHORED) != 0;
  if (!is_anchored) {
    code = compile_code(text, true);
    if (!code) return std::unexpected(code.error());
  }
  // Without JIT the expression is interpreted.
  (void)pcre2_jit_compile(static_cast<pcre2_code*>(code->get()), PCRE2_JIT_COMPLETE);
  return Expression(*std::move(code), std::nullopt, is_anchored);
}

bool Expression::is_valid(Bytes text, StepBudget& budget) {
  return budget.take(steps_of_compiling + text.size() * steps_of_a_byte) &&
         compile_code(text, false).has_value();
}

Found Expression::find(Bytes text, StepBudget& budget) const {
  return automaton_ ? automaton_->find(text, budget) : find_by_code(text, budget);
}

Found Expression::find_by_code(Bytes text, StepBudget& budget) const {
  if (!budget.take(1 + text.size() / bytes_passed_per_step)) return Found::costly;
  if (!is_utf8(text)) return Found::no;
  for (std::size_t offset = 0;;) {
    const Found found = match_at(text, offset, budget);
    if (found != Found::no || is_anchored_ || offset == text.size()) return found;
    offset += utf8_length(text.substr(offset));
  }
}

// Tries again with a higher limit, because PCRE2 does not report the used part of a limit.
Found Expression::match_at(Bytes text, std::size_t offset, StepBudget& budget) const {
  static thread_local const Memory memory;
  if (memory.data == nullptr || memory.context == nullptr) return Found::costly;
  const std::uint64_t of_each = 1 + (text.size() - offset) / bytes_passed_per_step;
  std::uint64_t limit = matches_first;
  bool is_known = false;
  Found found = Found::costly;
  while (!is_known) {
    // Uses all that is left: it may be enough.
    limit =
        std::min<std::uint64_t>({limit, matches_max, budget.left() / of_each * matches_per_step});
    if (limit == 0) return (void)budget.take(budget.left() + 1), Found::costly;
    pcre2_set_match_limit(memory.context, static_cast<std::uint32_t>(limit));
    const int matched = pcre2_match(static_cast<const pcre2_code*>(code_.get()),
                                    reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), offset,
                                    PCRE2_NO_UTF_CHECK, memory.data, memory.context);
    if (matched >= 0) found = Found::yes;
    if (matched == PCRE2_ERROR_NOMATCH) found = Found::no;
    const bool may_go_on = matched == PCRE2_ERROR_MATCHLIMIT && limit < matches_max;
    is_known = !may_go_on;
    if (!budget.take((limit + 1) / matches_per_step * of_each)) return Found::costly;
    limit *= 8;
  }
  return found;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
