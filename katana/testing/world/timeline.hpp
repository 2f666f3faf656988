// Timeline: what happened in a world, to be read, and a digest of it.
//
// Owns       its lines.
// Thread     the world's.
// Allocates  for each line.
// Fails      never.
// Invariant  lines are in the order of virtual time; equal runs have equal digests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana::testing {

class Timeline {
 public:
  // One event.
  struct Line {
    Instant at;        // virtual time
    std::string who;   // a client, a node, or "world"
    std::string what;  // "POST api/bookings {"seat":1}"
  };

  // The first line's time counts as zero.
  void begin(Instant at) noexcept { begun_ = at; }
  void add(Instant at, std::string who, std::string what);
  const std::vector<Line>& lines() const noexcept { return lines_; }
  // Depends on every line: time, who and what.
  std::uint64_t digest() const noexcept { return digest_; }
  // "   1.204500 s  api        killed", one line each. Of more than `lines_max` lines only the
  // first and the last ones.
  std::string describe(std::size_t lines_max = 400) const;
  // One line of it.
  std::string describe(const Line& line) const;

 private:
  Instant begun_{};
  std::vector<Line> lines_;
  std::uint64_t digest_ = 0xcbf29ce484222325;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
