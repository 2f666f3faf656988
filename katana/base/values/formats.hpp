// Formats: text that has its own form beyond its length.
//
// Thread     any.
// Allocates  never.
// Fails      never: what is none is false.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana {

// email: at most 254 bytes. uuid: RFC 9562. date_time and date: RFC 3339.
enum class Format : std::uint8_t { none, email, uuid, date_time, date };

// What `format` is called in a message: "an e-mail address".
Bytes format_words(Format format) noexcept;
bool is_format(Format format, Bytes text) noexcept;

// One address as HTML forms accept it (ASCII, no quoted local part, no address literal), within
// the limits of RFC 5321 §4.5.3.1: 64 bytes before the @, 254 in all.
bool is_email(Bytes text) noexcept;
// 8-4-4-4-12 hexadecimal digits in either case (RFC 9562 §4).
bool is_uuid(Bytes text) noexcept;
// date-time of RFC 3339 §5.6, a day that exists; second 60 only where a leap second may stand.
bool is_date_time(Bytes text) noexcept;
// full-date of RFC 3339 §5.6.
bool is_date(Bytes text) noexcept;

// Characters of well-formed UTF-8.
std::size_t count_code_points(Bytes text) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
