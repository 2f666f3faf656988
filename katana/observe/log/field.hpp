// field() and rendered(): values that a record carries besides the arguments of its pattern.
//
//   logger.info("request done", field("status", 200), field("path", path));
//   logger.debug("peer {}", rendered(address));    // any type that fmt can format
//
// Owns       a Field refers to its value; a Rendered<> keeps its formatted text.
// Borrows    the value, until the record is made (the end of the full expression).
// Thread     the caller's.
// Allocates  never. rendered() formats at the call, into its own buffer.
// Fails      never: text that does not fit into a Rendered<> is cut, and marked as cut.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cstddef>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/format.hpp"

namespace katana::log {

// A name that is a literal: records keep its address, not its bytes.
class FieldName {
 public:
  template <std::size_t size>
  consteval FieldName(const char (&literal)[size]) : text_(literal) {
    static_assert(size > 1, "a field needs a name");
  }
  constexpr const char* text() const noexcept { return text_; }  // ends with a null

 private:
  const char* text_;
};

// A named value of a record. Refers to name and value until the record is made.
template <class T>
struct Field {
  const char* name;  // a literal
  const T& value;    // captured when the record is made
};

template <class T>
constexpr Field<T> field(FieldName name, const T& value) noexcept {
  return {name.text(), value};
}

inline constexpr std::size_t rendered_bytes_default = 256;  // of rendered(); longer text is cut

// Text that the caller has formatted; at most bytes_max bytes are kept.
template <std::size_t bytes_max>
struct Rendered {
  std::array<char, bytes_max> octets;  // the first min(size, bytes_max) count
  std::size_t size = 0;                // of the whole text, kept or not
  // The part that fitted.
  constexpr Bytes kept() const noexcept { return {octets.data(), std::min(size, bytes_max)}; }
  constexpr bool cut() const noexcept { return size > bytes_max; }  // not all of it fitted
};

// The only place where the caller's thread formats, at its own request.
template <std::size_t bytes_max = rendered_bytes_default, class T>
Rendered<bytes_max> rendered(const T& value) {
  Rendered<bytes_max> text;
  text.size = fmt::format_to_n(text.octets.data(), bytes_max, "{}", value).size;
  return text;
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
