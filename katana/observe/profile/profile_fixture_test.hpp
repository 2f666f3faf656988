// Profiles for tests.
#pragma once

#include <random>
#include <string>

#include "katana/observe/profile/profile.hpp"

namespace katana::profile {

// Two routes, an inlined function, a place without symbols, and one in no module.
inline Profile small_profile() {
  Profile profile;
  profile.program = "notes";
  profile.began_ns = 1'796'000'000'000'000'000;
  profile.took_ns = 2'000'000'000;
  profile.period_ns = 10'000'000;
  profile.lost = 3;
  profile.modules = {{0x5000, 0x6000, 0x1000, 0x4000, "/usr/bin/notes", "00ff12"},
                     {0x9000, 0xa000, 0x2000, 0x7000, "/lib/libc.so.6", ""}};
  profile.places = {{0x5010, 0, {{"parse", "a.cpp", 7}, {"serve", "a.cpp", 20}}},
                    {0x5020, 0, {{"main", "a.cpp", 3}}},
                    {0x9018, 1, {}},
                    {0x33, no_module, {}}};
  profile.found = {
      {{0, 1}, {"notes", "GET /notes", "01J", "4bf9"}, 3, 30'000'000},
      {{2, 0, 1}, {"notes", "GET /notes", "", ""}, 1, 10'000'000},
      {{3}, {"work/0", "", "", ""}, 2, 20'000'000},
  };
  return profile;
}

// Any profile that is valid, by the seed.
inline Profile random_profile(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t end) { return random() % end; };
  const auto text = [&] {
    std::string letters;
    for (std::size_t left = below(6); left > 0; --left) {
      letters += static_cast<char>(' ' + below(95));
    }
    return letters;
  };
  const auto number = [&] { return std::uint64_t{random()} << below(33); };
  Profile profile;
  profile.kind = static_cast<Kind>(below(4));
  profile.program = text();
  profile.began_ns = static_cast<std::int64_t>(number());
  profile.took_ns = static_cast<std::int64_t>(number());
  profile.period_ns = static_cast<std::int64_t>(number());
  profile.lost = number();
  profile.threads_left_out = number();
  for (std::size_t left = below(4); left > 0; --left) {
    profile.modules.push_back({number(), number(), number(), number(), text(), text()});
  }
  for (std::size_t left = below(8); left > 0; --left) {
    Place place{number(), no_module, {}};
    if (!profile.modules.empty() && below(4) != 0) place.module = below(profile.modules.size());
    for (std::size_t lines = below(3); lines > 0; --lines) {
      place.lines.push_back({text(), text(), static_cast<std::uint32_t>(random())});
    }
    profile.places.push_back(std::move(place));
  }
  for (std::size_t left = below(8); left > 0; --left) {
    Found found;
    for (std::size_t depth = below(6); depth > 0 && !profile.places.empty(); --depth) {
      found.places.push_back(below(profile.places.size()));
    }
    found.labels = {text(), text(), text(), text()};
    found.count = static_cast<std::int64_t>(below(1000));
    found.ns = static_cast<std::int64_t>(number() >> 4);
    profile.found.push_back(std::move(found));
  }
  return profile;
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
