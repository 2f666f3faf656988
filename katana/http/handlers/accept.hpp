// Accept: whether a client takes content of a type (RFC 9110 §12.5.1).
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never: what is malformed in the field is passed over.
// Invariant  the most specific range that fits decides; no field at all takes everything.
#pragma once

#include <optional>

#include "katana/base/text/bytes.hpp"

namespace katana {

// `type` without parameters: "application/json". Parameters of a range but its weight do not count.
bool accepts(std::optional<Bytes> field, Bytes type) noexcept;

// Whether a client takes a page rather than JSON, as a browser does that follows a link: the field
// names text/html, and JSON has less weight or is not named. False without a field.
bool prefers_html(std::optional<Bytes> field) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
