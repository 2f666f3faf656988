// Result<T>: a value, or an Error that says what happened, to which input, and what to do next.
//
// Owns       a share of its messages: a copy, and a wider error, share the chain of causes.
// Allocates  nothing for success or for an Error of a code alone; the heap for messages and causes.
// Thread     a value: move it where you like.
// Fails      never directly.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "katana/base/system/hints.hpp"

namespace katana {

// Kinds of errors, by what the caller can do about them.
enum class Code : std::uint8_t {
  invalid_argument,    // the caller's input is wrong; the message names it
  not_found,           // what the call names does not exist
  already_exists,      // what the call would make exists
  out_of_range,        // a value beyond its limits
  resource_exhausted,  // a configured limit was reached
  permission_denied,   // the caller is known and has not the right
  unauthenticated,     // the client has not identified itself, or not proved it
  unavailable,         // may work later
  deadline_exceeded,   // no result before the deadline
  cancelled,           // the caller gave up
  unsupported,         // not on this machine or in this build
  data_loss,           // stored data is damaged or missing
  internal,            // a defect of the program or the library
};

// "not_found", for logs and metrics.
std::string_view code_name(Code code) noexcept;

// A Code with a message and, if another error was the reason, its cause. One pointer in size.
class Error {
 public:
  explicit Error(Code code) noexcept : word_(static_cast<std::uintptr_t>(code) << 1 | code_bit) {}
  Error(Code code, std::string message);
  Error(const Error& other) noexcept : word_(other.word_) {
    if (has_detail()) [[unlikely]]
      share();
  }
  Error(Error&& other) noexcept : word_(std::exchange(other.word_, moved_from)) {}
  Error& operator=(const Error& other) noexcept { return *this = Error(other); }
  Error& operator=(Error&& other) noexcept {
    std::swap(word_, other.word_);
    return *this;
  }
  ~Error() {
    if (has_detail()) [[unlikely]]
      release();
  }

  // For decisions in a program; message() is for people.
  Code code() const noexcept {
    return has_detail() ? detail_code() : static_cast<Code>(word_ >> 1);
  }
  // The outermost message; the code's name when there is none.
  std::string_view message() const noexcept KATANA_VIEW;
  // This error as the cause of a wider one: `error.within("open database 'a.db'")`.
  Error within(std::string context) const;
  // Every message from the outermost to the root cause, joined by ": ".
  std::string describe() const;

 private:
  struct Detail;
  // A code alone is the word itself, marked; else the word is the address of a counted Detail. So
  // a Result has no more to move, and no more to destroy, than one word.
  static constexpr std::uintptr_t code_bit = 1;
  static constexpr std::uintptr_t moved_from =
      static_cast<std::uintptr_t>(Code::internal) << 1 | code_bit;

  explicit Error(const Detail* detail) noexcept : word_(reinterpret_cast<std::uintptr_t>(detail)) {}
  bool has_detail() const noexcept { return (word_ & code_bit) == 0; }
  const Detail* detail() const noexcept;
  Code detail_code() const noexcept;
  void share() const noexcept;
  KATANA_RARE void release() noexcept;

  std::uintptr_t word_;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code) { return std::unexpected(Error(code)); }
// Out of line, so that a function that may fail saves no registers for what it does when it has.
KATANA_RARE std::unexpected<Error> fail(Code code, const char* message);
KATANA_RARE std::unexpected<Error> fail(Code code, const std::string& message);
KATANA_RARE std::unexpected<Error> fail(Code code, std::string&& message);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
