// UringRules: the decisions of the io_uring engine, as variables, to measure the gain of each
// decision.
//
// Thread     a value.
// Invariant  an engine keeps the contract whatever the values are; the tests of the contract run on
//            it.
//
// They are no constants of a template, unlike those of epoll. Each is read once per ring, turn,
// connection or armed receive. A receive stays armed: no request reads one.
//
// The savings of each decision are measured by lab/experiments/ablation_uring_*.yaml.
#pragma once

#include <cstdint>

namespace katana::engine {

struct UringRules {
  // The kernel does its deferred work inside io_uring_enter only (DEFER_TASKRUN). False: at every
  // return from the kernel, or by an interrupt.
  bool deferred_work = true;
  // Enters again, without waiting, while a call returns the most completions that one call can.
  bool enter_again = true;
  // The ring is entered by an index instead of its descriptor.
  bool registered_ring = true;
  // A receive stays armed. False: each delivery ends it, and needs another entry.
  bool multishot_receive = true;
  // A link's first receive is single: after the only request of a link no receive is left to
  // cancel.
  bool first_receive_single = true;
  // Closes and cancellations that succeed are not reported.
  bool quiet_entries = true;
  // With no more free slots than this, connections are accepted one by one: few are then accepted
  // in vain. UINT32_MAX: always.
  std::uint32_t multishot_slots_min = 64;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
