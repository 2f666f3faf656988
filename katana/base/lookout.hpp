// relax(), for a loop that waits for another thread; and Lookout: whether a thread that waits for
// another stays awake for it, instead of sleeping at once.
//
// To wake a sleeping CPU takes some microseconds, and tens of them in a virtual machine; that is
// seen where what is waited for takes not much longer, as a durable commit does. What did not come
// in time, or found that others need the CPU, is slept for, and so is what follows for a while.
//
// Owns       nothing.
// Thread     one.
// Allocates  never.
// Fails      never.
// Invariant  a thread is awake in vain for at most 1/50 of the time.
#pragma once

#include "katana/base/instant.hpp"

namespace katana {

// Tells the processor that this is a loop that waits for another thread.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class Lookout {
 public:
  // How long one lasts at most. Zero: sleeps at once, always.
  explicit constexpr Lookout(Duration longest) noexcept : longest_(longest) {}

  // When the one of a wait that begins `now` is over; `now`: there is none.
  constexpr Instant end(Instant now) const noexcept {
    return now < asleep_until_ ? now : now + longest_;
  }
  // It lasted until its end, or longer because something else ran on this CPU.
  constexpr void failed(Instant now) noexcept { asleep_until_ = now + longest_ * 50; }

 private:
  Duration longest_;
  Instant asleep_until_{INT64_MIN};
};

}  // namespace katana
