#include "katana/data/config/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "katana/base/values/quantity.hpp"

namespace katana::config {
namespace {

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

Bytes without_spaces(Bytes text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
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
  const Quantity number = Quantity::take(rest);
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
  if (!number.count(unit->size, 1, limit, result)) {
    return wrong(fmt::format("{} that is a whole number of {} and at most {}, got '{}'", what,
                             units.front().name, limit, whole));
  }
  return result;
}

std::string write(std::uint64_t value, std::span<const Unit> units) {
  const Unit& unit = largest_unit(value, 1, units);
  return fmt::format("{}{}", value / unit.size, unit.name);
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
  // The magnitude of the smallest value does not fit the type.
  const auto value = static_cast<std::uint64_t>(duration.ns);
  return duration.ns < 0 ? "-" + write(-value, time_units) : write(value, time_units);
}

std::string write_byte_count(ByteCount count) {
  return count.bytes == 0 ? "0B" : write(count.bytes, memory_units);
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
