#include "katana/testing/postgres/fake/fake_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>

#include "katana/base/values/timestamp.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/wire/postgres/byte_reader.hpp"

namespace katana::testing {
namespace {

// PostgreSQL counts microseconds from there.
constexpr Timestamp epoch = std::chrono::sys_days(std::chrono::year(2000) / 1 / 1);

template <class Number>
std::optional<std::string> encode_number(Bytes text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || behind != end) return std::nullopt;
  return in_network_order(static_cast<std::uint64_t>(number), sizeof(Number));
}

template <class Number>
std::string decode_number(Bytes bytes) {
  if (bytes.size() != sizeof(Number)) return "?";
  return fmt::format("{}", katana::postgres::read_number<Number>(bytes.data()));
}

}  // namespace

std::string in_network_order(std::uint64_t number, std::size_t bytes) {
  std::string made(bytes, '\0');
  for (std::size_t at = bytes; at-- > 0; number >>= 8) made[at] = static_cast<char>(number);
  return made;
}

std::optional<std::string> encode_binary(PgType type, Bytes text) {
  switch (type) {
    case PgType::boolean:
      if (text != "t" && text != "f") return std::nullopt;
      return std::string(1, text == "t" ? '\1' : '\0');
    case PgType::int2: return encode_number<std::int16_t>(text);
    case PgType::int4: return encode_number<std::int32_t>(text);
    case PgType::int8: return encode_number<std::int64_t>(text);
    case PgType::float8: {
      double number = 0;
      const char* const end = text.data() + text.size();
      const auto [behind, failure] = std::from_chars(text.data(), end, number);
      if (failure != std::errc() || behind != end) return std::nullopt;
      return in_network_order(std::bit_cast<std::uint64_t>(number), sizeof number);
    }
    case PgType::timestamptz: {
      const auto time = TextForm<Timestamp>::parse(text);
      if (!time) return std::nullopt;
      return in_network_order(static_cast<std::uint64_t>((*time - epoch).count()),
                              sizeof(std::int64_t));
    }
    case PgType::uuid: {
      const auto uuid = Uuid::parse(text);
      if (!uuid) return std::nullopt;
      return std::string(uuid->octets().begin(), uuid->octets().end());
    }
    case PgType::jsonb: return '\1' + std::string(text);  // the version of the format
    case PgType::bytea:
    case PgType::text:
    case PgType::json:
    case PgType::varchar: break;
  }
  return std::string(text);
}

std::string decode_binary(PgType type, Bytes bytes) {
  switch (type) {
    case PgType::boolean: return bytes.size() != 1 ? "?" : bytes[0] != '\0' ? "t" : "f";
    case PgType::int2: return decode_number<std::int16_t>(bytes);
    case PgType::int4: return decode_number<std::int32_t>(bytes);
    case PgType::int8: return decode_number<std::int64_t>(bytes);
    case PgType::float8:
      if (bytes.size() != sizeof(double)) return "?";
      return fmt::format(
          "{}", std::bit_cast<double>(katana::postgres::read_number<std::uint64_t>(bytes.data())));
    case PgType::timestamptz: {
      if (bytes.size() != sizeof(std::int64_t)) return "?";
      const auto since = katana::postgres::read_number<std::int64_t>(bytes.data());
      return std::string(TextForm<Timestamp>::write(epoch + std::chrono::microseconds(since)));
    }
    case PgType::uuid: {
      std::array<std::uint8_t, 16> octets{};
      if (bytes.size() != octets.size()) return "?";
      std::ranges::copy(bytes, octets.begin());
      return std::string(TextForm<Uuid>::write(Uuid(octets)));
    }
    case PgType::jsonb: return std::string(bytes.substr(std::min<std::size_t>(bytes.size(), 1)));
    case PgType::bytea:
    case PgType::text:
    case PgType::json:
    case PgType::varchar: break;
  }
  return std::string(bytes);
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
