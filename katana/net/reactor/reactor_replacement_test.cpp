// A session replaces another: the bytes, the output, the pauses and the end of both.
#include <gtest/gtest.h>

#include "katana/net/reactor/handover.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

class SuccessionTest : public ReactorTest {
 protected:
  // Records its destruction, like data that an upgrade hands over.
  class Handover final : public SessionReplacement {
   public:
    Handover(TestProtocol& protocol, int& destroyed) : protocol_(protocol), destroyed_(destroyed) {}
    ~Handover() override { ++destroyed_; }
    std::size_t session_bytes() const noexcept override { return protocol_.session_bytes(); }
    Session* open(void* memory, Connection& connection) noexcept override {
      return protocol_.open(memory, connection);
    }

   private:
    TestProtocol& protocol_;
    int& destroyed_;
  };

  // Sessions that are still there look for their protocol when they end.
  ~SuccessionTest() override { reactor_.reset(); }

  std::unique_ptr<SessionReplacement> handover() {
    return std::make_unique<Handover>(second_, destroyed_);
  }
  TestSession& replacement() { return *second_.sessions.back(); }

  TestProtocol second_;
  int destroyed_ = 0;
};

TEST_F(SuccessionTest, what_the_first_session_left_is_offered_to_the_second_in_the_same_turn) {
  TestSession& first = connect();
  first.take = [&](Bytes) {
    first.connection.replace_session(handover());
    return std::size_t{3};
  };
  bytes(0, "oneTWO");
  turn();
  ASSERT_EQ(second_.sessions.size(), 1u);
  EXPECT_EQ(protocol_.sessions[0], nullptr) << "the first session is still there";
  EXPECT_EQ(replacement().offers, std::vector<std::string>{"TWO"});
  EXPECT_EQ(destroyed_, 1);
  EXPECT_EQ(reactor().memory_used().carry, 0u);
}

TEST_F(SuccessionTest, a_first_session_that_consumed_nothing_leaves_all_of_it) {
  TestSession& first = connect();
  first.take = [&](Bytes) {
    first.connection.replace_session(handover());
    return std::size_t{0};
  };
  bytes(0, "PRI *");
  turn();
  EXPECT_EQ(replacement().consumed, "PRI *");
}

TEST_F(SuccessionTest, bytes_that_were_carried_for_the_first_come_in_front_of_those_that_arrive) {
  TestSession& first = connect();
  first.take = [](Bytes) { return std::size_t{0}; };
  bytes(0, "PR");
  turn();
  EXPECT_GT(reactor().memory_used().carry, 0u);
  first.take = [&](Bytes input) {
    if (input == "PRI") first.connection.replace_session(handover());
    return std::size_t{0};
  };
  bytes(0, "I");
  bytes(0, " * HTTP");
  turn();
  EXPECT_EQ(replacement().consumed, "PRI * HTTP");
  EXPECT_EQ(reactor().memory_used().carry, 0u);
}

TEST_F(SuccessionTest, what_the_first_wrote_goes_out_before_what_the_second_writes) {
  TestSession& first = connect();
  second_.at_open = [](TestSession& session) {
    EXPECT_TRUE(session.connection.outbox().write("second"));
  };
  first.take = [&](Bytes input) {
    EXPECT_TRUE(first.connection.outbox().write("first "));
    first.connection.replace_session(handover());
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_EQ(sent(), "first second");
}

TEST_F(SuccessionTest, asked_for_outside_of_a_call_it_happens_before_the_turn_ends) {
  TestSession& first = connect();
  first.take = [&](Bytes input) {
    first.connection.pause(PauseReason::handler_pending);
    return input.size();
  };
  bytes(0, "upgrade");
  turn();
  bytes(0, "early frame");  // arrives behind the request, and waits
  turn();
  first.connection.replace_session(handover());
  first.connection.wake();
  turn();
  EXPECT_FALSE(replacement().connection.paused()) << "the first session's pause is still set";
  EXPECT_EQ(replacement().consumed, "early frame");
}

TEST_F(SuccessionTest, a_deadline_of_the_first_is_not_told_to_the_second) {
  TestSession& first = connect();
  first.connection.set_deadline(world_.now + seconds(5));
  first.take = [&](Bytes input) {
    first.connection.replace_session(handover());
    return input.size();
  };
  bytes(0, "x");
  turn();
  turn(seconds(6));
  EXPECT_EQ(replacement().deadlines, 0);
  replacement().connection.set_deadline(world_.now + seconds(1));
  turn(seconds(2));
  EXPECT_EQ(replacement().deadlines, 1);
}

TEST_F(SuccessionTest, a_full_outbox_is_the_second_sessions_pause_too) {
  TestSession& first = connect();
  link_state(0).writable = 0;
  first.take = [&](Bytes input) {
    EXPECT_TRUE(first.connection.outbox().write(std::string(5000, 'x')));
    EXPECT_TRUE(first.connection.output_full());
    first.connection.replace_session(handover());
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_TRUE(replacement().connection.has(PauseReason::outbox_full));
  link_state(0).sent += std::string(5000, 'x');
  world_.events.push_back([this] {
    link_state(0).sending = false;
    link_state(0).writable = SIZE_MAX;
    reactor().on_sent({0, 1}, 5000);
  });
  turn();
  EXPECT_EQ(replacement().writables, 1);
  EXPECT_FALSE(replacement().connection.paused());
}

TEST_F(SuccessionTest, the_second_session_is_told_that_the_input_had_ended) {
  TestSession& first = connect();
  first.at_input_end = [&] { first.connection.replace_session(handover()); };
  input_end(0);
  turn();
  turn();
  ASSERT_EQ(second_.sessions.size(), 1u);
  EXPECT_GE(replacement().input_ends, 1);
}

TEST_F(SuccessionTest, a_connection_that_ends_first_destroys_what_was_to_be_handed_over) {
  TestSession& first = connect();
  first.take = [&](Bytes input) {
    first.connection.replace_session(handover());
    first.connection.reset();
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_TRUE(link_state(0).was_reset);
  EXPECT_TRUE(second_.sessions.empty());
  EXPECT_EQ(destroyed_, 1);
}

TEST_F(SuccessionTest, a_session_that_has_finished_is_not_succeeded) {
  TestSession& first = connect();
  first.take = [&](Bytes input) {
    first.connection.replace_session(handover());
    first.connection.finish(Finish::close);
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_TRUE(second_.sessions.empty());
  EXPECT_EQ(destroyed_, 1);
  EXPECT_FALSE(link_state(0).open);
}

TEST_F(SuccessionTest, a_successor_may_be_succeeded_at_once) {
  TestProtocol third;
  TestSession& first = connect();
  second_.at_open = [&](TestSession& session) {
    session.connection.replace_session(std::make_unique<PlainReplacement>(third));
  };
  first.take = [&](Bytes) {
    first.connection.replace_session(handover());
    return std::size_t{0};
  };
  bytes(0, "for the third");
  turn();
  ASSERT_EQ(third.sessions.size(), 1u);
  EXPECT_EQ(third.sessions[0]->consumed, "for the third");
  EXPECT_TRUE(second_.sessions[0] == nullptr);
  reactor_.reset();
}

TEST_F(SuccessionTest, a_session_that_is_succeeded_while_it_opens_never_sees_a_byte) {
  protocol_.at_open = [&](TestSession& session) { session.connection.replace_session(handover()); };
  accept();
  ASSERT_EQ(second_.sessions.size(), 1u);
  bytes(0, "x");
  turn();
  EXPECT_EQ(replacement().consumed, "x");
}

TEST_F(SuccessionTest, a_drain_is_told_to_the_session_that_is_there) {
  TestSession& first = connect();
  first.take = [&](Bytes input) {
    first.connection.replace_session(handover());
    return input.size();
  };
  bytes(0, "x");
  turn();
  reactor().request_drain(seconds(1));
  turn();
  EXPECT_EQ(replacement().drains, 1);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
