// Command: a command of Redis: a name and its arguments, as bytes that are sent as they are.
//
//   redis::Command command("SET", key, value, "PX", 1500);
//   for (const Row& row : rows) command.add(row.text());
//
// Owns       copies of the arguments.
// Thread     a value; move-only.
// Allocates  from the recycler, as it grows.
// Fails      never: arguments are counted bytes, so none can become another argument or command.
// Invariant  it has a name.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"

namespace katana::redis {

// A name of Redis; `upper` is in capitals.
bool equals_ignoring_case(Bytes name, Bytes upper) noexcept;

class Command {
 public:
  // The name is a literal, as of a command of Redis.
  template <class... Arguments>
  explicit Command(std::string_view name, const Arguments&... arguments) : Command(name, nullptr) {
    (add(arguments), ...);
  }
  Command(Command&&) noexcept = default;
  Command& operator=(Command&&) noexcept = default;

  // Appends a copy of one argument, which may be any bytes.
  Command& add(Bytes argument);
  // Appends the text without the terminating zero.
  Command& add(const char* argument) { return add(Bytes(argument)); }
  // Appends the number in decimal digits; a floating-point number with enough of them to read back
  // the same.
  template <class Number>
    requires(std::is_arithmetic_v<Number> && !std::same_as<Number, bool> &&
             !std::same_as<Number, char>)
  Command& add(Number number) {
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    return add(Bytes(text, static_cast<std::size_t>(end - text)));
  }

  // The name, for messages, and for the check of commands that must not be sent.
  Bytes name() const noexcept;
  // "RESET" in SCRIPT RESET; empty: it has no argument.
  Bytes first_argument() const noexcept;
  // True when one of the arguments is `upper`, in any case of letters.
  bool has_argument(Bytes upper) const noexcept;
  std::uint32_t argument_count() const noexcept { return count_ - 1; }
  std::size_t wire_bytes() const noexcept;
  // The bytes to send; valid until the next call of a member that is not const.
  Bytes wire() noexcept;

  // Gives its memory back; only the destructor may follow.
  void release() noexcept { text_ = Text(); }

  // Another command, by its name and its first argument, with the arguments behind them.
  Command renamed(Bytes name, Bytes first_argument) const;

 private:
  struct Raw {};
  Command(std::string_view name, std::nullptr_t);
  Command(Raw, Text text, std::uint32_t count) noexcept : text_(std::move(text)), count_(count) {}

  Text text_;  // room for a header, and the parts
  std::uint32_t count_ = 0;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
