// Result<T>: a value, or an Error that says what happened, to which input, and what to do next.
//
// Owns       the message; a chain of causes is shared, never copied.
// Allocates  nothing for success or for an Error of a code alone; the heap for messages and causes.
// Thread     a value: move it where you like.
// Fails      never by itself.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace katana {

enum class Code : std::uint8_t {
  invalid_argument,  // the caller's input is wrong; the message names it
  not_found,
  already_exists,
  out_of_range,
  resource_exhausted,  // a configured limit was reached
  permission_denied,
  unavailable,  // may work later
  deadline_exceeded,
  cancelled,
  unsupported,  // not on this machine or in this build
  data_loss,
  internal,
};

std::string_view code_name(Code code) noexcept;

class Error {
 public:
  explicit Error(Code code) noexcept : code_(code) {}
  Error(Code code, std::string message);

  Code code() const noexcept { return code_; }
  // The outermost message; the code's name when there is none.
  std::string_view message() const noexcept;
  // This error as the cause of a wider one: `error.within("open database 'a.db'")`.
  Error within(std::string context) const;
  // Every message from the outermost to the root cause, joined by ": ".
  std::string describe() const;

 private:
  struct Detail {
    std::string message;
    std::shared_ptr<const Detail> cause;
  };
  Code code_;
  std::shared_ptr<const Detail> detail_;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code) { return std::unexpected(Error(code)); }
inline std::unexpected<Error> fail(Code code, std::string message) {
  return std::unexpected(Error(code, std::move(message)));
}

}  // namespace katana
