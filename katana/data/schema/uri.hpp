// URI references: what `$id` and `$ref` say, and what they mean beside a base.
//
// Thread     any.
// Allocates  the result.
// Fails      never: what is no URI is taken as a path.
// Source     RFC 3986 §5.2.
#pragma once

#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::schema {

// `reference` beside `base`, without dot segments. The fragment is the reference's.
std::string resolve_uri(Bytes base, Bytes reference);
// In front of the '#', and behind it with its percent-encoding resolved.
Bytes without_fragment(Bytes uri) noexcept;
std::string fragment_of(Bytes uri);

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
