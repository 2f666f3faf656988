#include "katana/testing/world/timeline.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace katana::testing {
namespace {

constexpr std::uint64_t fnv_prime = 0x100000001b3;

std::uint64_t mixed(std::uint64_t digest, std::string_view text) {
  for (const char each : text) digest = (digest ^ static_cast<unsigned char>(each)) * fnv_prime;
  return digest * fnv_prime;
}

}  // namespace

void Timeline::add(Instant at, std::string who, std::string what) {
  for (int shift = 0; shift < 64; shift += 8) {
    digest_ = (digest_ ^ ((static_cast<std::uint64_t>(at.ns) >> shift) & 0xff)) * fnv_prime;
  }
  digest_ = mixed(mixed(digest_, who), what);
  lines_.push_back({at, std::move(who), std::move(what)});
}

std::string Timeline::describe(const Line& line) const {
  const std::int64_t us = (line.at - begun_).ns / 1'000;
  return fmt::format("{:>5}.{:06} s  {:<10} {}\n", us / 1'000'000, us % 1'000'000, line.who,
                     line.what);
}

std::string Timeline::describe(std::size_t lines_max) const {
  std::string text;
  const std::size_t left_out = lines_.size() > lines_max ? lines_.size() - lines_max : 0;
  const std::size_t first_part = left_out == 0 ? lines_.size() : lines_max / 2;
  for (std::size_t index = 0; index < lines_.size(); ++index) {
    if (index == first_part) {
      text += fmt::format("             … {} lines\n", left_out);
      index += left_out;
    }
    text += describe(lines_[index]);
  }
  return text;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
