// Autoscaler: how many workers a pool should have, from the share of their time that they worked.
//
// Owns       the count of intervals for which the share has been beyond a threshold.
// Thread     one at a time.
// Allocates  never.
// Fails      never; check() says what is wrong with its options.
// Invariant  a step is one worker. Between the two shares nothing changes, and a share back between
//            them starts the count anew: a load that swings about one threshold moves nothing.
//
// A step down from n workers raises the share by n/(n-1), at most to the double. As
// scale_down_share is at most half of scale_up_share, no step down can cause a step up.
#pragma once

#include "katana/base/system/result.hpp"
#include "katana/base/thread/pool_options.hpp"

namespace katana::thread {

class Autoscaler {
 public:
  // What the pool should do: one worker less, nothing, one worker more.
  enum class Step : std::int8_t { down = -1, none = 0, up = 1 };

  explicit Autoscaler(const AutoscaleOptions& options) noexcept : options_(options) {}

  // An Error names the share or the interval that is out of its range.
  static Result<void> check(const AutoscaleOptions& options);

  // Once an interval. `busy_share` of the time of `threads` workers, from 0 to 1.
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
