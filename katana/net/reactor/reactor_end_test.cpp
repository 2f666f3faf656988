// How connections end, how they begin, and how the reactor stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "katana/net/reactor/handover.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

void finish_at_first_bytes(TestSession& session, Finish how, std::size_t used = SIZE_MAX) {
  session.take = [&session, how, used](Bytes input) {
    EXPECT_TRUE(session.connection.outbox().write("bye"));
    session.connection.finish(how);
    return std::min(used, input.size());
  };
}

// ---- beginning ----

TEST_F(ReactorTest, a_peer_that_nobody_can_name_is_refused_and_counted) {
  world_.links.emplace_back().open = true;
  world_.events.push_back([this] { EXPECT_FALSE(reactor().on_accepted({0, 1}, 0, {})); });
  turn();
  EXPECT_TRUE(protocol_.sessions.empty());
  EXPECT_EQ(counters().peers_unknown, 1u);
  EXPECT_EQ(counters().accepted, 0u);
  EXPECT_EQ(reactor().links_open(), 0u);
}

TEST_F(ReactorTest, a_connection_keeps_its_peer_and_its_listener_until_it_is_gone) {
  ASSERT_TRUE(reactor().listen({}, protocol_));
  accept(1);
  TestSession& session = *protocol_.sessions.back();
  std::string at_the_end;
  session.at_destruction = [&] { at_the_end = session.connection.peer().text().bytes(); };
  EXPECT_EQ(session.connection.listener(), 1u);
  EXPECT_EQ(session.connection.peer().text().bytes(), "192.0.2.0:1000");
  broken(0);
  turn();
  EXPECT_EQ(at_the_end, "192.0.2.0:1000");
}

// ---- finish ----

TEST_F(ReactorTest, a_finished_session_that_has_read_everything_closes_at_once) {
  finish_at_first_bytes(connect(), Finish::close);
  bytes(0, "request");
  turn();
  EXPECT_EQ(sent(), "bye");
  EXPECT_EQ(calls(), Calls{"close"});  // and no other call of the engine
  EXPECT_EQ(link_state(0).sends, 1);
  EXPECT_EQ(reactor().links_open(), 0u);
  EXPECT_EQ(counters().closed, 1u);
}

TEST_F(ReactorTest, a_finished_session_with_nothing_to_send_closes_at_once) {
  TestSession& session = connect();
  session.connection.finish(Finish::close);
  session.connection.wake();
  turn();
  EXPECT_EQ(calls(), Calls{"close"});
  EXPECT_EQ(link_state(0).sends, 0);
}

TEST_F(ReactorTest, what_is_pending_is_sent_before_a_finished_connection_closes) {
  TestSession& session = connect();
  link_state(0).writable = 1;
  finish_at_first_bytes(session, Finish::close);
  bytes(0, "request");
  turn();
  EXPECT_TRUE(link_state(0).open);
  link_state(0).writable = SIZE_MAX;
  complete(0);
  turn();
  EXPECT_EQ(sent(), "bye");
  EXPECT_EQ(calls(), Calls{"close"});
}

TEST_F(ReactorTest, a_session_that_leaves_bytes_unread_lingers_even_if_it_asked_to_close) {
  finish_at_first_bytes(connect(), Finish::close, 3);
  bytes(0, "request");
  turn();
  EXPECT_EQ(sent(), "bye");
  EXPECT_EQ(calls(), Calls{"shutdown_send"});
  input_end(0);
  turn();
  EXPECT_EQ(calls(), Calls{"close"});
}

TEST_F(ReactorTest, bytes_that_arrive_while_the_end_is_being_sent_make_it_linger) {
  TestSession& session = connect();
  link_state(0).writable = 0;
  finish_at_first_bytes(session, Finish::close);
  bytes(0, "request");
  turn();
  bytes(0, "more");
  turn();
  EXPECT_EQ(session.offers.size(), 1u);  // nothing is offered to a finished session
  link_state(0).writable = SIZE_MAX;
  complete(0);
  turn();
  EXPECT_EQ(calls(), Calls{"shutdown_send"});
}

TEST_F(ReactorTest, a_session_that_finishes_with_bytes_in_the_carry_lingers) {
  TestSession& session = connect();
  session.connection.pause(PauseReason::handler_pending);
  bytes(0, "pipelined");
  turn();
  EXPECT_TRUE(session.connection.outbox().write("bye"));
  session.connection.finish(Finish::close);
  session.connection.wake();
  turn();
  EXPECT_EQ(calls(), Calls{"shutdown_send"});
  EXPECT_EQ(reactor().memory_used().carry, 0u);
}

TEST_F(ReactorTest, a_session_that_finishes_while_its_socket_is_not_read_lingers_and_reads) {
  TestSession& session = connect();
  session.connection.pause(PauseReason::content_unwanted);
  session.connection.wake();
  turn();
  EXPECT_EQ(calls(), Calls{"pause"});
  session.connection.finish(Finish::close);
  session.connection.wake();
  turn();
  EXPECT_EQ(calls(), (Calls{"shutdown_send", "resume"}));
  bytes(0, "unread content");
  input_end(0);
  turn();
  EXPECT_EQ(calls(), Calls{"close"});
}

TEST_F(ReactorTest, a_session_that_finishes_on_carried_bytes_consumes_them_all) {
  TestSession& session = connect();
  session.connection.pause(PauseReason::handler_pending);
  bytes(0, "one two");
  turn();
  finish_at_first_bytes(session, Finish::linger, 3);
  session.connection.resume(PauseReason::handler_pending);
  session.connection.wake();
  turn();
  EXPECT_EQ(calls(), Calls{"shutdown_send"});
  EXPECT_EQ(reactor().memory_used().carry, 0u);
  bytes(0, "three");
  turn(milliseconds(1));
  EXPECT_EQ(session.offers.size(), 1u);
  EXPECT_EQ(session.consumed, "one");
}

// ---- lingering ----

class LingerTest : public ReactorTest {
 protected:
  static ReactorOptions options() {
    ReactorOptions options = small_options();
    options.linger_timeout = seconds(2);
    options.linger_bytes_max = 3000;
    return options;
  }
  LingerTest() : ReactorTest(options()) {
    finish_at_first_bytes(connect(), Finish::linger);
    bytes(0, "request");
    turn();
    EXPECT_EQ(calls(), Calls{"shutdown_send"});
  }
};

TEST_F(LingerTest, a_lingering_connection_reads_and_drops_until_the_peer_ends) {
  bytes(0, std::string(1000, 'x'));
  turn();
  EXPECT_TRUE(link_state(0).open);
  EXPECT_EQ(protocol_.sessions[0]->offers.size(), 1u);
  input_end(0);
  turn();
  EXPECT_EQ(calls(), Calls{"close"});
}

TEST_F(LingerTest, a_lingering_connection_waits_no_longer_than_its_timeout) {
  turn(milliseconds(1999));
  EXPECT_TRUE(link_state(0).open);
  turn(milliseconds(2));
  EXPECT_EQ(calls(), Calls{"close"});
  EXPECT_EQ(counters().send_timeouts, 0u);
}

TEST_F(LingerTest, bytes_of_the_peer_do_not_make_it_linger_longer) {
  for (int second = 0; second < 2; ++second) {
    bytes(0, "x");
    turn(seconds(1));
  }
  turn(milliseconds(1));
  EXPECT_FALSE(link_state(0).open);
}

TEST_F(LingerTest, a_deadline_that_the_session_sets_late_does_not_undo_the_timeout) {
  protocol_.sessions[0]->connection.set_deadline(never);
  turn(milliseconds(2001));
  EXPECT_FALSE(link_state(0).open);
}

TEST_F(LingerTest, a_deadline_of_the_session_is_not_told_any_more) {
  protocol_.sessions[0]->connection.set_deadline(reactor().now() + milliseconds(10));
  turn(milliseconds(20));
  ASSERT_TRUE(link_state(0).open);
  EXPECT_EQ(protocol_.sessions[0]->deadlines, 0);
}

TEST_F(LingerTest, a_peer_that_sends_too_much_while_it_lingers_is_closed) {
  for (int count = 0; count < 3; ++count) bytes(0, std::string(1001, 'x'));
  turn();
  EXPECT_EQ(calls(), Calls{"close"});
}

TEST_F(LingerTest, a_connection_that_breaks_while_it_lingers_is_closed) {
  broken(0);
  turn();
  EXPECT_EQ(calls(), Calls{"close"});
}

TEST_F(LingerTest, what_a_session_writes_after_its_end_is_not_sent) {
  TestSession& session = *protocol_.sessions[0];
  ASSERT_TRUE(session.connection.outbox().write("too late"));
  session.connection.wake();
  turn();
  EXPECT_EQ(sent(), "bye");
  turn(seconds(3));
  EXPECT_EQ(reactor().memory_used().total(), 0u);
}

// ---- reset ----

TEST_F(ReactorTest, a_reset_drops_what_is_pending) {
  TestSession& session = connect();
  session.take = [&](Bytes input) {
    EXPECT_TRUE(session.connection.outbox().write("never seen"));
    session.connection.reset();
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_EQ(sent(), "");
  EXPECT_EQ(calls(), Calls{"reset"});
  EXPECT_EQ(reactor().memory_used().total(), 0u);
}

TEST_F(ReactorTest, a_session_may_reset_its_connection_from_every_call) {
  const auto expect_reset = [&](std::uint32_t link) {
    turn();
    EXPECT_TRUE(link_state(link).was_reset) << link;
    EXPECT_EQ(protocol_.sessions[link], nullptr);
  };
  const auto resetting = [&]() -> TestSession& {
    TestSession& session = connect();
    session.at_input_end = session.at_deadline = session.at_drain =
        session.at_writable = [&session] { session.connection.reset(); };
    return session;
  };
  resetting();
  input_end(0);
  expect_reset(0);
  TestSession& timed = resetting();
  timed.connection.set_deadline(reactor().now());
  world_.now = world_.now + milliseconds(2);
  expect_reset(1);
  TestSession& verbose = resetting();
  verbose.take = [&](Bytes input) {
    EXPECT_TRUE(verbose.connection.outbox().write(std::string(8 * 1024, 'x')));
    (void)verbose.connection.output_full();
    return input.size();
  };
  bytes(2, "x");
  expect_reset(2);  // from on_writable, within the turn
  resetting();
  reactor().request_drain(seconds(1));
  expect_reset(3);
}

TEST_F(ReactorTest, listeners_are_handed_over_before_they_close) {
  const Handover handover{.listeners = {2, 0}, .idle = seconds(3), .spread = seconds(4)};
  EXPECT_EQ(reactor().handover(), nullptr);
  EXPECT_EQ(reactor().idle_at_drain(milliseconds(250)), milliseconds(250));
  reactor().request_handover(seconds(10), handover);
  EXPECT_EQ(reactor().handover(), nullptr);  // not before it drains
  turn();
  EXPECT_EQ(reactor().handover(), &handover);
  EXPECT_EQ(reactor().idle_at_drain(milliseconds(250)), seconds(3));
  EXPECT_THAT(world_.calls, testing::IsSupersetOf({"hand_over 2", "hand_over 0"}));
  EXPECT_EQ(world_.listeners_closed, 1);
}

TEST_F(ReactorTest, those_that_come_back_are_spread_evenly_however_many_there_are) {
  const Handover handover{.spread = seconds(1)};
  reactor().request_handover(seconds(10), handover);
  turn();
  for (const int count : {10, 100, 1000}) {
    std::array<int, 10> in_tenth{};
    for (int each = 0; each < count; ++each) {
      const Duration at = reactor().next_return();
      ASSERT_GE(at, Duration{});
      ASSERT_LT(at, seconds(1));
      ++in_tenth[static_cast<std::size_t>(at.ns * 10 / 1'000'000'000)];
    }
    for (const int tenth : in_tenth) EXPECT_NEAR(tenth, count / 10, 2) << "of " << count;
  }
}

TEST_F(ReactorTest, the_engine_lets_go_of_the_memory_before_the_session_is_destroyed) {
  TestSession& session = connect();
  link_state(0).kernel = Kernel::borrows;
  ASSERT_TRUE(session.connection.outbox().write("in flight"));
  session.connection.wake();
  turn();
  bool open_at_destruction = true;
  session.at_destruction = [&] { open_at_destruction = link_state(0).open; };
  session.connection.reset();
  session.connection.wake();
  turn();
  EXPECT_FALSE(open_at_destruction);
}

TEST_F(ReactorTest, a_session_that_wakes_its_connection_while_it_is_destroyed_does_no_harm) {
  TestSession& session = connect();
  session.at_destruction = [&] { session.connection.wake(); };
  broken(0);
  turn();
  turn();
  EXPECT_EQ(reactor().links_open(), 0u);
}

// ---- accepting ----

TEST_F(ReactorTest, a_session_that_speaks_first_is_heard_in_the_turn_of_its_accept) {
  protocol_.at_open = [](TestSession& session) {
    EXPECT_TRUE(session.connection.outbox().write("welcome"));
  };
  connect();
  EXPECT_EQ(sent(), "welcome");
}

TEST_F(ReactorTest, a_session_that_refuses_at_once_is_closed_in_the_turn_of_its_accept) {
  protocol_.at_open = [](TestSession& session) {
    EXPECT_TRUE(session.connection.outbox().write("busy"));
    session.connection.finish(Finish::close);
  };
  accept();
  EXPECT_EQ(sent(), "busy");
  EXPECT_FALSE(link_state(0).open);
}

TEST_F(ReactorTest, an_accept_that_fails_is_tried_again_after_a_while) {
  world_.events.push_back([&] {
    world_.accept_paused = true;
    reactor().on_accept_failed(engine::AcceptFailure::descriptors);
  });
  turn();
  EXPECT_EQ(counters().accept_failures, 1u);
  turn(milliseconds(99));
  EXPECT_TRUE(world_.accept_paused);
  turn(milliseconds(2));
  EXPECT_FALSE(world_.accept_paused);
  EXPECT_EQ(calls(), Calls{"resume_accept"});
}

TEST_F(ReactorTest, an_accept_that_failed_is_tried_again_as_soon_as_a_link_closes) {
  connect();
  world_.events.push_back([&] {
    world_.accept_paused = true;
    reactor().on_accept_failed(engine::AcceptFailure::memory);
  });
  turn();
  broken(0);
  turn();
  turn(milliseconds(1));
  EXPECT_FALSE(world_.accept_paused);
}

TEST_F(ReactorTest, links_that_close_when_no_accept_failed_resume_nothing) {
  connect();
  broken(0);
  turn();
  turn(seconds(1));
  EXPECT_EQ(calls(), Calls{"close"});
}

TEST_F(ReactorTest, each_listener_has_its_own_protocol) {
  TestProtocol other;
  ASSERT_TRUE(reactor().listen({}, other));
  EXPECT_EQ(reactor().port(1), 8001);
  accept(1);
  EXPECT_EQ(other.sessions.size(), 1u);
  EXPECT_TRUE(protocol_.sessions.empty());
  broken(0);
  turn();
}

// ---- the end of the reactor ----

TEST_F(ReactorTest, draining_stops_accepting_and_asks_every_session_to_finish) {
  TestSession& idle = connect();
  TestSession& busy = connect();
  idle.at_drain = [&] { idle.connection.finish(Finish::close); };
  reactor().request_drain(seconds(5));
  EXPECT_TRUE(world_.woken);
  turn();
  EXPECT_EQ(world_.listeners_closed, 1);
  EXPECT_FALSE(link_state(0).open);
  EXPECT_EQ(busy.drains, 1);
  EXPECT_TRUE(reactor().draining());
  EXPECT_FALSE(reactor().stopped());
}

TEST_F(ReactorTest, a_drained_reactor_stops_when_links_and_listeners_are_gone) {
  TestSession& session = connect();
  reactor().request_drain(seconds(5));
  turn();
  session.connection.finish(Finish::close);
  session.connection.wake();
  turn();
  EXPECT_EQ(reactor().links_open(), 0u);
  EXPECT_FALSE(reactor().stopped());  // a handshake that was completed may still be accepted
  world_.accepting = false;
  turn();
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(counters().cut_off, 0u);
}

TEST_F(ReactorTest, what_is_left_at_the_drain_deadline_is_cut_off_and_counted) {
  connect();
  connect();
  reactor().request_drain(seconds(5));
  turn();
  turn(milliseconds(4999));
  EXPECT_EQ(reactor().links_open(), 2u);
  world_.accepting = false;
  turn(milliseconds(1));
  EXPECT_EQ(counters().cut_off, 2u);
  EXPECT_TRUE(link_state(0).was_reset);
  EXPECT_TRUE(reactor().stopped());
}

TEST_F(ReactorTest, a_drain_with_no_time_cuts_off_in_the_same_turn) {
  for (int count = 0; count < 5; ++count) connect();
  world_.accepting = false;
  reactor().request_drain(Duration{});
  turn();
  EXPECT_EQ(counters().cut_off, 5u);
  EXPECT_TRUE(reactor().stopped());
}

TEST_F(ReactorTest, sessions_are_asked_to_drain_once) {
  TestSession& session = connect();
  reactor().request_drain(seconds(5));
  turn();
  reactor().request_drain(seconds(1));
  turn();
  EXPECT_EQ(session.drains, 1);
  turn(seconds(2));
  EXPECT_EQ(reactor().links_open(), 1u);  // the first request set the deadline
}

TEST_F(ReactorTest, a_stop_cuts_everything_off_at_once) {
  connect();
  reactor().request_stop();
  turn();
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(counters().cut_off, 1u);
  EXPECT_EQ(calls(), Calls{"reset"});
}

TEST_F(ReactorTest, run_turns_until_the_reactor_has_drained_and_waits_for_its_deadlines) {
  TestSession& session = connect();
  session.connection.set_deadline(reactor().now() + milliseconds(300));
  session.at_deadline = [&] {
    EXPECT_EQ(Reactor::current(), &reactor());
    session.connection.finish(Finish::close);
    world_.accepting = false;
  };
  reactor().request_drain(seconds(5));
  world_.passes = true;
  const Instant start = world_.now;
  reactor().run();
  EXPECT_GE(world_.now - start, milliseconds(300));
  EXPECT_LE(world_.now - start, milliseconds(302));
  EXPECT_EQ(counters().cut_off, 0u);
}

TEST_F(ReactorTest, run_does_not_spin_when_the_drain_deadline_is_over_and_a_listener_is_not) {
  connect();
  reactor().request_drain(milliseconds(10));
  world_.passes = true;
  int turns = 0;
  // An engine whose listeners need three more turns.
  world_.at_turn = [&] {
    if (reactor().links_open() == 0 && ++turns == 3) world_.accepting = false;
    if (turns > 0) {
      EXPECT_GT(world_.waited, seconds(1));
    }
  };
  reactor().run();
  EXPECT_EQ(turns, 3);
}

TEST_F(ReactorTest, a_reactor_that_is_destroyed_destroys_its_sessions_and_holds_no_memory) {
  TestSession& session = connect();
  session.take = [](Bytes) { return std::size_t{0}; };
  bytes(0, "kept");
  link_state(0).writable = 0;
  ASSERT_TRUE(session.connection.outbox().write("pending"));
  session.connection.set_deadline(reactor().now() + seconds(1));
  session.connection.wake();
  turn();
  session.connection.wake();
  reactor_.reset();
  EXPECT_EQ(protocol_.sessions[0], nullptr);
  EXPECT_TRUE(link_state(0).was_reset);
}

TEST_F(ReactorTest, messages_run_in_order_and_those_posted_meanwhile_in_the_next_turn) {
  struct Step : Message {
    Step(Reactor& given, std::vector<int>& list, int name)
        : Message([](Message& message) noexcept {
            auto& self = static_cast<Step&>(message);
            self.log.push_back(self.number);
            if (self.number == 1 && std::exchange(self.again, false)) self.reactor.post(self);
          }),
          reactor(given),
          log(list),
          number(name) {}
    Reactor& reactor;
    std::vector<int>& log;
    int number;
    bool again = true;
  };
  std::vector<int> log;
  Step first(reactor(), log, 1), second(reactor(), log, 2);
  reactor().post(first);
  reactor().post(second);
  turn();
  EXPECT_EQ(log, (std::vector<int>{1, 2}));
  EXPECT_TRUE(world_.woken);
  turn();
  EXPECT_EQ(log, (std::vector<int>{1, 2, 1}));
}

TEST_F(ReactorTest, a_memory_budget_is_what_its_pools_can_give) {
  const MemoryBudget budget = reactor().memory_budget();
  const ReactorOptions options = small_options();
  EXPECT_EQ(budget.output, options.output_block_bytes * options.output_blocks_max);
  EXPECT_GE(budget.connections, options.engine.links_max * sizeof(Connection));
  EXPECT_EQ(budget.carry, options.carry_small_bytes * options.engine.links_max +
                              (options.engine.receive_bytes_max + options.carry_extra_bytes) *
                                  options.carry_large_max);
  EXPECT_EQ(reactor().memory_used().total(), 0u);
}

TEST(ReactorDeathTest, marks_and_rates_that_make_no_sense_are_refused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  World world;
  ReactorOptions marks;
  marks.outbox_low_bytes = marks.outbox_high_bytes + 1;
  EXPECT_DEATH(ReactorOn<FakeEngine>(marks, 64, world), "REQUIRE failed");
  ReactorOptions rate;
  rate.rate_min_bytes_per_s = 0;
  EXPECT_DEATH(ReactorOn<FakeEngine>(rate, 64, world), "REQUIRE failed");
}

TEST_F(ReactorTest, a_connection_that_outlasts_a_drain_is_waited_for_only_while_it_sends) {
  Connection& connection = **reactor().connect({.port = 80}, protocol_, nullptr);
  connection.outlast_drain();
  connection.outlast_drain();
  EXPECT_EQ(reactor().links_lasting(), 1u);
  EXPECT_TRUE(connection.outbox().write("last"));
  connection.wake();
  world_.accepting = false;
  reactor().request_drain(seconds(10));
  turn();
  EXPECT_FALSE(reactor().stopped());
  link_state(0).writable = SIZE_MAX;
  link_state(0).sent += "last";
  world_.events.push_back([this] {
    link_state(0).sending = false;
    reactor().on_sent({0, 1}, 4);
  });
  turn();
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(counters().cut_off, 0u);
  reactor_.reset();
  EXPECT_FALSE(world_.links[0].was_reset);
}

TEST_F(ReactorTest, what_outlasts_a_drain_is_no_loss_when_its_deadline_comes) {
  Connection& lasting = **reactor().connect({.port = 80}, protocol_, nullptr);
  lasting.outlast_drain();
  EXPECT_TRUE(lasting.outbox().write("never taken"));
  lasting.wake();
  connect();
  world_.accepting = false;
  reactor().request_drain(seconds(1));
  turn();
  turn(seconds(2));
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(counters().cut_off, 1u) << "the one that was accepted";
  EXPECT_EQ(reactor().links_lasting(), 0u);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
