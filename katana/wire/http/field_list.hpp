// Comma-separated field values (RFC 9110 §5.6.1), such as those of Connection and Accept.
//
// Owns      nothing.
// Borrows   the value, for as long as the reader or an element of it is used.
// Thread    its user's only.
// Allocates never.
// Fails     never: every value is a list. A quote that is not closed lasts until the end.
// Invariant an element is never empty, and has no whitespace at either end.
//
// A comma within a quoted-string (RFC 9110 §5.6.4) belongs to its element, and so does the
// character after a backslash there. Entity tags are quoted by another rule (RFC 9110 §8.8.3: a
// backslash is an ordinary character). This reader is therefore not for If-Match and If-None-Match.
#pragma once

#include <cstddef>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::http {

// Reads the elements of one list, from the first to the last.
class ListReader {
 public:
  constexpr explicit ListReader(Bytes value) noexcept : rest_(value) {}

  // The next element, as sent, quotes included. False at the end; `element` is then unchanged.
  constexpr bool next(Bytes& element) noexcept {
    while (!rest_.empty() && (is_space(rest_.front()) || rest_.front() == ',')) {
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) return false;
    std::size_t size = size_to_comma();
    const std::size_t consumed = size;
    while (is_space(rest_[size - 1])) --size;
    element = Bytes{rest_.data(), size};
    rest_.remove_prefix(consumed);
    return true;
  }

 private:
  // OWS, RFC 9110 §5.6.3.
  static constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

  // The distance to the first comma that is not quoted, or to the end.
  [[nodiscard]] constexpr std::size_t size_to_comma() const noexcept {
    std::size_t index = 0;
    while (index < rest_.size() && rest_[index] != ',') {
      index = rest_[index] == '"' ? end_of_quotes(index) : index + 1;
    }
    return index;
  }

  // The index behind the quoted-string that opens at `quote`, or the end.
  [[nodiscard]] constexpr std::size_t end_of_quotes(std::size_t quote) const noexcept {
    for (std::size_t index = quote + 1; index < rest_.size(); ++index) {
      if (rest_[index] == '"') return index + 1;
      if (rest_[index] == '\\') ++index;
    }
    return rest_.size();
  }

  Bytes rest_;
};

// True when one whole element is `token`, ignoring case: "close;x" is not "close".
[[nodiscard]] constexpr bool list_contains_token(Bytes value, Bytes token) noexcept {
  ListReader elements(value);
  Bytes element;
  while (elements.next(element)) {
    if (equals_ignoring_case(element, token)) return true;
  }
  return false;
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
