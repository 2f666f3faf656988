// The life of received bytes: which bytes a session is offered, and when.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

// Takes whole lines and leaves the rest.
std::size_t whole_lines(Bytes input) { return input.rfind('\n') + 1; }

TEST_F(ReactorTest, bytes_are_offered_as_they_came_and_nothing_is_kept_of_what_was_consumed) {
  TestSession& session = connect();
  bytes(0, "hello");
  turn();
  EXPECT_EQ(session.offers, std::vector<std::string>{"hello"});
  EXPECT_EQ(reactor().memory_used().carry, 0u);
  EXPECT_EQ(counters().bytes_received, 5u);
  EXPECT_EQ(calls(), Calls{});
}

TEST_F(ReactorTest, bytes_not_consumed_come_again_in_front_of_what_arrives_next) {
  TestSession& session = connect();
  session.take = whole_lines;
  bytes(0, "one\ntw");
  turn();
  EXPECT_EQ(session.consumed, "one\n");
  EXPECT_GT(reactor().memory_used().carry, 0u);
  bytes(0, "o\nthree\n");
  turn();
  EXPECT_EQ(session.offers.back(), "two\nthree\n");
  EXPECT_EQ(session.consumed, "one\ntwo\nthree\n");
  EXPECT_EQ(reactor().memory_used().carry, 0u);
}

TEST_F(ReactorTest, what_remains_is_offered_again_as_long_as_some_is_consumed) {
  TestSession& session = connect();
  session.take = [](Bytes input) { return input.find('\n') + 1; };  // one line in each call
  bytes(0, "a\nb\nc\nrest");
  turn();
  EXPECT_EQ(session.offers,
            (std::vector<std::string>{"a\nb\nc\nrest", "b\nc\nrest", "c\nrest", "rest"}));
}

TEST_F(ReactorTest, a_session_that_needs_more_is_not_asked_again_until_more_comes) {
  TestSession& session = connect();
  session.take = [](Bytes) { return std::size_t{0}; };
  bytes(0, "ab");
  turn();
  turn(seconds(1));
  EXPECT_EQ(session.offers, std::vector<std::string>{"ab"});
  bytes(0, "c");
  turn();
  EXPECT_EQ(session.offers.back(), "abc");
}

TEST_F(ReactorTest, bytes_that_arrive_one_by_one_are_offered_whole) {
  TestSession& session = connect();
  session.take = whole_lines;
  const std::string text = "a line that comes in very small pieces\n";
  for (const char each : text) bytes(0, std::string(1, each));
  turn();
  EXPECT_EQ(session.consumed, text);
  EXPECT_EQ(session.offers.back(), text);
}

TEST_F(ReactorTest, a_session_that_leaves_more_than_a_carry_holds_is_reset_and_counted) {
  TestSession& session = connect();
  session.take = [](Bytes) { return std::size_t{0}; };
  for (int count = 0; count < 3; ++count) bytes(0, std::string(1024, 'x'));
  turn();
  EXPECT_EQ(protocol_.sessions[0], nullptr);
  EXPECT_TRUE(link_state(0).was_reset);
  EXPECT_EQ(counters().pool_exhausted, 1u);
  EXPECT_EQ(reactor().memory_used().carry, 0u);
}

// ---- pauses ----

TEST_F(ReactorTest, a_paused_session_is_not_offered_bytes_and_gets_them_all_when_it_goes_on) {
  TestSession& session = connect();
  session.connection.pause(PauseReason::handler_pending);
  bytes(0, "one ");
  bytes(0, "two");
  turn();
  EXPECT_TRUE(session.offers.empty());
  session.connection.resume(PauseReason::handler_pending);
  session.connection.wake();
  turn();
  EXPECT_EQ(session.offers, std::vector<std::string>{"one two"});
}

TEST_F(ReactorTest, a_session_that_pauses_in_the_midst_of_bytes_keeps_the_rest_for_later) {
  TestSession& session = connect();
  session.take = [&](Bytes input) {
    session.connection.pause(PauseReason::handler_pending);
    return input.find('\n') + 1;
  };
  bytes(0, "first\nsecond\n");
  turn();
  EXPECT_EQ(session.consumed, "first\n");
  session.connection.resume(PauseReason::handler_pending);
  session.connection.wake();
  turn();
  EXPECT_EQ(session.consumed, "first\nsecond\n");
  EXPECT_EQ(session.offers.back(), "second\n");
}

TEST_F(ReactorTest, a_pending_handler_keeps_receiving_until_a_small_block_is_full) {
  TestSession& session = connect();
  session.connection.pause(PauseReason::handler_pending);
  bytes(0, std::string(255, 'a'));
  turn();
  EXPECT_EQ(calls(), Calls{});
  bytes(0, "b");
  turn();
  EXPECT_EQ(calls(), Calls{"pause"});
  session.connection.resume(PauseReason::handler_pending);
  session.connection.wake();
  turn();
  EXPECT_EQ(calls(), Calls{"resume"});
  EXPECT_EQ(session.consumed, std::string(255, 'a') + "b");
}

TEST_F(ReactorTest, unwanted_content_stops_receiving_at_once) {
  TestSession& session = connect();
  session.take = [&](Bytes input) {
    session.connection.pause(PauseReason::content_unwanted);
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_EQ(calls(), Calls{"pause"});
  session.connection.resume(PauseReason::content_unwanted);
  session.connection.wake();
  turn();
  EXPECT_EQ(calls(), Calls{"resume"});
}

TEST_F(ReactorTest, two_reasons_to_pause_need_two_to_resume) {
  TestSession& session = connect();
  session.connection.pause(PauseReason::handler_pending);
  session.connection.pause(PauseReason::content_unwanted);
  bytes(0, "x");
  turn();
  session.connection.resume(PauseReason::content_unwanted);
  session.connection.wake();
  turn();
  EXPECT_TRUE(session.offers.empty());
  EXPECT_EQ(calls(), (Calls{"pause", "resume"}));  // a pending handler alone goes on receiving
  session.connection.resume(PauseReason::handler_pending);
  session.connection.wake();
  turn();
  EXPECT_EQ(session.offers.size(), 1u);
}

TEST_F(ReactorTest, a_session_that_resumes_itself_in_its_call_never_stops_receiving) {
  TestSession& session = connect();
  session.take = [&](Bytes input) {
    session.connection.pause(PauseReason::content_unwanted);
    session.connection.resume(PauseReason::content_unwanted);
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_EQ(calls(), Calls{});
}

// ---- the end of the input ----

TEST_F(ReactorTest, the_end_of_the_input_is_told_at_once) {
  TestSession& session = connect();
  input_end(0);
  turn();
  EXPECT_EQ(session.input_ends, 1);
  EXPECT_TRUE(session.connection.input_ended());
}

TEST_F(ReactorTest, a_paused_session_is_told_of_the_end_and_told_again_when_it_has_seen_all_bytes) {
  TestSession& session = connect();
  session.connection.pause(PauseReason::handler_pending);
  bytes(0, "last");
  input_end(0);
  turn();
  EXPECT_EQ(session.input_ends, 1);
  EXPECT_TRUE(session.offers.empty());
  session.at_input_end = [&] { EXPECT_EQ(session.consumed, "last"); };
  session.connection.resume(PauseReason::handler_pending);
  session.connection.wake();
  turn();
  EXPECT_EQ(session.consumed, "last");
  EXPECT_EQ(session.input_ends, 2);
}

TEST_F(ReactorTest, a_session_that_waits_for_bytes_that_will_not_come_is_told_of_the_end) {
  TestSession& session = connect();
  session.take = whole_lines;
  bytes(0, "line\nhalf a line");
  turn();
  input_end(0);
  turn();
  EXPECT_EQ(session.input_ends, 1);
  EXPECT_EQ(session.offers.back(), "half a line");
  session.connection.finish(Finish::close);
  session.connection.wake();
  turn();
  EXPECT_EQ(calls(), Calls{"close"});
}

TEST_F(ReactorTest, what_waits_behind_a_reply_goes_before_the_end_that_arrives_in_the_same_turn) {
  TestSession& session = connect();
  session.connection.pause(PauseReason::handler_pending);
  bytes(0, "pipelined");
  turn();
  // The handler answers, and before its connection is attended the end arrives.
  session.at_input_end = [&] { EXPECT_EQ(session.consumed, "pipelined"); };
  world_.events.push_back([&] {
    session.connection.resume(PauseReason::handler_pending);
    session.connection.wake();
  });
  input_end(0);
  turn();
  EXPECT_EQ(session.consumed, "pipelined");
  EXPECT_GE(session.input_ends, 1);
}

TEST_F(ReactorTest, an_end_that_the_session_finishes_at_closes_the_connection) {
  TestSession& session = connect();
  session.at_input_end = [&] {
    ASSERT_TRUE(session.connection.outbox().write("bye"));
    session.connection.finish(Finish::linger);
  };
  input_end(0);
  turn();
  EXPECT_EQ(sent(), "bye");
  EXPECT_EQ(calls(), Calls{"close"});  // the client has ended: there is nothing to linger for
}

TEST_F(ReactorTest, a_session_may_go_on_sending_after_the_peer_ended_its_side) {
  TestSession& session = connect();
  input_end(0);
  turn();
  ASSERT_TRUE(session.connection.outbox().write("still here"));
  session.connection.wake();
  turn(seconds(5));
  EXPECT_EQ(sent(), "still here");
  EXPECT_TRUE(link_state(0).open);
}

TEST_F(ReactorTest, a_broken_connection_destroys_its_session_wherever_it_was) {
  TestSession& session = connect();
  session.connection.pause(PauseReason::handler_pending);
  session.connection.wake();
  broken(0);
  turn();
  EXPECT_EQ(protocol_.sessions[0], nullptr);
  EXPECT_EQ(calls(), Calls{"close"});
  EXPECT_EQ(reactor().links_open(), 0u);
  turn();
}

// ---- wake ----

TEST_F(ReactorTest, what_is_written_outside_of_a_call_is_sent_before_the_turn_ends) {
  TestSession& session = connect();
  struct Write : Message {
    explicit Write(Connection& given)
        : Message([](Message& message) noexcept {
            auto& self = static_cast<Write&>(message);
            EXPECT_TRUE(self.connection.outbox().write("posted"));
            self.connection.wake();
          }),
          connection(given) {}
    Connection& connection;
  } message(session.connection);
  reactor().post(message);
  EXPECT_TRUE(world_.woken);
  turn();
  EXPECT_EQ(sent(), "posted");
}

TEST_F(ReactorTest, a_connection_woken_between_turns_makes_the_next_turn_wait_for_nothing) {
  TestSession& session = connect();
  turn();
  EXPECT_EQ(world_.waited, milliseconds(50));
  session.connection.wake();
  turn();
  EXPECT_EQ(world_.waited, Duration{});
  turn();
  EXPECT_EQ(world_.waited, milliseconds(50));
}

TEST_F(ReactorTest, waking_twice_is_waking_once) {
  TestSession& session = connect();
  ASSERT_TRUE(session.connection.outbox().write("x"));
  session.connection.wake();
  session.connection.wake();
  turn();
  EXPECT_EQ(link_state(0).sends, 1);
}

TEST_F(ReactorTest, a_session_that_wakes_another_has_it_attended_in_the_same_turn) {
  TestSession& first = connect();
  TestSession& second = connect();
  first.take = [&](Bytes input) {
    EXPECT_TRUE(second.connection.outbox().write(input));
    second.connection.wake();
    return input.size();
  };
  bytes(0, "for you");
  turn();
  EXPECT_EQ(sent(1), "for you");
}

TEST_F(ReactorTest, links_that_go_while_they_are_woken_are_forgotten_in_any_order) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> links;
    for (int count = 0; count < 10; ++count) {
      connect();
      links.push_back(static_cast<std::uint32_t>(world_.links.size() - 1));
    }
    std::ranges::shuffle(links, random);
    std::size_t survivors = 0;
    for (const std::uint32_t link : links) {
      TestSession& session = *protocol_.sessions[link];
      session.connection.wake();
      ASSERT_TRUE(session.connection.outbox().write("x"));
    }
    std::ranges::shuffle(links, random);
    for (const std::uint32_t link : links) {
      random() % 2 == 0 ? broken(link) : static_cast<void>(++survivors);
    }
    turn();
    EXPECT_EQ(reactor().links_open(), survivors);
    for (const std::uint32_t link : links) {
      EXPECT_EQ(sent(link), link_state(link).open ? "x" : "") << "seed " << seed;
      if (link_state(link).open) broken(link);
    }
    turn();
    ASSERT_EQ(reactor().links_open(), 0u);
  }
}

TEST_F(ReactorTest, a_session_may_destroy_its_neighbours_work_but_calls_never_nest) {
  // Each of three sessions writes to and wakes the two others from inside its call.
  for (int count = 0; count < 3; ++count) connect();
  for (TestSession* const session : protocol_.sessions) {
    session->take = [this, session](Bytes input) {
      for (TestSession* const other : protocol_.sessions) {
        if (other == session) continue;
        EXPECT_TRUE(other->connection.outbox().write(input));
        other->connection.wake();
      }
      return input.size();
    };
  }
  for (std::uint32_t link = 0; link < 3; ++link)
    bytes(link, std::string(1, 'a' + static_cast<char>(link)));
  turn();
  EXPECT_EQ(sent(0), "bc");
  EXPECT_EQ(sent(1), "ac");
  EXPECT_EQ(sent(2), "ab");
}

// ---- deadlines of the session ----

TEST_F(ReactorTest, a_deadline_is_told_once_when_it_has_come) {
  TestSession& session = connect();
  session.connection.set_deadline(reactor().now() + milliseconds(100));
  turn(milliseconds(99));
  EXPECT_EQ(session.deadlines, 0);
  turn(milliseconds(2));
  EXPECT_EQ(session.deadlines, 1);
  EXPECT_EQ(session.connection.deadline(), never);
  turn(seconds(10));
  EXPECT_EQ(session.deadlines, 1);
}

TEST_F(ReactorTest, moving_a_deadline_later_costs_no_operation_of_the_timer_wheel) {
  TestSession& session = connect();
  session.connection.set_deadline(reactor().now() + milliseconds(100));
  const std::uint64_t before = reactor().timers().operations();
  for (int count = 0; count < 1000; ++count) {
    session.connection.set_deadline(reactor().now() + seconds(10 + count));
  }
  EXPECT_EQ(reactor().timers().operations(), before);
}

class EagerTimers : public ReactorTest {
 protected:
  static ReactorOptions options() {
    ReactorOptions options = small_options();
    options.lazy_timers = false;
    return options;
  }
  EagerTimers() : ReactorTest(options()) {}
};

TEST_F(EagerTimers, move_with_every_deadline_and_fire_at_the_last) {
  TestSession& session = connect();
  const std::uint64_t before = reactor().timers().operations();
  for (int count = 1; count <= 10; ++count) {
    session.connection.set_deadline(reactor().now() + milliseconds(100 * count));
  }
  EXPECT_EQ(reactor().timers().operations(), before + 10);
  turn(milliseconds(998));
  EXPECT_EQ(session.deadlines, 0);
  turn(milliseconds(4));
  EXPECT_EQ(session.deadlines, 1);
}

TEST_F(ReactorTest, a_deadline_moved_later_is_kept_even_though_the_timer_stood_earlier) {
  TestSession& session = connect();
  session.connection.set_deadline(reactor().now() + milliseconds(100));
  session.connection.set_deadline(reactor().now() + milliseconds(500));
  turn(milliseconds(200));
  EXPECT_EQ(session.deadlines, 0);
  turn(milliseconds(299));
  EXPECT_EQ(session.deadlines, 0);
  turn(milliseconds(3));
  EXPECT_EQ(session.deadlines, 1);
}

TEST_F(ReactorTest, a_deadline_moved_earlier_is_kept) {
  TestSession& session = connect();
  session.connection.set_deadline(reactor().now() + seconds(100));
  session.connection.set_deadline(reactor().now() + milliseconds(10));
  turn(milliseconds(12));
  EXPECT_EQ(session.deadlines, 1);
}

TEST_F(ReactorTest, a_deadline_taken_back_is_not_told) {
  TestSession& session = connect();
  session.connection.set_deadline(reactor().now() + milliseconds(10));
  session.connection.set_deadline(never);
  turn(seconds(1));
  EXPECT_EQ(session.deadlines, 0);
}

TEST_F(ReactorTest, a_deadline_set_in_the_call_that_told_of_the_last_one_is_told_too) {
  TestSession& session = connect();
  session.at_deadline = [&] {
    session.connection.set_deadline(reactor().now() + milliseconds(10));
  };
  session.connection.set_deadline(reactor().now() + milliseconds(10));
  for (int step = 0; step < 50; ++step) turn(milliseconds(11));
  EXPECT_GE(session.deadlines, 48);
}

TEST_F(ReactorTest, a_deadline_that_comes_while_the_session_is_paused_is_told) {
  TestSession& session = connect();
  session.connection.pause(PauseReason::outbox_full);
  session.connection.pause(PauseReason::handler_pending);
  session.connection.set_deadline(reactor().now() + milliseconds(10));
  turn(milliseconds(20));
  EXPECT_EQ(session.deadlines, 1);
}

TEST_F(ReactorTest, a_connection_that_is_gone_leaves_no_timer) {
  TestSession& session = connect();
  session.connection.set_deadline(reactor().now() + milliseconds(10));
  broken(0);
  turn();
  EXPECT_EQ(reactor().timers().next(), never);
  turn(seconds(1));
}

// ---- a run of everything at once ----

TEST_F(ReactorTest, an_echo_comes_back_whole_whatever_the_peer_the_kernel_and_the_handler_do) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    TestSession& session = connect();
    const auto link = static_cast<std::uint32_t>(world_.links.size() - 1);
    World::LinkState& state = link_state(link);
    Connection& connection = session.connection;
    session.take = [&](Bytes input) {
      std::size_t used = 0;
      while (used < input.size() && !connection.paused()) {
        if (connection.output_full()) break;
        const std::size_t count = std::min<std::size_t>(1 + random() % 700, input.size() - used);
        EXPECT_TRUE(connection.outbox().write(input.substr(used, count)));
        used += count;
        if (random() % 8 == 0) connection.pause(PauseReason::handler_pending);
      }
      return used;
    };
    std::string expected;
    for (int step = 0; step < 300 || state.sent.size() < expected.size(); ++step) {
      ASSERT_LT(step, 5000) << "seed " << seed << ": the echo stopped";
      state.kernel = random() % 2 == 0 ? Kernel::takes : Kernel::borrows;
      state.writable = random() % 3 == 0 ? SIZE_MAX : random() % 900;
      if (state.sending) complete(link, random() % 1500);
      if (step < 300 && !state.paused) {
        const std::string text(1 + random() % 1024, static_cast<char>('a' + step % 26));
        expected += text;
        bytes(link, text);
      }
      if (connection.has(PauseReason::handler_pending) && random() % 2 == 0) {
        connection.resume(PauseReason::handler_pending);
        connection.wake();
      }
      turn(milliseconds(1));
      ASSERT_TRUE(state.open) << "seed " << seed;
    }
    ASSERT_TRUE(state.sent == expected) << "seed " << seed;
    turn();
    EXPECT_EQ(reactor().memory_used().output, 0u);
    EXPECT_EQ(reactor().memory_used().carry, 0u);
    EXPECT_FALSE(state.paused);
    broken(link);
    turn(seconds(40));  // long enough for any deadline that was forgotten
    ASSERT_EQ(counters().send_timeouts, 0u);
  }
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
