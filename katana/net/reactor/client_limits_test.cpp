#include "katana/net/reactor/client_limits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace katana::net {
namespace {

constexpr Instant first_instant{seconds(1000).ns};

engine::PeerEndpoint limited_peer(Bytes address) {
  return engine::PeerEndpoint::of(*IpAddress::parse(address), 1000);
}

engine::PeerEndpoint numbered(std::uint32_t number) {
  return engine::PeerEndpoint::of(IpAddress::v4(0x0a00'0000 + number), 1000);
}

ClientRefusal refusal_of(ClientLimits& limits, const engine::PeerEndpoint& peer,
                         Instant now = first_instant) {
  return limits.admit(peer, false, now).refusal;
}

TEST(ClientLimits, do_nothing_unless_one_is_set) {
  EXPECT_FALSE(limits_anything({}));
  EXPECT_TRUE(limits_anything({.connections_max = 1}));
  ClientLimitOptions denied;
  denied.deny = {*Network::parse("10.0.0.0/8")};
  EXPECT_TRUE(limits_anything(denied));
}

TEST(ClientLimits, so_many_connections_are_open_at_a_time) {
  ClientLimits limits({.connections_max = 2}, 1);
  const auto first = limits.admit(limited_peer("192.0.2.1"), false, first_instant);
  ASSERT_NE(first.slot, 0u);
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.1")), ClientRefusal::none);
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.1")), ClientRefusal::connections);
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.2")), ClientRefusal::none) << "another client";
  limits.leave(first.slot);
  EXPECT_EQ(refusal_of(limits, limited_peer("::ffff:192.0.2.1")), ClientRefusal::none)
      << "the same";
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.1")), ClientRefusal::connections);
}

TEST(ClientLimits, requests_of_a_client_that_a_proxy_names_count_with_its_own) {
  ClientLimitOptions options{.requests_max = 2};
  options.exempt = {*Network::parse("10.0.0.0/8")};
  ClientLimits limits(options, 1);
  const IpAddress named = *IpAddress::parse("192.0.2.1");
  const auto own = limits.admit(limited_peer("192.0.2.1"), false, first_instant);
  auto first = limits.begin_request(named, first_instant);
  auto second = limits.begin_request(own.slot);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(limits.begin_request(*IpAddress::parse("::ffff:192.0.2.1"), first_instant));
  EXPECT_FALSE(limits.begin_request(own.slot));
  EXPECT_TRUE(limits.begin_request(*IpAddress::parse("192.0.2.2"), first_instant));
  const auto exempt = limits.begin_request(*IpAddress::parse("10.0.0.1"), first_instant);
  ASSERT_TRUE(exempt);
  EXPECT_FALSE(*exempt);
  // The entry is another client's only when nothing is in progress.
  limits.leave(own.slot);
  EXPECT_EQ(limits.clients(first_instant), 1u);
  first.reset();
  EXPECT_TRUE(limits.begin_request(named, first_instant));
  second.reset();
  EXPECT_EQ(limits.clients(first_instant), 0u);
  EXPECT_EQ(limits.requests(), 0u);
}

TEST(ClientLimits, a_client_of_ipv6_is_a_prefix) {
  ClientLimits limits({.connections_max = 1}, 1);
  EXPECT_EQ(refusal_of(limits, limited_peer("2001:db8:0:1::1")), ClientRefusal::none);
  EXPECT_EQ(refusal_of(limits, limited_peer("2001:db8:0:1:ffff::1")), ClientRefusal::connections);
  EXPECT_EQ(refusal_of(limits, limited_peer("2001:db8:0:2::1")), ClientRefusal::none);
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.1")), ClientRefusal::none);
  EXPECT_EQ(refusal_of(limits, limited_peer("64:ff9b::192.0.2.1")), ClientRefusal::connections);
  EXPECT_EQ(refusal_of(limits, limited_peer("64:ff9b::192.0.2.2")), ClientRefusal::none);
  ClientLimits wide({.connections_max = 1, .v4_bits = 24, .v6_bits = 48}, 1);
  EXPECT_EQ(refusal_of(wide, limited_peer("2001:db8:0:1::1")), ClientRefusal::none);
  EXPECT_EQ(refusal_of(wide, limited_peer("2001:db8:0:2::1")), ClientRefusal::connections);
  EXPECT_EQ(refusal_of(wide, limited_peer("192.0.2.1")), ClientRefusal::none);
  EXPECT_EQ(refusal_of(wide, limited_peer("192.0.2.200")), ClientRefusal::connections);
}

TEST(ClientLimits, new_connections_have_a_rate_and_a_burst) {
  ClientLimits limits({.connections_per_s = 10, .connections_burst = 3}, 1);
  const auto connect = [&](Instant now) {
    const auto admission = limits.admit(limited_peer("192.0.2.1"), false, now);
    if (admission.slot != 0) limits.leave(admission.slot);
    return admission.refusal;
  };
  for (int count = 0; count < 3; ++count) EXPECT_EQ(connect(first_instant), ClientRefusal::none);
  for (int count = 0; count < 100; ++count) {
    EXPECT_EQ(connect(first_instant), ClientRefusal::rate) << "being refused costs nothing more";
  }
  EXPECT_EQ(connect(first_instant + milliseconds(99)), ClientRefusal::rate);
  EXPECT_EQ(connect(first_instant + milliseconds(100)), ClientRefusal::none);
  EXPECT_EQ(connect(first_instant + milliseconds(100)), ClientRefusal::rate);
}

TEST(ClientLimits, a_reactor_whose_clock_is_behind_gives_a_client_no_less) {
  ClientLimits limits({.connections_per_s = 1, .connections_burst = 2}, 1);
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.1")), ClientRefusal::none);
  const Instant behind{first_instant.ns - milliseconds(20).ns};
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.1"), behind), ClientRefusal::none);
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.1"), behind), ClientRefusal::rate);
}

TEST(ClientLimits, handshakes_are_counted_until_they_are_over) {
  ClientLimits limits({.handshakes_max = 1}, 1);
  const auto first = limits.admit(limited_peer("192.0.2.1"), true, first_instant);
  EXPECT_EQ(limits.admit(limited_peer("192.0.2.1"), true, first_instant).refusal,
            ClientRefusal::handshakes);
  EXPECT_EQ(limits.admit(limited_peer("192.0.2.1"), false, first_instant).refusal,
            ClientRefusal::none);
  limits.end_handshake(first.slot);
  EXPECT_EQ(limits.admit(limited_peer("192.0.2.1"), true, first_instant).refusal,
            ClientRefusal::none);
}

TEST(ClientLimits, requests_are_counted_for_all_connections_of_a_client) {
  ClientLimits limits({.requests_max = 2}, 1);
  const auto one = limits.admit(limited_peer("192.0.2.1"), false, first_instant);
  const auto two = limits.admit(limited_peer("192.0.2.1"), false, first_instant);
  const auto other = limits.admit(limited_peer("192.0.2.2"), false, first_instant);
  const auto first = limits.begin_request(one.slot);
  EXPECT_TRUE(first);
  {
    auto second = limits.begin_request(two.slot);
    EXPECT_TRUE(second);
    const ClientPlace moved = *std::move(second);  // as to a task that goes on
    second.reset();
    EXPECT_FALSE(limits.begin_request(one.slot));
    EXPECT_TRUE(limits.begin_request(other.slot));
  }
  EXPECT_TRUE(limits.begin_request(one.slot));
  EXPECT_EQ(limits.requests(), 1u);
}

TEST(ClientLimits, a_request_that_outlives_its_connection_counts_and_keeps_the_entry) {
  ClientLimits limits({.requests_max = 1, .clients_max = 8}, 7);
  const auto here = limits.admit(limited_peer("192.0.2.1"), false, first_instant);
  auto place = limits.begin_request(here.slot);
  ASSERT_TRUE(place);
  limits.leave(here.slot);
  // More clients than there are entries: a forgotten entry would be taken.
  for (std::uint32_t number = 0; number < 100; ++number) {
    limits.leave(limits.admit(numbered(number), false, first_instant).slot);
  }
  const auto again = limits.admit(limited_peer("192.0.2.1"), false, first_instant);
  EXPECT_EQ(again.slot, here.slot);
  EXPECT_FALSE(limits.begin_request(again.slot)) << "its handler runs";
  place.reset();
  EXPECT_TRUE(limits.begin_request(again.slot));
}

TEST(ClientLimits, the_rate_of_new_connections_outlives_the_connections) {
  ClientLimits limits({.connections_per_s = 1, .connections_burst = 2, .clients_max = 8}, 7);
  for (int count = 0; count < 2; ++count) {
    limits.leave(limits.admit(limited_peer("192.0.2.1"), false, first_instant).slot);
  }
  // More clients than there are entries: each would take a forgotten one.
  for (std::uint32_t number = 0; number < 100; ++number) {
    const auto admission = limits.admit(numbered(number), false, first_instant);
    if (admission.slot != 0) limits.leave(admission.slot);
  }
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.1")), ClientRefusal::rate);
  const Instant later = first_instant + seconds(2);
  EXPECT_EQ(limits.clients(later), 0u) << "its rate is full again";
}

TEST(ClientLimits, bytes_beyond_the_burst_make_their_client_wait) {
  ClientLimits limits({.received_bytes_per_s = 1000, .received_bytes_burst = 5000}, 1);
  const auto slot = limits.admit(limited_peer("192.0.2.1"), false, first_instant).slot;
  EXPECT_EQ(limits.take_bytes(slot, 5000, first_instant), Duration{});
  EXPECT_EQ(limits.take_bytes(slot, 500, first_instant), milliseconds(500));
  EXPECT_EQ(limits.take_bytes(slot, 500, first_instant + seconds(1)), Duration{});
}

TEST(ClientLimits, who_may_connect_is_said_by_networks) {
  ClientLimitOptions options;
  options.connections_max = 1;
  options.allow = {*Network::parse("192.0.2.0/24"), *Network::parse("10.0.0.0/8")};
  options.deny = {*Network::parse("192.0.2.128/25")};
  options.exempt = {*Network::parse("10.0.0.1")};
  ClientLimits limits(options, 1);
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.1")), ClientRefusal::none);
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.129")), ClientRefusal::denied);
  EXPECT_EQ(refusal_of(limits, limited_peer("198.51.100.1")), ClientRefusal::denied);
  for (int count = 0; count < 5; ++count) {
    const auto admission = limits.admit(limited_peer("10.0.0.1"), false, first_instant);
    EXPECT_EQ(admission.refusal, ClientRefusal::none);
    EXPECT_EQ(admission.slot, 0u) << "nothing is counted";
  }
  const engine::PeerEndpoint local{.family = engine::PeerEndpoint::Family::local};
  EXPECT_EQ(refusal_of(limits, local), ClientRefusal::denied) << "it is not among the allowed";
  ClientLimits counting({.connections_max = 1}, 1);
  EXPECT_EQ(refusal_of(counting, local), ClientRefusal::none);
  EXPECT_EQ(refusal_of(counting, local), ClientRefusal::none);
}

TEST(ClientLimits, a_client_cannot_have_its_count_forgotten_by_others) {
  ClientLimits limits(
      {.connections_max = 1, .connections_per_s = 1, .connections_burst = 2, .clients_max = 64}, 7);
  ASSERT_EQ(refusal_of(limits, limited_peer("192.0.2.1")), ClientRefusal::none);
  // A thousand addresses; a connection of each opens and closes.
  for (std::uint32_t number = 0; number < 1000; ++number) {
    const auto admission = limits.admit(numbered(number), false, first_instant);
    if (admission.slot != 0) limits.leave(admission.slot);
  }
  EXPECT_EQ(refusal_of(limits, limited_peer("192.0.2.1")), ClientRefusal::connections);
  EXPECT_LE(limits.clients(first_instant), 64u + 8u);
}

TEST(ClientLimits, clients_that_find_no_place_share_the_limits_of_one) {
  ClientLimits limits({.connections_max = 3, .clients_max = 8}, 7);
  for (std::uint32_t number = 0; number < 8; ++number) {
    ASSERT_EQ(refusal_of(limits, numbered(number)), ClientRefusal::none);
  }
  std::vector<ClientLimits::Slot> shared;
  for (std::uint32_t number = 100; number < 103; ++number) {
    const auto admission = limits.admit(numbered(number), false, first_instant);
    ASSERT_EQ(admission.refusal, ClientRefusal::none);
    shared.push_back(admission.slot);
  }
  EXPECT_EQ(shared[0], shared[2]);
  EXPECT_EQ(refusal_of(limits, numbered(103)), ClientRefusal::connections);
  EXPECT_EQ(refusal_of(limits, numbered(0)), ClientRefusal::none) << "it has its own";
  limits.leave(shared[0]);
  EXPECT_EQ(refusal_of(limits, numbered(104)), ClientRefusal::none);
}

TEST(ClientLimits, an_entry_of_which_nothing_is_left_is_given_to_another) {
  ClientLimits limits({.connections_max = 1, .clients_max = 8}, 7);
  for (std::uint32_t number = 0; number < 10'000; ++number) {
    const auto admission = limits.admit(numbered(number), false, first_instant);
    ASSERT_EQ(admission.refusal, ClientRefusal::none) << number;
    limits.leave(admission.slot);
  }
  EXPECT_EQ(limits.clients(first_instant), 0u);
}

TEST(ClientLimits, threads_together_admit_no_more_than_one_would) {
  ClientLimits limits({.connections_max = 100}, 7);
  std::vector<int> admitted(4);
  {
    std::vector<std::jthread> threads;
    for (int& mine : admitted) {
      threads.emplace_back([&limits, &mine] {
        for (int count = 0; count < 1000; ++count) {
          mine += refusal_of(limits, limited_peer("192.0.2.1")) == ClientRefusal::none ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(admitted[0] + admitted[1] + admitted[2] + admitted[3], 100);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
