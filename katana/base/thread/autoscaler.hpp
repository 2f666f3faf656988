// Autoscaler: decides how many workers a pool should have from the share of time that they work.
//
// Owns       the count of intervals for which the share has been beyond a threshold.
// Thread     one at a time.
// Allocates  never.
// Fails      never; check() names the mistake in its options.
// Invariant  a step is one worker. Between the two shares nothing changes. A share that returns
//            between them resets the count: a load that swings about one threshold changes nothing.
//
// A step down from n workers raises the share by n/(n-1), at most to the double. As
// scale_down_share is at most half of scale_up_share, no step down can cause a step up.
#pragma once

#include "katana/base/system/result.hpp"
#include "katana/base/thread/pool_options.hpp"

namespace katana::thread {

class Autoscaler {
 public:
  // The change of the pool: one worker less, no change, one worker more.
  enum class Step : std::int8_t { down = -1, none = 0, up = 1 };

  explicit Autoscaler(const AutoscaleOptions& options) noexcept : options_(options) {}

  // Returns an Error that names the share or the interval that is out of range.
  static Result<void> check(const AutoscaleOptions& options);

  // Returns the next step; called once per interval. `busy_share` is the share of time, from 0 to
  // 1, that `threads` workers worked.
  Step next(double busy_share, unsigned threads, unsigned threads_min,
            unsigned threads_max) noexcept {
    above_ = busy_share > options_.scale_up_share ? above_ + 1 : 0;
    below_ = busy_share < options_.scale_down_share ? below_ + 1 : 0;
    if (above_ >= options_.scale_up_intervals && threads < threads_max) {
      above_ = 0;
      return Step::up;
    }
    if (below_ >= options_.scale_down_intervals && threads > threads_min) {
      below_ = 0;
      return Step::down;
    }
    return Step::none;
  }

 private:
  AutoscaleOptions options_;
  unsigned above_ = 0;
  unsigned below_ = 0;
};

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
