// Formats: checks of text with a standard form, such as e-mail addresses and dates.
//
// Thread     any.
// Allocates  never.
// Fails      never: the checks return false for other text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana {

// A format of text. email: at most 254 bytes. uuid: RFC 9562. date_time and date: RFC 3339.
enum class Format : std::uint8_t { none, email, uuid, date_time, date };

// The name of the format in a message: "an e-mail address".
Bytes format_words(Format format) noexcept;
bool is_format(Format format, Bytes text) noexcept;

// One address as HTML forms accept it: ASCII, no quoted local part, no address literal. The limits
// of RFC 5321 §4.5.3.1 apply: 64 bytes before the @, 254 in all.
bool is_email(Bytes text) noexcept;
// 8-4-4-4-12 hexadecimal digits in either case (RFC 9562 §4).
bool is_uuid(Bytes text) noexcept;
// date-time of RFC 3339 §5.6. The day must exist. Second 60 is valid only where a leap second may
// occur.
bool is_date_time(Bytes text) noexcept;
// full-date of RFC 3339 §5.6.
bool is_date(Bytes text) noexcept;

// The number of code points of well-formed UTF-8.
std::size_t count_code_points(Bytes text) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
