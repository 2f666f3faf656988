// The view of one client: replies, limits, time and ends, on a calm network.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "tests/simulation/chat/chat_world.hpp"

namespace katana::simulation {
namespace {

class ChatTest : public testing::Test {
 protected:
  ~ChatTest() override {
    if (world_ == nullptr) return;
    for (SimPeer& each : peers_) each.close();
    world_->run_for(seconds(1));
    world_->drain(seconds(10));
    EXPECT_EQ(world_->faults_at_rest(), std::vector<std::string>{});
  }

  ChatWorld& world() {
    if (world_ == nullptr) world_ = std::make_unique<ChatWorld>(options_);
    return *world_;
  }
  SimPeer& connect() {
    SimPeer& peer = peers_.emplace_back(world().network());
    peer.connect(world().port());
    world().run_for(milliseconds(20));
    return peer;
  }
  // The bytes that the client received meanwhile.
  std::string say(SimPeer& peer, const std::string& lines) {
    peer.send(lines);
    return hear(peer);
  }
  std::string hear(SimPeer& peer) {
    world().run_for(milliseconds(20));
    return peer.take_received();
  }
  chat::HubCounters& counters() { return world().hub().counters(); }

  ChatWorldOptions options_;
  std::unique_ptr<ChatWorld> world_;
  std::deque<SimPeer> peers_;
};

TEST_F(ChatTest, a_line_reaches_the_others_and_nobody_is_told_anything_else) {
  SimPeer& first = connect();
  SimPeer& second = connect();
  EXPECT_EQ(say(first, "hello\r\n"), "");
  EXPECT_EQ(hear(second), "[USER1] hello\n");
  EXPECT_EQ(say(second, "hello back\n"), "");
  EXPECT_EQ(hear(first), "[USER2] hello back\n");
}

TEST_F(ChatTest, commands_are_answered_to_who_gave_them) {
  SimPeer& first = connect();
  SimPeer& second = connect();
  EXPECT_EQ(say(first, "/nick alice\n"), "* You are alice.\n");
  EXPECT_EQ(say(second, "/nick alice\n"),
            "! Somebody has that name, or may have it by number: choose another.\n");
  EXPECT_EQ(say(second, "/who\n"), "* 2 in room lobby: alice, USER2\n");
  EXPECT_EQ(say(second, "/join red\n/who\n"), "* You are in room red.\n* 1 in room red: USER2\n");
  EXPECT_EQ(say(first, "/who red\n/who blue\n"),
            "* 1 in room red: USER2\n! There is no such room.\n");
  EXPECT_EQ(say(second, "/leave\n/leave\n"),
            "* You are in room lobby.\n"
            "! You are in the lobby: /join ROOM goes elsewhere, /quit ends the connection.\n");
  EXPECT_EQ(say(second, "/dance\n"),
            "! There are /join ROOM, /leave, /who, /nick NAME and /quit; begin with // for a "
            "message that begins with /.\n");
  EXPECT_EQ(counters().refused.value(), 4U);
  EXPECT_EQ(hear(first), "");
}

TEST_F(ChatTest, rooms_do_not_hear_one_another) {
  SimPeer& first = connect();
  SimPeer& second = connect();
  SimPeer& third = connect();
  (void)say(first, "/join red\n");
  (void)say(second, "/join red\n");
  (void)say(first, "in red\n");
  (void)say(third, "in the lobby\n");
  EXPECT_EQ(hear(second), "[USER1] in red\n");
  EXPECT_EQ(hear(first), "");
  EXPECT_EQ(hear(third), "");
}

TEST_F(ChatTest, there_are_no_more_rooms_than_there_may_be) {
  options_.rooms_max = 2;
  SimPeer& first = connect();
  SimPeer& second = connect();
  (void)say(first, "/join red\n");
  EXPECT_EQ(say(second, "/join blue\n/who\n"),
            "! There are as many rooms as there may be: join one of them.\n"
            "* 1 in room lobby: USER2\n");
}

TEST_F(ChatTest, who_names_only_so_many) {
  options_.chat.who_names_max = 2;
  connect();
  connect();
  SimPeer& third = connect();
  EXPECT_EQ(say(third, "/who\n"), "* 3 in room lobby: USER1, USER2 and 1 more\n");
}

TEST_F(ChatTest, quitting_ends_the_connection_behind_all_that_was_said_before) {
  SimPeer& first = connect();
  SimPeer& second = connect();
  (void)say(first, "one\n");
  (void)say(second, "/quit\nnot heard\n");
  EXPECT_EQ(hear(first), "");
  world().run_for(seconds(3));
  EXPECT_EQ(second.received() + second.take_received(), "");
  EXPECT_TRUE(second.saw_end());
}

TEST_F(ChatTest, a_peer_that_ends_its_side_is_heard_to_the_end_and_gone) {
  SimPeer& first = connect();
  SimPeer& second = connect();
  second.send("one\ntwo\nthr");
  second.finish();
  EXPECT_EQ(hear(first), "[USER2] one\n[USER2] two\n");
  EXPECT_TRUE(second.saw_end());
  EXPECT_EQ(counters().members.value(), 1U);
}

TEST_F(ChatTest, above_the_limit_a_connection_is_told_so_and_ended) {
  options_.connections_max = 1;
  SimPeer& first = connect();
  SimPeer& second = connect();
  EXPECT_EQ(second.received(),
            "! The server has as many connections as it may have: try again later.\n");
  EXPECT_TRUE(second.saw_end());
  second.close();
  world().run_for(seconds(3));
  first.close();
  world().run_for(seconds(1));
  SimPeer& third = connect();
  EXPECT_EQ(say(third, "/who\n"), "* 1 in room lobby: USER2\n");
  EXPECT_EQ(counters().turned_away.value(), 1U);
}

TEST_F(ChatTest, who_asks_much_and_reads_nothing_is_not_asked_further) {
  SimPeer& first = connect();
  first.stop_reading();
  std::string questions;
  for (int count = 0; count < 20'000; ++count) questions += "/who\n";
  first.send(questions);
  world().run_for(seconds(1));
  // The contents of the window and of the outbox, and one reply more.
  EXPECT_LE(world().reactor().memory_used().output, 64U * 1024);
  EXPECT_EQ(world().reactor().paused_links().outbox_full, 1U);
  first.start_reading();
  world().run_for(seconds(5));
  EXPECT_EQ(first.received().size(), 20'000 * std::string("* 1 in room lobby: USER1\n").size());
}

// ---- rate ----

TEST_F(ChatTest, beyond_its_rate_a_client_is_read_later_and_nothing_is_lost) {
  options_.chat.rate_max_per_s = 10;
  options_.chat.rate_burst = 5;
  SimPeer& talker = connect();
  SimPeer& reader = connect();
  std::string lines;
  for (int count = 0; count < 20; ++count) lines += std::to_string(count) + "\n";
  talker.send(lines);
  std::string heard = hear(reader);
  EXPECT_EQ(std::ranges::count(heard, '\n'), 6);  // the burst, and the one that was due
  world().run_for(seconds(1));
  heard += hear(reader);
  EXPECT_GE(std::ranges::count(heard, '\n'), 15);
  EXPECT_LE(std::ranges::count(heard, '\n'), 17);
  world().run_for(seconds(1));
  heard += hear(reader);
  EXPECT_EQ(std::ranges::count(heard, '\n'), 20);
  EXPECT_TRUE(heard.ends_with("[USER1] 19\n"));
  EXPECT_GT(counters().throttles.value(), 10U);
}

TEST_F(ChatTest, what_was_said_beyond_the_rate_is_heard_although_the_client_has_ended) {
  options_.chat.rate_max_per_s = 10;
  options_.chat.rate_burst = 1;
  SimPeer& talker = connect();
  SimPeer& reader = connect();
  talker.send("a\nb\nc\nd\ne\n");
  talker.finish();
  world().run_for(seconds(1));
  EXPECT_EQ(hear(reader), "[USER1] a\n[USER1] b\n[USER1] c\n[USER1] d\n[USER1] e\n");
  EXPECT_TRUE(talker.saw_end());
}

// ---- time ----

TEST_F(ChatTest, a_silent_client_is_asked_and_then_ended) {
  options_.chat.limits.ping_after = seconds(10);
  options_.chat.limits.idle_timeout = seconds(30);
  SimPeer& silent = connect();
  SimPeer& answers = connect();
  world().run_for(seconds(11));
  EXPECT_EQ(silent.take_received(), "* ping: send a line, an empty one will do\n");
  EXPECT_EQ(say(answers, "\n"), "* ping: send a line, an empty one will do\n");
  world().run_for(seconds(20));
  EXPECT_EQ(silent.take_received(), "* You were silent for too long. Goodbye.\n");
  EXPECT_TRUE(silent.saw_end());
  EXPECT_FALSE(answers.saw_end());
  EXPECT_EQ(counters().timeouts.value(), 1U);
}

// ---- slow readers ----

// A message of 6,009 bytes as it is sent on.
void say_much(ChatWorld& world, SimPeer& talker, int times) {
  for (int count = 0; count < times; ++count) {
    talker.send(std::string(6000, 'x') + "\n");
    world.run_for(milliseconds(2));
  }
}

TEST_F(ChatTest, a_client_that_does_not_read_may_talk_and_slows_nobody) {
  SimPeer& talker = connect();
  SimPeer& deaf = connect();
  SimPeer& reader = connect();
  deaf.stop_reading();
  say_much(world(), talker, 100);
  EXPECT_EQ(hear(reader).size(), 100 * 6009U);
  EXPECT_GT(counters().of(chat::Loss::slow_reader).value(), 0U);
  EXPECT_LE(counters().queue_peak_bytes.value(), chat::queue_bytes_min + 16 * 1024);
  EXPECT_EQ(say(deaf, "still here\n"), "");
  EXPECT_EQ(hear(reader), "[USER2] still here\n");
  deaf.start_reading();
  world().run_for(seconds(1));
  const std::string heard = deaf.take_received();
  const std::uint64_t dropped = counters().of(chat::Loss::slow_reader).value();
  const std::string notice =
      "* " + std::to_string(dropped) + " messages were dropped because you read too slowly\n";
  EXPECT_NE(heard.find(notice), std::string::npos);
  EXPECT_EQ(heard.size(), (100 - dropped) * 6009 + notice.size());
}

TEST_F(ChatTest, a_client_that_reads_too_slowly_can_be_disconnected_in_order) {
  options_.chat.hub.slow_reader = chat::SlowReader::disconnect;
  SimPeer& talker = connect();
  SimPeer& deaf = connect();
  deaf.stop_reading();
  say_much(world(), talker, 60);
  EXPECT_EQ(counters().disconnects.value(), 1U);
  EXPECT_EQ(counters().members.value(), 1U);
  deaf.start_reading();
  world().run_for(seconds(1));
  const std::string heard = deaf.take_received();
  EXPECT_TRUE(heard.ends_with(" messages were dropped. Goodbye.\n"))
      << heard.substr(heard.size() - 80);
  EXPECT_TRUE(deaf.saw_end());
}

TEST_F(ChatTest, a_client_that_takes_nothing_at_all_is_cut_off_in_the_end) {
  SimPeer& talker = connect();
  SimPeer& deaf = connect();
  deaf.stop_reading();
  say_much(world(), talker, 60);
  world().run_for(seconds(31));
  EXPECT_TRUE(deaf.saw_reset());
  EXPECT_EQ(world().reactor().counters().send_timeouts, 1U);
  EXPECT_EQ(counters().due.value(), counters().delivered.value() + counters().lost());
}

// ---- the end of the server ----

TEST_F(ChatTest, when_the_server_stops_everybody_gets_what_was_said_and_the_farewell) {
  SimPeer& talker = connect();
  SimPeer& slow = connect();
  SimPeer& reader = connect();
  slow.stop_reading();
  say_much(world(), talker, 15);
  (void)hear(reader);
  talker.send("the last words\n");
  world().turn();
  world().reactor().request_drain(seconds(20));
  world().run_for(milliseconds(50));
  EXPECT_TRUE(reader.received().ends_with("* The server is stopping. Goodbye.\n"));
  EXPECT_TRUE(reader.saw_end());
  slow.start_reading();
  world().run_for(seconds(1));
  EXPECT_TRUE(slow.received().ends_with("* The server is stopping. Goodbye.\n"));
  EXPECT_EQ(counters().of(chat::Loss::draining).value(), 0U);
  for (SimPeer& each : peers_) each.close();
  world().run_until([this] { return world().stopped(); });
  EXPECT_EQ(world().reactor().counters().cut_off, 0U);
}

TEST_F(ChatTest, whoever_comes_while_the_server_stops_is_told_or_refused_and_never_left_alone) {
  for (int moment_us = 0; moment_us < 300; moment_us += 20) {
    ChatWorld world(options_);
    SimPeer early(world.network());
    early.connect(world.port());
    world.run_for(milliseconds(5));
    SimPeer late(world.network());
    late.connect(world.port());
    world.run_for(microseconds(moment_us));
    world.reactor().request_drain(seconds(20));
    world.run_for(milliseconds(500));
    EXPECT_TRUE(late.over() || !late.connected()) << moment_us;  // or its SYN was dropped
    if (late.saw_end()) {
      EXPECT_EQ(late.received(), "* The server is stopping. Goodbye.\n") << moment_us;
    }
    early.close();
    late.close();
    EXPECT_TRUE(world.run_until([&] { return world.stopped(); }, seconds(5))) << moment_us;
    EXPECT_EQ(world.reactor().counters().cut_off, 0U) << moment_us;
  }
}

TEST_F(ChatTest, whoever_does_not_take_it_in_time_is_cut_off_and_it_is_counted) {
  SimPeer& talker = connect();
  SimPeer& deaf = connect();
  deaf.stop_reading();
  say_much(world(), talker, 15);
  world().reactor().request_drain(seconds(5));
  world().run_for(seconds(8));
  EXPECT_TRUE(world().stopped());
  EXPECT_EQ(world().reactor().counters().cut_off, 1U);
  EXPECT_GT(counters().of(chat::Loss::draining).value(), 0U);
}

// ---- several reactors ----

TEST_F(ChatTest, on_several_reactors_everybody_hears_everybody) {
  options_.reactors = 3;
  constexpr int people = 12;
  for (int count = 0; count < people; ++count) connect();
  EXPECT_NE(world().hub(0).counters().members.value(), 12U);
  for (SimPeer& each : peers_) each.send("hello\n");
  world().run_for(milliseconds(50));
  for (SimPeer& each : peers_) {
    EXPECT_EQ(std::ranges::count(each.received(), '\n'), people - 1);
  }
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
