#include "katana/base/values/uuid.hpp"

#include <algorithm>
#include <span>

#include "katana/base/system/check.hpp"
#include "katana/base/values/formats.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana {
namespace {

constexpr char uuid_digits[] = "0123456789abcdef";

constexpr std::uint8_t digit_value(char c) noexcept {
  const int value = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
  return static_cast<std::uint8_t>(value);
}

// Sets the version, and the variant 0b10.
void mark(std::array<std::uint8_t, 16>& octets, unsigned version) noexcept {
  octets[6] = static_cast<std::uint8_t>((octets[6] & 0x0f) | version << 4);
  octets[8] = static_cast<std::uint8_t>((octets[8] & 0x3f) | 0x80);
}

}  // namespace

Uuid Uuid::random() {
  std::array<std::uint8_t, 16> octets;
  fill_random(std::span(reinterpret_cast<char*>(octets.data()), octets.size()));
  mark(octets, 4);
  return Uuid(octets);
}

Uuid Uuid::ordered() {
  const VirtualWallClock* const clock = VirtualWallClock::present();
  return clock != nullptr ? ordered(clock->current_time())
                          : ordered(std::chrono::system_clock::now());
}

Uuid Uuid::ordered(std::chrono::sys_time<std::chrono::nanoseconds> now) {
  constexpr std::uint64_t ns_per_ms = 1'000'000;
  const auto ns =
      static_cast<std::uint64_t>(std::max<std::int64_t>(now.time_since_epoch().count(), 0));
  const std::uint64_t ms = ns / ns_per_ms;
  const std::uint64_t fraction = (ns % ns_per_ms << 12) / ns_per_ms;
  std::array<std::uint8_t, 16> octets;
  for (std::size_t index = 0; index < 6; ++index) {
    octets[index] = static_cast<std::uint8_t>(ms >> (40 - 8 * index));
  }
  octets[6] = static_cast<std::uint8_t>(fraction >> 8);
  octets[7] = static_cast<std::uint8_t>(fraction);
  fill_random(std::span(reinterpret_cast<char*>(octets.data()), octets.size()).subspan(8));
  mark(octets, 7);
  return Uuid(octets);
}

std::optional<Uuid> Uuid::parse(Bytes text) noexcept {
  if (!is_uuid(text)) return std::nullopt;
  std::array<std::uint8_t, 16> octets;
  const char* at = text.data();
  for (std::uint8_t& octet : octets) {
    if (*at == '-') ++at;
    octet = static_cast<std::uint8_t>(digit_value(at[0]) << 4 | digit_value(at[1]));
    at += 2;
  }
  return Uuid(octets);
}

ShortText<Uuid::text_bytes> Uuid::to_text() const noexcept {
  ShortText<text_bytes> text;
  for (std::size_t index = 0; index < octets_.size(); ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text.push_back('-');
    text.push_back(uuid_digits[octets_[index] >> 4]);
    text.push_back(uuid_digits[octets_[index] & 15]);
  }
  return text;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
