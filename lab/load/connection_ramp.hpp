// ConnectionRamp: how many connections a closed loop uses over time, in straight lines.
//
// Owns       its pieces.
// Thread     made by one, then read by all.
// Allocates  when it is made.
// Fails      never; before its beginning the first count holds, after its end the last.
// Invariant  counts are at least 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::load {

class ConnectionRamp {
 public:
  // From the count that stands at the end (1 at first) to `count`, evenly.
  void add(Duration duration, std::uint32_t count) {
    KATANA_REQUIRE(duration.ns > 0 && count > 0);
    pieces_.push_back({end_, duration, last_, count});
    end_ = end_ + duration;
    last_ = count;
  }

  bool empty() const noexcept { return pieces_.empty(); }
  Duration duration() const noexcept { return {end_.ns}; }
  std::uint32_t most() const noexcept {
    std::uint32_t most = 1;
    for (const Piece& piece : pieces_) most = std::max({most, piece.from, piece.to});
    return most;
  }

  std::uint32_t at(Instant since_begin) const noexcept {
    for (const Piece& piece : pieces_) {
      const std::int64_t inside_ns = std::max<std::int64_t>(0, (since_begin - piece.begin).ns);
      if (inside_ns >= piece.length.ns) continue;
      const double share = static_cast<double>(inside_ns) / static_cast<double>(piece.length.ns);
      const double change = static_cast<double>(piece.to) - static_cast<double>(piece.from);
      return static_cast<std::uint32_t>(static_cast<double>(piece.from) + change * share);
    }
    return last_;
  }

 private:
  struct Piece {
    Instant begin;
    Duration length;
    std::uint32_t from;
    std::uint32_t to;
  };
  std::vector<Piece> pieces_;
  Instant end_;
  std::uint32_t last_ = 1;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
