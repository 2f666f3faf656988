// Values of FakePostgres: texts, and their bytes in the formats of PostgreSQL.
//
// Owns       values only.
// Thread     any.
// Allocates  strings.
// Fails      encode() returns nothing: the text is no value of the type. decode() shows bytes that
//            do not fit as "?".
// Invariant  decode(type, *encode(type, text)) is the same value.
// Source     PostgreSQL 18, "Message Data Types"; src/include/catalog/pg_type.dat
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"

namespace katana::testing {

// The types that FakePostgres knows, with their numbers.
enum class PgType : std::uint32_t {
  boolean = 16,        // "t" or "f"
  bytea = 17,          // the bytes themselves
  int8 = 20,           // the next three: decimal digits
  int2 = 21,           //
  int4 = 23,           //
  text = 25,           // as it is
  json = 114,          // as it is
  float8 = 701,        // as "1.5"
  varchar = 1043,      // as it is
  timestamptz = 1184,  // as "2026-01-01T00:00:00Z"
  uuid = 2950,         // 8-4-4-4-12 hexadecimal digits
  jsonb = 3802,        // as it is
};

// A value as text; nothing: NULL.
using FakeValue = std::optional<std::string>;
// The values of the columns, in their order.
using FakeRow = std::vector<FakeValue>;

// The lowest bytes of a number, the most significant one first.
std::string in_network_order(std::uint64_t number, std::size_t bytes);

// The bytes of a value in the binary format.
std::optional<std::string> encode_binary(PgType type, Bytes text);
// The text of such bytes.
std::string decode_binary(PgType type, Bytes bytes);

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
