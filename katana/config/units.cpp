#include "katana/config/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace katana::config {
namespace {

struct Unit {
  Bytes name;
  std::uint64_t size;
};

constexpr std::array<Unit, 7> time_units = {{{"ns", 1},
                                             {"us", 1'000},
                                             {"ms", 1'000'000},
                                             {"s", 1'000'000'000},
                                             {"m", 60'000'000'000},
                                             {"h", 3'600'000'000'000},
                                             {"d", 86'400'000'000'000}}};
constexpr std::array<Unit, 9> memory_units = {{{"B", 1},
                                               {"kB", 1'000},
                                               {"KiB", 1ull << 10},
                                               {"MB", 1'000'000},
                                               {"MiB", 1ull << 20},
                                               {"GB", 1'000'000'000},
                                               {"GiB", 1ull << 30},
                                               {"TB", 1'000'000'000'000},
                                               {"TiB", 1ull << 40}}};

std::unexpected<Error> wrong(std::string words) {
  return fail(Code::invalid_argument, std::move(words));
}

// A decimal number without sign: digits, and a fraction as a numerator over a power of ten.
struct Number {
  std::uint64_t whole = 0;
  std::uint64_t part = 0;
  std::uint64_t part_of = 1;
  bool valid = false;
  bool large = false;
};

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// False: the digits say more than a word holds.
bool add_digit(std::uint64_t& value, char digit) noexcept {
  return !__builtin_mul_overflow(value, 10u, &value) &&
         !__builtin_add_overflow(value, static_cast<std::uint64_t>(digit - '0'), &value);
}

// Takes the number off the front of `text`.
Number take_number(Bytes& text) noexcept {
  Number number;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    number.valid = true;
    if (!add_digit(number.whole, text.front())) number.large = true;
  }
  if (!number.valid || text.size() < 2 || text[0] != '.' || !is_digit(text[1])) return number;
  text.remove_prefix(1);
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    std::uint64_t part_of = number.part_of;
    if (!add_digit(part_of, '0') || !add_digit(number.part, text.front())) number.large = true;
    number.part_of = part_of;
  }
  return number;
}

Bytes without_spaces(Bytes text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// number × unit, if that is whole and below `limit`. 0 < part < part_of ≤ 10^19.
bool multiply(const Number& number, std::uint64_t unit, std::uint64_t limit,
              std::uint64_t& result) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide part = Wide{number.part} * unit;
  if (part % number.part_of != 0) return false;
  const Wide sum = Wide{number.whole} * unit + part / number.part_of;
  if (sum > limit) return false;
  result = static_cast<std::uint64_t>(sum);
  return true;
}

std::string names(std::span<const Unit> units) {
  std::string text;
  for (const Unit& unit : units) {
    text += text.empty() ? "" : &unit == &units.back() ? " or " : ", ";
    text += unit.name;
  }
  return text;
}

// The name of the unit that was probably meant; empty if there is none.
Bytes likely(std::span<const Unit> units, Bytes name) noexcept {
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  for (const Unit& unit : units) {
    if (std::ranges::equal(unit.name, name, same)) return unit.name;
  }
  return {};
}

Result<std::uint64_t> read(Bytes text, Bytes what, std::span<const Unit> units, Bytes alone,
                           std::uint64_t limit) {
  Bytes rest = without_spaces(text);
  const Bytes whole = rest;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    return wrong(fmt::format("{} without a sign, got '{}'", what, whole));
  }
  const Number number = take_number(rest);
  if (!number.valid) {
    return wrong(fmt::format("{} (a number and {}), got '{}'", what, names(units), whole));
  }
  const Bytes name = without_spaces(rest);
  if (name.empty() && alone.empty() && (number.whole != 0 || number.part != 0 || number.large)) {
    return wrong(fmt::format("{} with its unit ({}), got '{}'", what, names(units), whole));
  }
  const Bytes wanted = name.empty() ? units.front().name : name;
  const auto unit = std::ranges::find(units, wanted, &Unit::name);
  if (unit == units.end()) {
    const Bytes meant = likely(units, name);
    if (name == "KB" || name == "K" || name == "k") {
      return wrong(fmt::format("{}, got '{}': write kB for 1000 or KiB for 1024", what, whole));
    }
    return wrong(meant.empty() ? fmt::format("{} in {}, got '{}'", what, names(units), whole)
                               : fmt::format("{}, got '{}': did you mean {}?", what, whole, meant));
  }
  std::uint64_t result = 0;
  if (number.large || !multiply(number, unit->size, limit, result)) {
    return wrong(fmt::format("{} that is a whole number of {} and at most {}, got '{}'", what,
                             units.front().name, limit, whole));
  }
  return result;
}

std::string write(std::uint64_t value, std::span<const Unit> units) {
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    if (value % unit.size == 0 && value >= unit.size && unit.size >= best->size) best = &unit;
  }
  return fmt::format("{}{}", value / best->size, best->name);
}

}  // namespace

Result<Duration> read_duration(Bytes text) {
  const auto value = read(text, "a duration", time_units, "", INT64_MAX);
  if (!value) return std::unexpected(value.error());
  return Duration{static_cast<std::int64_t>(*value)};
}

Result<ByteCount> read_byte_count(Bytes text) {
  const auto value = read(text, "an amount of memory", memory_units, "B", UINT64_MAX);
  if (!value) return std::unexpected(value.error());
  return ByteCount{*value};
}

std::string write_duration(Duration duration) {
  if (duration.ns == 0) return "0s";
  // The magnitude of the least of all does not fit the type.
  const auto value = static_cast<std::uint64_t>(duration.ns);
  return duration.ns < 0 ? "-" + write(-value, time_units) : write(value, time_units);
}

std::string write_byte_count(ByteCount count) {
  return count.bytes == 0 ? "0B" : write(count.bytes, memory_units);
}

}  // namespace katana::config
