// Expression: a regular expression of ECMA 262, as `pattern` and `patternProperties` have it, by
// PCRE2.
//
// Owns       what PCRE2 compiled. The memory of a match is the thread's.
// Thread     any, at once.
// Allocates  compile(); the first match of a thread.
// Fails      compile() with an Error that says where in the expression. find() is `costly` when a
//            text would take more than steps_max, so that none can stop a reactor.
#pragma once

#include <cstdint>
#include <memory>

#include "katana/base/bytes.hpp"
#include "katana/base/result.hpp"

namespace katana::schema {

// Whether a text matches.
enum class Found : std::uint8_t {
  no,      // nowhere
  yes,     // somewhere in it
  costly,  // not known: given up after steps_max
};

class Expression {
 public:
  // PCRE2's match limit, of one find().
  static constexpr std::uint32_t steps_max = 100'000;

  // `text` is UTF-8.
  static Result<Expression> compile(Bytes text);
  // Anywhere in the text, which is UTF-8.
  Found find(Bytes text) const noexcept;

 private:
  struct Free {
    void operator()(void* code) const noexcept;
  };
  explicit Expression(void* code) noexcept : code_(code) {}
  std::unique_ptr<void, Free> code_;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
