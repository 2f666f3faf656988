#include "katana/observe/log/wall_clock.hpp"

#include <algorithm>
#include <chrono>

namespace katana::log {

namespace {

void put_digits(char* at, unsigned count, std::uint64_t number) noexcept {
  for (unsigned index = count; index-- > 0; number /= 10) {
    at[index] = static_cast<char>('0' + number % 10);
  }
}

}  // namespace

Bytes TimeText::text(std::int64_t wall_ns) noexcept {
  constexpr std::int64_t second_ns = 1'000'000'000;

  const std::int64_t ns = std::max<std::int64_t>(wall_ns, 0);
  const std::int64_t second = ns / second_ns;
  char* const at = octets_.data();
  if (second != second_) {
    using namespace std::chrono;
    const sys_seconds time{std::chrono::seconds(second)};
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(time - day);
    constexpr Bytes form = "0000-00-00T00:00:00.000000Z";
    std::ranges::copy(form, at);
    put_digits(at, 4, static_cast<std::uint64_t>(static_cast<int>(date.year())));
    put_digits(at + 5, 2, static_cast<unsigned>(date.month()));
    put_digits(at + 8, 2, static_cast<unsigned>(date.day()));
    put_digits(at + 11, 2, static_cast<std::uint64_t>(clock.hours().count()));
    put_digits(at + 14, 2, static_cast<std::uint64_t>(clock.minutes().count()));
    put_digits(at + 17, 2, static_cast<std::uint64_t>(clock.seconds().count()));
    second_ = second;
  }
  // Three pairs that do not wait for one another: this runs for every record.
  const auto us = static_cast<std::uint32_t>(ns % second_ns / 1000);
  put_digits(at + 20, 2, us / 10'000);
  put_digits(at + 22, 2, us / 100 % 100);
  put_digits(at + 24, 2, us % 100);
  return {at, octets_.size()};
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
