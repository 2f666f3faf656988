// Conditional requests (RFC 9110 §13) against the present state of a resource.
//
// Owns      nothing.
// Borrows   its arguments for the call.
// Thread    any; there is no state.
// Allocates coded_tag(): its text.
// Fails     never: a malformed condition does not hold, and a malformed date is ignored.
// Invariant the order of evaluation is that of §13.2.2, whatever the order of the fields.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::http {

// The validators of the selected representation (RFC 9110 §8.8).
struct Validators {
  Bytes entity_tag;  // as in an ETag field: with quotes, and with W/ when it is weak
  // Unix time. Empty: the date is not known, and conditions on it are ignored (RFC 9110 §13.1.3).
  std::optional<std::int64_t> modified_s = {};
  bool is_strong = false;  // the date changes whenever a single byte does
  // The tag names the state of the resource, which its compressed representations share. Tags that
  // coded_tag() makes of it then match, too.
  bool is_version = false;
};

//   proceed            the request is to be served
//   not_modified       304: the client has it already
//   failed             412: the resource is not in the state that the client expects
enum class Condition : std::uint8_t { proceed, not_modified, failed };

// If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since of a request for a
// representation that exists. OPTIONS, TRACE and CONNECT, which select none, have no conditions.
// `matched` becomes the tag of If-None-Match that is the present one, unless it is "*".
[[nodiscard]] Condition evaluate_conditions(const Head& head, const Validators& now,
                                            Bytes* matched = nullptr) noexcept;

// The headers of conditions (RFC 9110 §13.1) without If-Range.
enum class ConditionField : std::uint8_t {
  if_match,             // §13.1.1
  if_none_match,        // §13.1.2
  if_modified_since,    // §13.1.3
  if_unmodified_since,  // §13.1.4
};
// One line of a request whose name is a ConditionField.
struct ConditionLine {
  ConditionField field = {};  // its name
  Bytes value;                // without spaces around it
};
// Ignores case. Nothing for a name that is none of them.
[[nodiscard]] std::optional<ConditionField> condition_field(Bytes name) noexcept;

// The same for lines that were kept from a request. `is_read`: its method is GET or HEAD. `now` is
// null where there is no representation: If-Match then fails and If-None-Match holds, "*" included.
[[nodiscard]] Condition evaluate_conditions(std::span<const ConditionLine> lines, bool is_read,
                                            const Validators* now,
                                            Bytes* matched = nullptr) noexcept;

// The strong tag of a version in a content coding: "7" is "7+gzip". The version has no '+'.
[[nodiscard]] Text coded_tag(Bytes tag, Bytes coding);

// If-Range: whether a Range field counts. True also without one.
[[nodiscard]] bool range_applies(const Head& head, const Validators& now) noexcept;

// The value of a field that may stand once. Empty: it is missing, or given several times.
[[nodiscard]] std::optional<Bytes> find_only(const Head& head, Bytes name) noexcept;

// Whether the two are the same entity tag (§8.8.3.2). Strongly: and neither of them is weak.
[[nodiscard]] bool matches_strongly(Bytes left, Bytes right) noexcept;
[[nodiscard]] bool matches_weakly(Bytes left, Bytes right) noexcept;

// Walks a list of entity tags, in which a backslash is an ordinary character and a comma may be
// quoted. Ends at the first element that is no entity tag.
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
