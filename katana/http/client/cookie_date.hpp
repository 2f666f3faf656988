// Dates of cookies (RFC 6265 §5.1.1): whatever order, separators and case a server writes them in.
//
// Borrows   its argument for the call.
// Thread    any; there is no state.
// Allocates never.
// Fails     nullopt for what has no time, day, month and year, or one that does not exist.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/text/bytes.hpp"

namespace katana::client {

// The seconds since 1970, negative before; years are 1601 and later.
std::optional<std::int64_t> parse_cookie_date(Bytes text) noexcept;

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
