// HTTP dates (RFC 9110 §5.6.7), by arithmetic on the Gregorian calendar: no libc, locale or zone.
//
// Owns      nothing.
// Borrows   its arguments for the call.
// Thread    any; there is no state.
// Allocates never.
// Fails     parse_date() is nullopt for text that is not a date; format_date() cannot fail.
// Invariant parse_date(format_date(s)) == s for every second from 1970 to 9999.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "katana/base/text/bytes.hpp"

namespace katana::http {

inline constexpr std::size_t date_bytes = 29;  // of "Sun, 06 Nov 1994 08:49:37 GMT"

// The last second that fits: Fri, 31 Dec 9999 23:59:59 GMT.
inline constexpr std::int64_t date_seconds_max = 253'402'300'799;

// Writes an IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT". Times outside 1970 to 9999, which a file
// may carry, are written as the nearest one inside.
void format_date(std::int64_t unix_seconds, std::span<char, date_bytes> out) noexcept;

// 2025-01-01, the `now` of parse_date() where the caller has no better one.
inline constexpr std::int64_t two_digit_year_reference_seconds = 1'735'689'600;

// The seconds since 1970, negative before, of an IMF-fixdate, an RFC 850 date or an asctime date;
// names are case-sensitive. The name of the day must be one, but need not be the right one. The
// leap second 23:59:60 is the second after 23:59:59. The two-digit year of an RFC 850 date is the
// last one that is not more than 50 years after `now`.
[[nodiscard]] std::optional<std::int64_t> parse_date(
    Bytes text, std::int64_t now_unix_seconds = two_digit_year_reference_seconds) noexcept;

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
