// RatePlan and Schedule: when each request of an open loop is due, whatever the server does.
//
// A RatePlan is a rate over time in straight pieces. Its integral up to an instant is how many
// requests are due by then; the k-th is due where the integral is k. A Schedule is one thread's
// part of it: every n-th request (constant), or a Poisson process of an n-th of the rate.
//
// Owns       its pieces and its random state.
// Thread     a RatePlan may be read by all; a Schedule belongs to one thread.
// Allocates  when the plan is made.
// Fails      never; after the last piece nothing is due.
// Invariant  due times never decrease, and depend on the arguments alone.
#pragma once

#include <cstdint>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/random.hpp"

namespace katana::load {

// For an exponential distribution with mean 1.
double draw_exponential(Random& random) noexcept;

class RatePlan {
 public:
  // REQUIRES rates >= 0 and a duration > 0. The rate climbs or falls evenly over the piece.
  void add(Duration duration, double rate_begin, double rate_end);

  void append(const RatePlan& later);

  // Since the plan's beginning; `never` when the plan ends before that many are due. `hint`: the
  // piece of an earlier count, moved on.
  Instant time_of(double count, std::size_t& hint) const noexcept;
  double count_until(Instant time) const noexcept;
  Duration duration() const noexcept;
  bool empty() const noexcept { return pieces_.empty(); }

 private:
  struct Piece {
    double begin_ns;
    double length_ns;
    double count_begin;
    double count_end;
    double rate;   // per nanosecond, at the beginning
    double slope;  // change of the rate, per nanosecond
  };
  std::vector<Piece> pieces_;
};

class Schedule {
 public:
  struct Part {
    std::uint32_t index = 0;  // index of this thread …
    std::uint32_t of = 1;     // … among so many
    std::uint32_t burst = 1;  // requests that are due at the same instant
    bool poisson = false;
    std::uint64_t seed = 1;
  };

  Schedule(const RatePlan& plan, Part part) noexcept;

  // When the oldest request that was not taken is due, from the plan's beginning.
  Instant due() const noexcept { return due_; }
  // Goes on to the next request: the present one is being sent.
  void take() noexcept;
  // Takes all that are due before `end` and returns how many they are.
  std::uint64_t take_until(Instant end) noexcept;

 private:
  const RatePlan& plan_;
  Part part_;
  Random random_;
  double count_ = 0;
  std::size_t hint_ = 0;
  std::uint32_t left_in_burst_;
  Instant due_;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
