// UringRules: what the io_uring engine decided, as variables, to measure what a decision is
// worth.
//
// Thread     a value.
// Invariant  an engine keeps the contract whatever they are; the tests of the contract run on it.
//
// They are no constants of a template, as those of epoll are: each is asked for once for a ring, a
// turn, a connection, or a receive that is armed, and a receive stays armed. No request asks.
//
// The savings of each decision are measured by lab/experiments/ablation_uring_*.yaml.
#pragma once

#include <cstdint>

namespace katana::engine {

struct UringRules {
  // The kernel does what it has to do for us inside of io_uring_enter only (DEFER_TASKRUN). False:
  // whenever we come from the kernel, or by an interrupt.
  bool deferred_work = true;
  // Enter again, without waiting, while a call brings as many completions as one can.
  bool enter_again = true;
  // The ring is entered by an index instead of its descriptor.
  bool registered_ring = true;
  // A receive stays armed. False: each delivery ends it, and needs another entry.
  bool multishot_receive = true;
  // A link's first receive is single: with one request there is none to be cancelled.
  bool first_receive_single = true;
  // Closes and cancellations that succeed are not reported.
  bool quiet_entries = true;
  // With no more free slots than these connections are accepted one by one, so that few are
  // accepted in vain. UINT32_MAX: always.
  std::uint32_t multishot_slots_min = 64;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
