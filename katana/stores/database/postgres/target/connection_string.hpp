// Connection strings of PostgreSQL, in libpq's grammar:
//
//   postgresql://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?KEYWORD=VALUE&…     or postgres://
//   host=db1,db2 port=5432 dbname=shop password='it\'s one'
//
// In a URL each part may have percent escapes; an IPv6 address stands in brackets. The first '@'
// before the first '/' ends the password. `ssl=true` means `sslmode=require`, and `requiressl=1`
// does so in both forms. A later value replaces an earlier one. As in libpq 18, spaces around
// a part of a URL do not count, and a space within one has to be %20.
//
// Owns       nothing.
// Thread     any.
// Allocates  the values.
// Fails      invalid_argument. The error says which part is wrong and what to write.
// Invariant  no error has a byte of a password. A name is only shown if it cannot be a part of one.
// Source     PostgreSQL 18, "Connection Strings"
#pragma once

#include <cstddef>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/postgres/target/settings.hpp"

namespace katana::database::postgres::target {

// The longest connection string.
inline constexpr std::size_t connection_string_bytes_max = 64 * 1024;

// True for postgresql:// and postgres://.
bool is_url(Bytes text) noexcept;
// Reads either form. The values have Origin::connection_string.
katana::Result<Settings> parse(Bytes text);

namespace detail {
// The two forms; parse() has checked the size, and that there is no zero byte.
katana::Result<Settings> parse_url(Bytes url);
katana::Result<Settings> parse_pairs(Bytes text);
// Stores a value, translates `requiressl`. False: the keyword is unknown.
bool store(Settings& settings, Bytes name, Bytes value);
// "the unknown keyword 'sslmod'; did you mean 'sslmode'?", or its place if it could be a secret.
std::string describe_unknown(Bytes name, std::size_t position, bool may_be_secret);
// White space of C's locale.
constexpr bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
}  // namespace detail

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
