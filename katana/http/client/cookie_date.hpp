// Dates of cookies (RFC 6265 §5.1.1), in any order, with any separators and in any case.
//
// Borrows   its argument for the call.
// Thread    any; there is no state.
// Allocates never.
// Fails     nullopt for a text without time, day, month and year, or with one that does not exist.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/text/bytes.hpp"

namespace katana::client {

// Returns the seconds since 1970, negative before; years are 1601 and later.
std::optional<std::int64_t> parse_cookie_date(Bytes text) noexcept;

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
