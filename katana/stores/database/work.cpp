#include "katana/stores/database/work.hpp"

namespace katana::database {

void Work::abandon() noexcept {
  if (!waiting) return destroy(this);  // resumed already: no other thread knows it
  waiting = {};
  Executor& home = executor;  // the work may be gone right after the exchange
  const bool in_turns = run_in_turns;
  if (word_.exchange(abandoned, std::memory_order_acq_rel) == pending) {
    in_turns ? home.unexpect_open_ended() : home.unexpect();
  }
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
