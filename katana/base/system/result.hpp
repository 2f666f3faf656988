// Result<T>: a value, or an Error that names the problem, the input, and the next step.
//
// Owns       a share of its messages: a copy and a wider error share the chain of causes.
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
  not_found,           // the named object does not exist
  already_exists,      // the object that the call would create exists already
  out_of_range,        // a value beyond its limits
  resource_exhausted,  // a configured limit was reached
  permission_denied,   // the caller is known but lacks the right
  unauthenticated,     // the client has not identified itself, or has not proved its identity
  unavailable,         // a retry may succeed later
  deadline_exceeded,   // no result before the deadline
  cancelled,           // the caller gave up
  unsupported,         // not on this machine or in this build
  data_loss,           // stored data is damaged or missing
  internal,            // a defect of the program or the library
};

// The name of the code for logs and metrics: "not_found".
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

  // The code, for decisions in a program; message() is for people.
  Code code() const noexcept {
    return has_detail() ? detail_code() : static_cast<Code>(word_ >> 1);
  }
  // The outermost message; the code's name when there is none.
  std::string_view message() const noexcept KATANA_VIEW;
  // Returns a wider error with this one as its cause: `error.within("open database 'a.db'")`.
  Error within(std::string context) const;
  // Every message from the outermost to the root cause, joined by ": ".
  std::string describe() const;

 private:
  struct Detail;
  // The word is a code with a mark bit, or the address of a reference-counted Detail. A Result then
  // moves and destroys only one word.
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
// Out of line: a function that may fail then saves no registers for its error path.
KATANA_RARE std::unexpected<Error> fail(Code code, const char* message);
KATANA_RARE std::unexpected<Error> fail(Code code, const std::string& message);
KATANA_RARE std::unexpected<Error> fail(Code code, std::string&& message);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
