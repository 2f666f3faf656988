// Conditional requests (RFC 9110 §13) against what a resource is at present.
//
// Owns      nothing.
// Borrows   its arguments for the call.
// Thread    any; there is no state.
// Allocates never.
// Fails     never: a malformed condition is one that does not hold, and a malformed date is none.
// Invariant the order of evaluation is that of §13.2.2, whatever the order of the fields.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::http {

// What identifies the selected representation.
struct Validators {
  Bytes entity_tag;  // as in an ETag field: with quotes, and with W/ when it is weak
  // Unix time. Empty: it is not known, and conditions on it count for nothing (RFC 9110 §13.1.3).
  std::optional<std::int64_t> modified_s = {};
  bool is_strong = false;  // the date changes whenever a single byte does
};

//   proceed            the request is to be served
//   not_modified       304: the client has it already
//   failed             412: it is not what the client takes it for
enum class Condition : std::uint8_t { proceed, not_modified, failed };

// If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since of a request for a
// representation that exists. OPTIONS, TRACE and CONNECT, which select none, have no conditions.
[[nodiscard]] Condition evaluate_conditions(const Head& head, const Validators& now) noexcept;

// If-Range: whether a Range field counts. True also without one.
[[nodiscard]] bool range_applies(const Head& head, const Validators& now) noexcept;

// The value of a field that may stand once. Empty: it is missing, or given several times.
[[nodiscard]] std::optional<Bytes> find_only(const Head& head, Bytes name) noexcept;

// Whether the two are the same entity tag (§8.8.3.2). Strongly: and neither of them is weak.
[[nodiscard]] bool matches_strongly(Bytes left, Bytes right) noexcept;
[[nodiscard]] bool matches_weakly(Bytes left, Bytes right) noexcept;

// Walks a list of entity tags, in which a backslash is an ordinary character and a comma may be
// quoted. Ends at the first element that is none.
class EntityTagReader {
 public:
  constexpr explicit EntityTagReader(Bytes value) noexcept : rest_(value) {}
  // False at the end; `tag` is then unchanged.
  bool next(Bytes& tag) noexcept;

 private:
  Bytes rest_;
};

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
