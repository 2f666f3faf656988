// Uuid: a unique name of 128 bits that needs no central registration (RFC 9562).
//
//   Uuid::random()        version 4: reveals nothing
//   Uuid::ordered(now)    version 7: grows with time; new rows go to the end of a table
//   Uuid::parse(text)     8-4-4-4-12 hexadecimal digits in either case
//
// Owns       its bytes, in network order.
// Thread     a value; the makers may be called from any.
// Allocates  never.
// Fails      parse() returns nothing. After boot, the makers may wait once for the kernel's random
//            numbers.
// Invariant  the order of values is that of their bytes, and of their texts.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/text_form.hpp"

namespace katana {

class Uuid {
 public:
  static constexpr std::size_t text_bytes = 36;  // with four hyphens

  // All zeros: the Nil UUID (RFC 9562 §5.9).
  constexpr Uuid() noexcept = default;
  constexpr explicit Uuid(const std::array<std::uint8_t, 16>& octets) noexcept : octets_(octets) {}

  static Uuid random();  // version 4, from the kernel's random numbers
  // Version 7, from the milliseconds of `now` and twelve bits of the fraction (RFC 9562 §6.2,
  // method 3). Values of different quarters of a microsecond ascend. The order of others is random.
  static Uuid ordered(std::chrono::sys_time<std::chrono::nanoseconds> now);
  static Uuid ordered();
  static std::optional<Uuid> parse(Bytes text) noexcept;

  // The bytes in network order.
  const std::array<std::uint8_t, 16>& octets() const noexcept { return octets_; }
  bool is_nil() const noexcept { return *this == Uuid(); }       // all bits are zero
  unsigned version() const noexcept { return octets_[6] >> 4; }  // 4: random, 7: ordered by time
  // The text in lower case.
  ShortText<text_bytes> to_text() const noexcept;

  auto operator<=>(const Uuid&) const noexcept = default;

 private:
  std::array<std::uint8_t, 16> octets_{};
};

template <>
struct TextForm<Uuid> {
  static constexpr Bytes expected = "a UUID";
  static constexpr Bytes schema_format = "uuid";
  static std::optional<Uuid> parse(Bytes text) noexcept { return Uuid::parse(text); }
  static ShortText<Uuid::text_bytes> write(const Uuid& uuid) noexcept { return uuid.to_text(); }
};

}  // namespace katana

template <>
struct std::hash<katana::Uuid> {
  std::size_t operator()(const katana::Uuid& uuid) const noexcept {
    const auto& octets = uuid.octets();
    return std::hash<katana::Bytes>()(
        {reinterpret_cast<const char*>(octets.data()), octets.size()});
  }
};

// SPDX-License-Identifier: Apache-2.0
