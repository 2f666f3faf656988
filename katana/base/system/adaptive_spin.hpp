// AdaptiveSpin: decides whether a thread that waits for another one spins for a while before it
// sleeps. relax(): one iteration of such a loop.
//
// Waking a sleeping CPU takes some microseconds, and tens of them in a virtual machine. This delay
// matters if the awaited work takes little longer, such as a durable commit. After a spin without
// the awaited event, the next waits sleep at once for a while.
//
// Owns       nothing.
// Thread     one.
// Allocates  never.
// Fails      never.
// Invariant  a thread spins without success for at most 1/50 of the time.
#pragma once

#include "katana/base/values/instant.hpp"

namespace katana {

// Tells the processor that this is a spin-wait loop.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class AdaptiveSpin {
 public:
  // The longest time that one wait spins. Zero: every wait sleeps at once.
  explicit constexpr AdaptiveSpin(Duration longest) noexcept : longest_(longest) {}

  // The time at which a wait that begins `now` stops spinning. `now` itself: it does not spin.
  constexpr Instant end(Instant now) const noexcept {
    return now < asleep_until_ ? now : now + longest_;
  }
  // Notes a spin that lasted until its end, or longer because another thread ran on this CPU.
  constexpr void failed(Instant now) noexcept { asleep_until_ = now + longest_ * 50; }

 private:
  Duration longest_;
  Instant asleep_until_{INT64_MIN};
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
