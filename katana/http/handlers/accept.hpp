// Accept: whether a client takes content of a type (RFC 9110 §12.5.1).
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never: malformed parts of the field are ignored.
// Invariant  the most specific range that fits decides; without a field every type is accepted.
#pragma once

#include <optional>

#include "katana/base/text/bytes.hpp"

namespace katana {

// `type` has no parameters: "application/json". The only parameter of a range that counts is its
// weight.
bool accepts(std::optional<Bytes> field, Bytes type) noexcept;

// Returns whether a client prefers a page to JSON, as a browser does that follows a link. The field
// then names text/html, and JSON has less weight or is not named. False without a field.
bool prefers_html(std::optional<Bytes> field) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
