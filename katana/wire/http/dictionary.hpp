// Dictionaries of structured fields (RFC 9651 §3.2), such as CDN-Cache-Control.
//
// Owns      nothing.
// Borrows   the value, for as long as the reader or a member of it is used.
// Thread    its user's only.
// Allocates never.
// Fails     is_malformed(): then the whole field is to be ignored, the members before the mistake
//           included.
// Invariant next() is false for ever after the end or a mistake.
//
//   http::DictionaryReader members(value);
//   for (http::DictionaryMember member; members.next(member);) …
//   if (members.is_malformed()) …
//
// A key may come twice; the last one counts (§4.2.2). Parameters are read and left out.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::http {

// A key with its value.
struct DictionaryMember {
  // Strings, tokens, decimals, bytes, dates and inner lists are `other`.
  enum class Kind : std::uint8_t { integer, boolean, other };

  Bytes key;                  // in lower case
  Kind kind = Kind::boolean;  // of the value
  std::int64_t integer = 0;   // if it is one
  bool boolean = true;        // if it is one; a key without a value is true

  // Whether `integer` is the value.
  bool is_integer() const noexcept { return kind == Kind::integer; }
  // Whether `boolean` is the value.
  bool is_boolean() const noexcept { return kind == Kind::boolean; }
};

// Reads the members of one field line, from the first to the last.
class DictionaryReader {
 public:
  explicit DictionaryReader(Bytes value) noexcept;

  // The next member. False at the end, and at a mistake.
  bool next(DictionaryMember& member) noexcept;
  // Whether next() has met a mistake.
  bool is_malformed() const noexcept { return is_malformed_; }

 private:
  bool take(char c) noexcept;
  void skip_spaces() noexcept;
  bool take_key(Bytes& key) noexcept;
  bool take_value(DictionaryMember& member) noexcept;
  bool take_bare(DictionaryMember& member) noexcept;
  bool take_number(DictionaryMember& member) noexcept;
  bool take_quoted(bool is_display) noexcept;
  bool take_bytes() noexcept;
  bool take_parameters() noexcept;
  bool take_inner_list() noexcept;
  bool take_comma() noexcept;

  Bytes rest_;
  bool is_malformed_ = false;
};

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
