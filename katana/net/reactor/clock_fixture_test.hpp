// Clock: a reactor that consists of its clock.
//
// Thread     one; it is that thread's current reactor.
// Invariant  time passes in turn() alone.
#pragma once

#include "katana/net/reactor/reactor.hpp"

namespace katana::net {

class Clock final : public Reactor {
 public:
  Clock() : Reactor(ReactorOptions{}, Instant{seconds(5).ns}) { current_ = this; }

  void turn(Duration wait_max) override {
    now_ = now_ + wait_max;
    timers_.advance(now_);
  }
  // As if each turn had run for `busy` by now.
  Instant read_clock() const noexcept override { return now_ + busy; }
  Duration busy = {};
  MemoryBudget memory_budget() const noexcept override { return {}; }
  MemoryBudget memory_used() const noexcept override { return {}; }
  Result<void> start() override { return {}; }
  Result<void> listen(const engine::ListenOptions&, Protocol&) override { return {}; }
  std::uint16_t port(engine::Listener) const override { return 0; }
  Result<void> watch(int, engine::Readiness, engine::Watcher&) override { return {}; }
  void unwatch(int) override {}

 private:
  void wake_engine() noexcept override {}
  bool drained() const noexcept override { return true; }
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
