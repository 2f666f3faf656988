// The input is an expression and a text, with a line end between them. An automaton gives the
// answer of PCRE2, within a budget that is proportional to the text.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cstdint>

#include "katana/base/system/check.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/data/schema/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  const Bytes input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const Bytes expression = input.substr(0, end);
  const Bytes text = input.substr(std::min(end + 1, input.size()));
  const auto made = schema::Expression::compile(expression);
  StepBudget budget(100'000);
  KATANA_CHECK(schema::Expression::is_valid(expression, budget) == made.has_value() ||
               budget.is_spent());
  if (!made || !is_utf8(text)) return 0;
  StepBudget steps(StepBudget::for_bytes(text.size(), 100'000));
  const schema::Found found = made->find(text, steps);
  // PCRE2 does not repeat a class of nothing.
  if (!made->is_linear() || found == schema::Found::costly || expression.contains("[]")) return 0;
  pcre2_compile_context* const context = pcre2_compile_context_create(nullptr);
  pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  int error = 0;
  std::size_t offset = 0;
  pcre2_code* const code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                    PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS |
                        PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C,
                    &error, &offset, context);
  pcre2_match_data* const match = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* const limits = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(limits, 10'000);
  const int wanted = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                                 match, limits);
  if (wanted >= 0) KATANA_CHECK(found == schema::Found::yes);
  if (wanted == PCRE2_ERROR_NOMATCH) KATANA_CHECK(found == schema::Found::no);
  pcre2_match_context_free(limits);
  pcre2_match_data_free(match);
  pcre2_code_free(code);
  pcre2_compile_context_free(context);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
