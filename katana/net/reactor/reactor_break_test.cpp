// Connections whose link breaks: the input that a session still gets, and the fate of its output.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

class BreakTest : public ReactorTest {
 protected:
  // An outgoing connection whose session does not read.
  TestSession& begin_paused() {
    EXPECT_TRUE(reactor().connect({.port = 80}, protocol_, nullptr));
    TestSession& session = *protocol_.sessions.back();
    link_state(0).writable = SIZE_MAX;
    link_state(0).failure = EPIPE;
    session.connection.pause(PauseReason::content_unwanted);
    session.connection.wake();
    turn();
    EXPECT_TRUE(link_state(0).paused);
    world_.calls.clear();
    return session;
  }
  void lose_link() {
    link_state(0).kernel = Kernel::breaks;
    broken(0);
    turn();
  }
  bool is_gone() const { return protocol_.sessions.back() == nullptr; }
};

TEST_F(BreakTest, a_session_that_does_not_read_gets_what_is_left_when_it_reads_on) {
  TestSession& session = begin_paused();
  lose_link();
  ASSERT_FALSE(is_gone());
  EXPECT_EQ(calls(), Calls{});
  EXPECT_EQ(session.connection.failure(), EPIPE);
  session.connection.resume(PauseReason::content_unwanted);
  session.connection.wake();
  turn();
  EXPECT_EQ(calls(), Calls{"resume"});
  bytes(0, "the rest");
  turn();
  EXPECT_EQ(session.consumed, "the rest");
  int failure = 0;
  session.at_destruction = [&] { failure = session.connection.failure(); };
  broken(0);
  turn();
  EXPECT_TRUE(is_gone());
  EXPECT_EQ(failure, EPIPE);
  EXPECT_EQ(calls(), Calls{"close"});
}

TEST_F(BreakTest, what_it_writes_to_a_lost_link_is_dropped_and_it_is_not_asked_for_more) {
  TestSession& session = begin_paused();
  lose_link();
  EXPECT_TRUE(session.connection.outbox().write("anybody there?"));
  session.connection.want_writable();
  session.connection.wake();
  turn();
  turn();
  ASSERT_FALSE(is_gone());
  EXPECT_EQ(session.writables, 0);
  EXPECT_TRUE(session.connection.outbox().empty());
  EXPECT_EQ(reactor().memory_used().output, 0u);
  session.connection.resume(PauseReason::content_unwanted);
  session.connection.wake();
  turn();
  bytes(0, "the rest");
  turn();
  EXPECT_EQ(session.consumed, "the rest");
}

TEST_F(BreakTest, what_only_waited_for_room_reads_on_at_once) {
  EXPECT_TRUE(reactor().connect({.port = 80}, protocol_, nullptr));
  TestSession& session = *protocol_.sessions.back();
  EXPECT_TRUE(session.connection.outbox().write(std::string(5000, 'x')));
  EXPECT_TRUE(session.connection.output_full());
  session.connection.wake();
  turn();
  EXPECT_TRUE(link_state(0).paused);
  lose_link();
  ASSERT_FALSE(is_gone());
  EXPECT_FALSE(link_state(0).paused);
  EXPECT_EQ(reactor().memory_used().output, 0u);
  bytes(0, "refused");
  turn();
  EXPECT_EQ(session.consumed, "refused");
}

TEST_F(BreakTest, one_that_has_read_enough_of_a_lost_link_ends_without_sending) {
  TestSession& session = begin_paused();
  lose_link();
  session.connection.resume(PauseReason::content_unwanted);
  session.take = [&](Bytes input) {
    session.connection.finish(Finish::linger);
    return input.size();
  };
  session.connection.wake();
  turn();
  bytes(0, "the rest");
  turn();
  EXPECT_TRUE(is_gone());
}

TEST_F(BreakTest, one_that_is_reading_or_ending_or_was_accepted_ends_with_its_link) {
  for (const std::string which : {"reads", "ends", "accepted"}) {
    const auto index = static_cast<std::uint32_t>(world_.links.size());
    if (which == "accepted") {
      connect();
    } else {
      EXPECT_TRUE(reactor().connect({.port = 80}, protocol_, nullptr));
    }
    Connection& connection = protocol_.sessions.back()->connection;
    if (which != "reads") connection.pause(PauseReason::content_unwanted);
    connection.wake();
    turn();
    if (which == "ends") {
      EXPECT_TRUE(connection.outbox().write("unsent"));
      link_state(index).writable = 0;
      connection.finish(Finish::close);
      connection.wake();
      turn();
      ASSERT_FALSE(is_gone());
    }
    broken(index);
    turn();
    EXPECT_TRUE(is_gone()) << which;
    EXPECT_FALSE(link_state(index).open) << which;
  }
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
