// Seeds: whole runs under drawn faults, and the properties of each run.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "katana/net/engine/sim/sim_fixture_test.hpp"

namespace katana::engine {
namespace {

constexpr std::uint64_t seeds_max = 500;

static_assert(Engine<SimEngine<EchoServer>>);

void add(SimCounters& sum, const SimCounters& each) {
  sum.late_completions += each.late_completions;
  sum.held_for_pause += each.held_for_pause;
  sum.fragments += each.fragments;
  sum.ring_exhausted += each.ring_exhausted;
  sum.multishot_ends += each.multishot_ends;
  sum.spurious_turns += each.spurious_turns;
  sum.sends_completed += each.sends_completed;
  sum.sends_short += each.sends_short;
  sum.sends_copied += each.sends_copied;
  sum.sends_lent += each.sends_lent;
  sum.sends_blocked += each.sends_blocked;
  sum.sends_failed += each.sends_failed;
  sum.accept_failures += each.accept_failures;
}

TEST(SimEngine, without_losses_every_byte_comes_back_in_order_under_every_mix_of_faults) {
  SimCounters sum;
  for (std::uint64_t seed = 0; seed < seeds_max; ++seed) {
    SimNetwork network(seed, SimFaults::random(seed).lossless());
    EchoServer server(network);
    const Talkers talkers = talk(network, server.port);
    ASSERT_TRUE(server.run_until_quiescent()) << network.explain();
    for (const auto& each : talkers) {
      ASSERT_TRUE(each->peer.received() == each->text) << network.explain();
      ASSERT_TRUE(each->peer.saw_end()) << network.explain();
      ASSERT_EQ(each->peer.link_state(), SimLink::closed) << network.explain();
    }
    ASSERT_EQ(server.engine.links_open(), 0u) << network.explain();
    ASSERT_TRUE(network.descriptors().empty()) << network.explain();
    ASSERT_EQ(server.engine.counters().stale_calls, 0u) << network.explain();
    ASSERT_FALSE(::testing::Test::HasFailure()) << network.explain();
    add(sum, server.engine.counters());
  }
  // The run met the cases that it tests.
  EXPECT_GT(sum.held_for_pause, 0u);
  EXPECT_GT(sum.fragments, 0u);
  EXPECT_GT(sum.ring_exhausted, 0u);
  EXPECT_GT(sum.multishot_ends, 0u);
  EXPECT_GT(sum.spurious_turns, 0u);
  EXPECT_GT(sum.sends_completed, 0u);
  EXPECT_GT(sum.sends_short, 0u);
  EXPECT_GT(sum.sends_copied, 0u);
  EXPECT_GT(sum.sends_lent, 0u);
  EXPECT_GT(sum.sends_blocked, 0u);
  EXPECT_GT(sum.accept_failures, 0u);
}

TEST(SimEngine, with_losses_a_prefix_comes_back_and_every_link_is_closed) {
  SimCounters sum;
  std::uint64_t cut_short = 0;
  std::uint64_t whole = 0;
  for (std::uint64_t seed = 0; seed < seeds_max; ++seed) {
    SimFaults faults = SimFaults::random(seed);
    faults.link_reset = std::max<std::uint32_t>(faults.link_reset, 128);
    SimNetwork network(seed, faults);
    EchoServer server(network);
    server.close_gone = 128;
    server.keeps_paused = seed % 2 == 0;
    const Talkers talkers = talk(network, server.port);
    ASSERT_TRUE(server.run_until_quiescent()) << network.explain();
    for (const auto& each : talkers) {
      ASSERT_TRUE(each->text.starts_with(each->peer.received())) << network.explain();
      ASSERT_TRUE(each->peer.over()) << network.explain();
      if (each->peer.saw_end()) {
        ASSERT_TRUE(each->peer.received() == each->text) << network.explain();
      }
      ++(each->peer.saw_end() ? whole : cut_short);
    }
    ASSERT_EQ(server.engine.links_open(), 0u) << network.explain();
    ASSERT_TRUE(network.descriptors().empty()) << network.explain();
    ASSERT_FALSE(::testing::Test::HasFailure()) << network.explain();
    add(sum, server.engine.counters());
  }
  EXPECT_GT(cut_short, 50u);
  EXPECT_GT(whole, 50u);
  EXPECT_GT(sum.late_completions, 0u);
  EXPECT_GT(sum.sends_failed, 0u);
}

std::string traced_run(std::uint64_t seed, std::uint64_t faults_seed) {
  SimNetwork network(seed, SimFaults::random(faults_seed), 100'000);
  EchoServer server(network);
  const Talkers talkers = talk(network, server.port);
  EXPECT_TRUE(server.run_until_quiescent());
  return network.trace() + std::to_string(network.trace_digest());
}

TEST(SimEngine, the_same_seed_gives_the_same_trace_and_another_seed_another) {
  std::string before;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::string first = traced_run(seed, seed);
    EXPECT_EQ(first, traced_run(seed, seed));
    EXPECT_NE(first, before);
    before = first;
  }
  EXPECT_NE(traced_run(1, 7), traced_run(2, 7));
}

TEST(SimEngine, a_seed_means_the_same_numbers_on_every_machine) {
  Random random(42);
  EXPECT_EQ(random.next(), 0x15780b2e0c2ec716u);
  EXPECT_EQ(random.next(), 0x6104d9866d113a7eu);
}

TEST(SimEngine, two_engines_share_a_port_and_a_network) {
  SimNetwork network(5);
  network.set_faults(network.faults().lossless());
  EchoServer first(network);
  struct Other : EchoServer {
    using EchoServer::EchoServer;
  } second(network);
  ListenOptions options;
  options.port = first.port;
  options.must_be_free = false;
  ASSERT_TRUE(second.engine.listen(options));
  std::vector<std::unique_ptr<Talker>> talkers;
  for (int count = 0; count < 20; ++count) {
    talkers.push_back(std::make_unique<Talker>(network, first.port));
  }
  for (int turns = 0; turns < 100'000 && !network.quiescent(); ++turns) {
    first.engine.turn(milliseconds(1));
    second.engine.turn(milliseconds(1));
  }
  for (const auto& each : talkers) {
    EXPECT_TRUE(each->peer.received() == each->text) << network.explain();
  }
  EXPECT_GT(first.accepted, 0u);
  EXPECT_GT(second.accepted, 0u);
}

// One engine passes some of its connections to the other, which may close before it takes them.
TEST(SimEngine, what_is_passed_between_engines_leaves_no_descriptor_open) {
  std::uint64_t adopted = 0, discarded = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SimNetwork network(seed);
    EchoServer first(network), second(network);
    const Talkers talkers = talk(network, first.port);
    for (int turns = 0; turns < 100'000 && !(network.quiescent() && first.detached.empty());
         ++turns) {
      first.detaches = network.chance(512);
      first.engine.turn(milliseconds(1));
      if (network.chance(256)) {
        for (const int each : std::exchange(first.detached, {})) {
          const bool takes = network.chance(768);
          ASSERT_FALSE(network.descriptors().empty());
          takes ? second.adopt(each) : second.engine.discard(each);
          ++(takes ? adopted : discarded);
        }
      }
      second.engine.turn(milliseconds(1));
    }
    first.detaches = false;
    ASSERT_TRUE(first.run_until_quiescent() && second.run_until_quiescent()) << network.explain();
    ASSERT_TRUE(network.descriptors().empty()) << network.explain();
  }
  EXPECT_GT(adopted, 20u);
  EXPECT_GT(discarded, 5u);
}

// With completions the client may have read the reply and sent its next request before the reactor
// hears of its send.
TEST(SimEngine, a_reply_may_be_answered_before_its_send_is_over) {
  bool met = false;
  for (std::uint64_t seed = 0; seed < 50 && !met; ++seed) {
    SimFaults faults = SimFaults::random(seed).lossless();
    faults.completion_send = 1024;
    faults.late_completion = 512;
    SimNetwork network(seed, faults);
    EchoServer server(network);
    SimPeer peer(network);
    peer.connect(server.port);
    peer.send("x");
    peer.on_received = [&] { peer.received().size() < 5 ? peer.send("x") : peer.finish(); };
    server.on_echo = [&](EchoServer::Client& client) {
      met = met || (client.received == peer.received().size() + 1 && client.outbox.pending() > 1);
    };
    ASSERT_TRUE(server.run_until_quiescent()) << network.explain();
    ASSERT_EQ(peer.received(), "xxxxx") << network.explain();
  }
  EXPECT_TRUE(met);
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
