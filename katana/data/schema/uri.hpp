// URI references of `$id` and `$ref`, and their resolution against a base.
//
// Thread     any.
// Allocates  the result.
// Fails      never: text that is no URI is treated as a path.
// Source     RFC 3986 §5.2.
#pragma once

#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::schema {

// Resolves `reference` against `base`, without dot segments. The fragment is that of `reference`.
std::string resolve_uri(Bytes base, Bytes reference);
// The part in front of the '#', and the part behind it without percent-encoding.
Bytes without_fragment(Bytes uri) noexcept;
std::string fragment_of(Bytes uri);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
