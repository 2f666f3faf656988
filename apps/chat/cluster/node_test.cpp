// Nodes on a network in virtual time: the servers that are there, missed messages, owners of names.
#include "apps/chat/cluster/node.hpp"

#include <gtest/gtest.h>

#include <string>

#include "apps/chat/cluster/node_fixture_test.hpp"

namespace katana::chat::cluster {
namespace {

constexpr const char* lobby = "lobby";

class NodeTest : public ::testing::Test {
 protected:
  void start_three() {
    for (const char* const name : {"a:1", "b:1", "c:1"}) net_.add(name);
    net_.run_for(milliseconds(50));
    for (std::uint32_t at = 0; at < 3; ++at) server(at).set_room(lobby, at + 1);
    net_.run_for(seconds(1));
  }
  NodeNet::Server& server(std::size_t at) { return *net_.servers[at]; }
  std::uint64_t delivered(std::size_t to, std::size_t from, const std::string& room = lobby) {
    return server(to).delivered[{room, server(from).id()}];
  }
  NodeNet net_{1};
};

TEST_F(NodeTest, servers_that_start_know_of_one_another_and_of_who_is_where) {
  start_three();
  for (std::size_t at = 0; at < 3; ++at) {
    EXPECT_EQ(server(at).node().nodes(), 2U);
    EXPECT_EQ(server(at).who(lobby), 6 - (at + 1));
    EXPECT_EQ(server(at).node().counters().remote_members.value(), 6 - (at + 1));
  }
  server(2).set_room(lobby, 10);
  net_.run_for(milliseconds(110));
  EXPECT_EQ(server(0).who(lobby), 12U);
}

TEST_F(NodeTest, what_is_said_is_published_only_where_others_have_members) {
  start_three();
  server(0).set_room("red", 1);
  net_.run_for(milliseconds(20));
  EXPECT_FALSE(server(0).outward.contains("red"));
  server(1).set_room("red", 1);
  net_.run_for(milliseconds(20));
  EXPECT_TRUE(server(0).outward.contains("red"));
  server(0).say("red");
  net_.run_for(milliseconds(20));
  EXPECT_EQ(delivered(1, 0, "red"), 1U);
  EXPECT_EQ(delivered(2, 0, "red"), 0U);
  server(1).set_room("red", 0);
  net_.run_for(milliseconds(150));
  EXPECT_FALSE(server(0).node().said("red", 1).wanted);
}

TEST_F(NodeTest, who_was_killed_is_gone_within_the_stated_time) {
  start_three();
  server(2).kill();
  const Duration most = ClusterOptions().gone_after_max();
  net_.run_for(most);
  EXPECT_EQ(server(0).who(lobby), 2U);
  EXPECT_EQ(server(1).who(lobby), 1U);
  EXPECT_EQ(server(0).went, std::vector<std::string>{"c:1"});
  EXPECT_EQ(server(0).members_gone, 3U);
}

TEST_F(NodeTest, a_server_that_was_killed_and_started_again_is_not_there_twice) {
  start_three();
  server(2).kill();
  net_.run_for(seconds(1));
  NodeNet::Server& again = net_.add("c:1");
  again.set_room(lobby, 1);
  net_.run_for(milliseconds(200));
  EXPECT_EQ(server(0).who(lobby), 3U);
  EXPECT_EQ(again.who(lobby), 3U);
}

TEST_F(NodeTest, a_goodbye_ends_it_at_once) {
  start_three();
  server(2).set_room(lobby, 0);
  server(2).node().stop(net_.now);
  server(2).kill();
  net_.run_for(milliseconds(20));
  EXPECT_EQ(server(0).who(lobby), 2U);
  EXPECT_EQ(server(0).node().nodes(), 1U);
  EXPECT_EQ(server(0).node().counters().departures.value(), 0U);
}

TEST_F(NodeTest, a_change_that_was_lost_is_missed_with_the_next_heartbeat) {
  start_three();
  net_.loss_per_1024 = 1024;
  server(2).set_room(lobby, 30);
  net_.run_for(milliseconds(120));
  net_.loss_per_1024 = 0;
  net_.run_for(milliseconds(700));
  EXPECT_EQ(server(0).who(lobby), 32U);
}

TEST_F(NodeTest, what_is_lost_in_the_midst_is_told_exactly) {
  start_three();
  server(0).say(lobby, 2);
  net_.run_for(milliseconds(5));
  net_.loss_per_1024 = 1024;
  server(0).say(lobby, 5);
  net_.loss_per_1024 = 0;
  server(0).say(lobby, 1);
  net_.run_for(milliseconds(5));
  EXPECT_EQ(delivered(1, 0), 3U);
  EXPECT_EQ(server(1).missed[lobby], 5U);
}

TEST_F(NodeTest, what_is_lost_at_the_end_is_told_by_a_heartbeat) {
  start_three();
  net_.loss_per_1024 = 1024;
  server(0).say(lobby, 7);
  net_.loss_per_1024 = 0;
  net_.run_for(seconds(1));
  EXPECT_EQ(server(1).missed[lobby], 7U);
  EXPECT_EQ(server(2).missed[lobby], 7U);
  // Told once, and then it is too late for it.
  EXPECT_FALSE(server(1).node().arrived(lobby, {server(0).id(), 0, 7}, net_.now).fresh);
  EXPECT_EQ(server(1).node().counters().late.value(), 7U);
}

TEST_F(NodeTest, what_only_some_heard_of_a_server_that_died_the_others_are_told) {
  start_three();
  net_.cut(server(0), server(1));
  server(0).say(lobby, 4);
  net_.run_for(milliseconds(10));
  server(0).kill();
  net_.heal();
  net_.run_for(seconds(5));
  EXPECT_EQ(delivered(2, 0), 4U);
  EXPECT_EQ(server(1).missed[lobby], 4U);
  EXPECT_EQ(server(2).missed[lobby], 0U);
}

TEST_F(NodeTest, after_a_partition_both_sides_are_told_what_the_other_said) {
  start_three();
  net_.cut(server(0), server(2));
  net_.cut(server(1), server(2));
  for (int second = 0; second < 10; ++second) {
    server(0).say(lobby, 1);
    server(2).say(lobby, 2);
    net_.run_for(seconds(1));
  }
  EXPECT_EQ(server(0).who(lobby), 2U);
  EXPECT_EQ(server(2).who(lobby), 0U);
  net_.heal();
  net_.run_for(seconds(2));
  EXPECT_EQ(delivered(1, 0), 10U);
  EXPECT_EQ(server(2).missed[lobby], 10U);
  EXPECT_EQ(server(0).missed[lobby], 20U);
  EXPECT_EQ(server(1).missed[lobby], 20U);
  EXPECT_EQ(server(0).who(lobby), 5U);
  EXPECT_EQ(server(2).who(lobby), 3U);
}

TEST_F(NodeTest, of_a_room_that_begins_in_a_partition_everything_is_told) {
  start_three();
  server(2).set_room("red", 1);
  net_.run_for(seconds(1));
  net_.cut(server(0), server(2));
  net_.run_for(seconds(5));
  server(0).set_room("red", 1);
  server(0).say("red", 3);
  net_.heal();
  net_.run_for(seconds(2));
  EXPECT_EQ(server(2).missed["red"], 3U);
}

// ---- names and numbers -------------------------------------------------------------------------

TEST_F(NodeTest, a_name_has_one_owner_on_all_servers) {
  start_three();
  server(0).node().claim_name(1, "alice", net_.now);
  EXPECT_TRUE(server(0).claimed.empty());
  net_.run_for(milliseconds(10));
  EXPECT_TRUE(server(0).claimed.at(1).granted);
  server(1).node().claim_name(1, "alice", net_.now);
  net_.run_for(milliseconds(10));
  EXPECT_FALSE(server(1).claimed.at(1).granted);
  server(0).node().release_name("alice");
  server(1).node().claim_name(2, "alice", net_.now);
  net_.run_for(milliseconds(10));
  EXPECT_TRUE(server(1).claimed.at(2).granted);
}

TEST_F(NodeTest, of_two_who_want_a_name_at_a_time_one_gets_it) {
  start_three();
  for (std::size_t at = 0; at < 3; ++at) server(at).node().claim_name(1, "alice", net_.now);
  net_.run_for(milliseconds(500));
  int granted = 0;
  for (std::size_t at = 0; at < 3; ++at) granted += server(at).claimed.at(1).granted ? 1 : 0;
  EXPECT_EQ(granted, 1);
}

TEST_F(NodeTest, a_server_alone_gives_names_at_once_and_one_that_is_not_answered_soon) {
  NodeNet::Server& alone = net_.add("a:1");
  alone.node().claim_name(1, "alice", net_.now);
  EXPECT_TRUE(alone.claimed.at(1).granted);
  net_.add("b:1");
  net_.run_for(milliseconds(100));
  server(1).kill();
  alone.node().claim_name(2, "bob", net_.now);
  net_.run_for(milliseconds(401));
  EXPECT_TRUE(alone.claimed.at(2).granted);
  EXPECT_EQ(alone.node().counters().claims_unheard.value(), 1U);
}

TEST_F(NodeTest, who_took_a_name_first_keeps_it_after_a_partition) {
  start_three();
  net_.cut(server(0), server(2));
  net_.cut(server(1), server(2));
  net_.run_for(seconds(4));
  server(2).node().claim_name(1, "alice", net_.now);
  net_.run_for(seconds(1));
  server(0).node().claim_name(1, "alice", net_.now);
  net_.run_for(seconds(1));
  EXPECT_TRUE(server(0).claimed.at(1).granted);
  net_.heal();
  net_.run_for(seconds(2));
  EXPECT_EQ(server(0).lost_names, std::vector<std::string>{"alice"});
  EXPECT_TRUE(server(2).lost_names.empty());
}

TEST_F(NodeTest, two_servers_with_a_slot_agree_on_who_keeps_it) {
  start_three();
  // Servers of one name choose the same slot; the one that was there first keeps it.
  const std::uint16_t kept = server(1).node().slot();
  net_.add("b:1");
  net_.run_for(seconds(1));
  EXPECT_EQ(server(1).node().slot(), kept);
  EXPECT_NE(server(3).node().slot(), kept);
  EXPECT_EQ(server(3).node().counters().number_conflicts.value(), 1U);
}

TEST_F(NodeTest, frames_of_strangers_beyond_the_limit_are_refused) {
  ClusterOptions options;
  options.nodes_max = 3;
  NodeNet::Server& small = net_.add("small:1", options);
  for (int at = 0; at < 5; ++at) net_.add("s:" + std::to_string(at));
  net_.run_for(seconds(1));
  EXPECT_EQ(small.node().nodes(), 2U);
  EXPECT_GT(small.node().counters().refused.value(), 0U);
}

TEST_F(NodeTest, one_that_returns_when_its_place_is_taken_is_refused) {
  ClusterOptions options;
  options.nodes_max = 2;
  NodeNet::Server& small = net_.add("small:1", options);
  NodeNet::Server& first = net_.add("s:1");
  net_.run_for(seconds(1));
  EXPECT_EQ(small.node().nodes(), 1U);
  net_.cut(small, first);
  net_.run_for(seconds(10));
  EXPECT_EQ(small.node().nodes(), 0U);
  net_.add("s:2");
  net_.run_for(seconds(1));
  EXPECT_EQ(small.node().nodes(), 1U);
  net_.heal();
  net_.run_for(seconds(2));
  EXPECT_EQ(small.node().nodes(), 1U);
  EXPECT_GT(small.node().counters().refused.value(), 0U);
}

// ---- whatever happens --------------------------------------------------------------------------

TEST_F(NodeTest, of_every_stream_all_is_delivered_or_told_whatever_is_lost) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    NodeNet net(seed);
    for (int at = 0; at < 4; ++at) net.add("s:" + std::to_string(at)).set_room(lobby, 1);
    net.run_for(seconds(1));
    std::map<NodeId, std::uint64_t> said;
    net.loss_per_1024 = static_cast<std::uint32_t>(net.random.below(300));
    for (int step = 0; step < 100; ++step) {
      NodeNet::Server& server = *net.servers[net.random.below(4)];
      const auto messages = static_cast<std::uint32_t>(net.random.between(1, 9));
      server.say(lobby, messages);
      said[server.id()] += messages;
      if (net.random.below(20) == 0) {
        net.cut(*net.servers[net.random.below(4)], *net.servers[net.random.below(4)]);
      }
      if (net.random.below(20) == 0) net.heal();
      net.run_for(milliseconds(static_cast<std::int64_t>(net.random.below(500))));
    }
    net.heal();
    net.loss_per_1024 = 0;
    net.run_for(seconds(6));
    for (const auto& to : net.servers) {
      std::uint64_t delivered = 0;
      std::uint64_t due = 0;
      for (const auto& from : net.servers) {
        if (from == to) continue;
        delivered += to->delivered[{lobby, from->id()}];
        due += said[from->id()];
      }
      EXPECT_EQ(delivered + to->missed[lobby], due) << "seed " << seed << ", server " << to->id();
      EXPECT_FALSE(to->disorder) << "seed " << seed;
      EXPECT_EQ(to->who(lobby), 3U) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
