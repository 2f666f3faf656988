// BusTest: a MemoryBus and several reactors on a simulated network, in virtual time.
//
// Owns       the fixture owns everything; a test turns each reactor by hand.
// Thread     one; threads of a test may publish.
// Invariant  nothing happens but what a test asked for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/stores/bus/memory_bus.hpp"

namespace katana::bus {

class BusTest : public testing::Test {
 protected:
  using TestReactor = net::ReactorOn<engine::SimEngine>;

  explicit BusTest(const BusOptions& options = {}, unsigned reactors = 2)
      : bus_(std::make_unique<MemoryBus>(options)) {
    for (unsigned index = 0; index < reactors; ++index) {
      reactors_.push_back(std::make_unique<TestReactor>(small_options(), 64, network_));
      EXPECT_TRUE(reactors_.back()->start());
    }
  }

  static net::ReactorOptions small_options() {
    net::ReactorOptions options;
    options.engine.links_max = 16;
    options.output_blocks_max = 64;
    options.output_blocks_reserve = 8;
    options.carry_large_max = 4;
    return options;
  }

  MemoryBus& bus() { return *bus_; }
  net::Reactor& reactor(unsigned index) { return *reactors_[index]; }
  // The following calls run on that reactor, after a turn of it.
  net::Reactor& on(unsigned index) {
    reactors_[index]->turn({});
    return *reactors_[index];
  }
  // Turns all reactors until they have nothing left to do; no time passes.
  void settle() {
    for (int rounds = 0; rounds < 8; ++rounds) {
      for (const auto& each : reactors_) each->turn({});
    }
  }
  void pass(Duration time) {
    const Instant end = network_.now() + time;
    while (network_.now() < end) {
      settle();
      Instant next = end;
      for (const auto& each : reactors_) next = std::min(next, each->timers().next());
      network_.run_next(std::max(next, network_.now()));
      settle();
    }
  }

  // A subscriber that notes its messages as "subject=payload", and notices as "!kind:count".
  SubscribeOptions noting(std::vector<std::string>& to, std::string group = {}) {
    SubscribeOptions options;
    options.queue_group = std::move(group);
    options.on_notice = [&to](const Notice& notice) { to.push_back(note_of(notice)); };
    return options;
  }
  static std::string note_of(const Notice& notice) {
    std::string text = "!";
    text += name_of(notice.kind);
    if (notice.count != 0) text += ":" + std::to_string(notice.count);
    return text;
  }
  Subscription subscribe(Bytes pattern, std::vector<std::string>& to, std::string group = {}) {
    auto subscribed = bus().subscribe(
        pattern,
        [&to](const Delivery& message) {
          to.push_back(std::string(message.subject()) + "=" + std::string(message.payload()));
        },
        noting(to, std::move(group)));
    EXPECT_TRUE(subscribed) << subscribed.error().describe();
    return *std::move(subscribed);
  }
  void publish(Bytes subject, Bytes payload) {
    const auto published = bus().publish(subject, payload);
    EXPECT_TRUE(published) << published.error().describe();
  }

  engine::SimNetwork network_{1, engine::SimFaults::calm()};
  std::unique_ptr<MemoryBus> bus_;
  std::vector<std::unique_ptr<TestReactor>> reactors_;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
