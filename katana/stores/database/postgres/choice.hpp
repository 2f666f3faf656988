// choose(): chooses the connection for a statement.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never.
// Invariant  no connection is chosen that has `depth` statements on their way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/values/backoff.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::database::postgres {

// The facts about a connection by which choose() decides.
struct Candidate {
  std::size_t load = 0;          // statements on their way
  bool given_this_turn = false;  // what it was given is sent together with more
  Duration age = {};             // of its oldest statement; the longest: it has one not known quick
};

inline constexpr std::size_t no_candidate = SIZE_MAX;  // every connection is full

// Chooses a connection for a statement, in this order: one that was given statements in this turn;
// an idle one; one whose statements are quick. Among idle ones the first is used most: the last
// ones can then be closed. A statement never goes behind a slow one: its call waits for
// a connection, as in a pool without pipelines.
inline std::size_t choose(std::span<const Candidate> candidates, std::size_t depth,
                          Duration slow_after) noexcept {
  const auto quick = [&](const Candidate& each) {
    return each.load < depth && each.age < slow_after;
  };
  const auto first = [&](auto&& fits) {
    const auto found = std::ranges::find_if(candidates, fits);
    return found == candidates.end() ? no_candidate
                                     : static_cast<std::size_t>(found - candidates.begin());
  };
  const auto least_of_quick = [&] {
    std::size_t best = no_candidate;
    for (std::size_t index = 0; index < candidates.size(); ++index) {
      if (!quick(candidates[index])) continue;
      if (best == no_candidate || candidates[index].load < candidates[best].load) best = index;
    }
    return best;
  };
  std::size_t chosen =
      first([&](const Candidate& each) { return each.given_this_turn && quick(each); });
  if (chosen == no_candidate) chosen = first([](const Candidate& each) { return each.load == 0; });
  if (chosen == no_candidate) chosen = least_of_quick();
  return chosen;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
