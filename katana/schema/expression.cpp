#define PCRE2_CODE_UNIT_WIDTH 8
#include "katana/schema/expression.hpp"

#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <string>

namespace katana::schema {

namespace {

// What a thread matches with: PCRE2 fills them in.
struct Memory {
  Memory()
      : data(pcre2_match_data_create(1, nullptr)), context(pcre2_match_context_create(nullptr)) {
    if (context != nullptr) {
      pcre2_set_match_limit(context, Expression::steps_max);
      pcre2_set_depth_limit(context, 10'000);
      pcre2_set_heap_limit(context, 1024);  // KiB
    }
  }
  ~Memory() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  pcre2_match_data* data;
  pcre2_match_context* context;
};

}  // namespace

void Expression::Free::operator()(void* code) const noexcept {
  pcre2_code_free(static_cast<pcre2_code*>(code));
}

Result<Expression> Expression::compile(Bytes text) {
  pcre2_compile_context* const context = pcre2_compile_context_create(nullptr);
  if (context == nullptr) return fail(Code::resource_exhausted, "no memory for an expression");
  pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
  int error = 0;
  std::size_t offset = 0;
  // `$` is the end of the text alone, \u{…} a character, and [] nothing, as ECMA 262 has it.
  pcre2_code* const code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                    PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS |
                        PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C,
                    &error, &offset, context);
  pcre2_compile_context_free(context);
  if (code != nullptr) {
    (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // without it it is interpreted
    return Expression(code);
  }
  std::array<PCRE2_UCHAR, 256> words{};
  pcre2_get_error_message(error, words.data(), words.size());
  return fail(Code::invalid_argument,
              fmt::format("the regular expression '{}' is not valid at character {}: {}", text,
                          offset + 1, reinterpret_cast<const char*>(words.data())));
}

Found Expression::find(Bytes text) const noexcept {
  static thread_local const Memory memory;
  if (memory.data == nullptr || memory.context == nullptr) return Found::costly;
  const int found = pcre2_match(static_cast<const pcre2_code*>(code_.get()),
                                reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                                memory.data, memory.context);
  if (found >= 0) return Found::yes;
  return found == PCRE2_ERROR_NOMATCH ? Found::no : Found::costly;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
