// The contract, one sentence at a time, without faults but those that a test asks for.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>

#include "katana/base/system/file_fixture_test.hpp"
#include "katana/net/engine/sim/sim_fixture_test.hpp"

namespace katana::engine {
namespace {

TEST_F(CalmTest, a_round_trip_takes_the_delays_and_no_more) {
  const Instant start = network.now();
  greet();
  // The handshake takes one and a half round trips, with the bytes behind its last part; the echo
  // takes half a round trip more.
  EXPECT_GE((network.now() - start).ns, microseconds(200).ns);
  EXPECT_LE((network.now() - start).ns, microseconds(1'300).ns);
  EXPECT_EQ(peer.link_state(), SimLink::open);
  EXPECT_EQ(peer.link(), only_client().link);
  EXPECT_EQ(server.peers, std::vector<std::string>{"192.0.2.2:10000"});
}

TEST_F(CalmTest, a_turn_goes_on_to_the_next_event_or_by_its_wait) {
  const Instant start = network.now();
  const std::int64_t wall_start_s = server.engine.wall_clock_s();
  server.engine.turn(seconds(5));
  EXPECT_EQ(server.engine.now(), start + seconds(5));
  EXPECT_EQ(server.engine.wall_clock_s(), wall_start_s + 5);

  bool ran = false;
  network.after(seconds(2), [&] {
    ran = true;
    server.engine.wake();
  });
  server.engine.turn(seconds(5));
  EXPECT_TRUE(ran);
  EXPECT_EQ(server.engine.now(), start + seconds(7));

  // Time passes without a wait, too: a reactor that never waits still makes progress.
  const Instant before = server.engine.now();
  server.engine.turn(Duration{0});
  EXPECT_GT(server.engine.now(), before);
}

TEST_F(CalmTest, a_wake_ends_the_wait_of_the_next_turn_only) {
  const Instant start = network.now();
  server.engine.wake();
  server.engine.turn(seconds(5));
  EXPECT_LT(server.engine.now(), start + milliseconds(1));
  server.engine.turn(seconds(5));
  EXPECT_GE(server.engine.now(), start + seconds(5));
}

TEST_F(CalmTest, a_connection_that_is_detached_is_served_by_the_engine_that_adopts_it) {
  EchoServer other(network);
  server.detaches = true;
  peer.connect(server.port);
  peer.send("hello");
  ASSERT_TRUE(turn_until([&] { return server.detached.size() == 1; }));
  EXPECT_EQ(server.engine.links_open(), 0u);
  other.adopt(server.detached[0]);
  peer.send(", again");
  peer.finish();
  for (int count = 0; count < 100 && !peer.saw_end(); ++count) {
    other.engine.turn(milliseconds(10));
    server.engine.turn(Duration{});
  }
  EXPECT_EQ(peer.received(), "hello, again");
  EXPECT_TRUE(peer.saw_end());
  EXPECT_EQ(other.engine.links_open(), 0u);
}

TEST_F(CalmTest, a_detached_connection_that_is_discarded_is_reset) {
  server.detaches = true;
  peer.connect(server.port);
  peer.send("hello");
  ASSERT_TRUE(turn_until([&] { return server.detached.size() == 1; }));
  server.engine.discard(server.detached[0]);
  EXPECT_TRUE(turn_until([&] { return peer.saw_reset(); }));
}

TEST_F(CalmTest, nothing_is_delivered_to_a_paused_link_and_all_of_it_after_resume) {
  greet();
  EchoServer::Client& client = only_client();
  server.engine.pause_receive(client.link);
  peer.send("more");
  peer.finish();
  pass(seconds(1));
  EXPECT_EQ(client.received, 5u);
  EXPECT_EQ(server.ends, 0u);
  EXPECT_TRUE(network.quiescent());
  server.engine.resume_receive(client.link);
  ASSERT_TRUE(turn_until([&] { return peer.saw_end(); }));
  EXPECT_EQ(peer.received(), "hellomore");
}

TEST_F(CalmTest, a_link_that_stays_paused_stops_its_peer) {
  greet();
  server.engine.pause_receive(only_client().link);
  peer.send(std::string(200'000, 'x'));
  pass(seconds(1));
  EXPECT_EQ(peer.unsent(), 200'000u - 64 * 1024);
  server.engine.resume_receive(only_client().link);
  EXPECT_TRUE(turn_until([&] { return peer.received().size() == 200'005; }));
}

TEST_F(CalmTest, a_peer_that_does_not_read_leaves_the_send_pending_until_it_does) {
  greet();
  peer.stop_reading();
  peer.send(std::string(100'000, 'x'));
  pass(seconds(1));
  EXPECT_TRUE(only_client().sending);
  EXPECT_FALSE(only_client().outbox.empty());
  EXPECT_EQ(peer.received(), "hello");
  peer.start_reading();
  EXPECT_TRUE(turn_until([&] { return peer.received().size() == 100'005; }));
}

TEST_F(CalmTest, a_peer_that_ended_still_receives_what_is_sent_after) {
  greet();
  peer.send("last words");
  peer.finish();
  ASSERT_TRUE(turn_until([&] { return peer.saw_end(); }));
  EXPECT_EQ(peer.received(), "hellolast words");
  EXPECT_EQ(server.ends, 1u);
  EXPECT_EQ(peer.link_state(), SimLink::closed);
}

TEST_F(CalmTest, shutdown_send_ends_the_stream_and_the_peer_may_go_on) {
  greet();
  const Link link = only_client().link;
  server.engine.shutdown_send(link);
  ASSERT_TRUE(turn_until([&] { return peer.saw_end(); }));
  EXPECT_EQ(peer.link_state(), SimLink::open);
  peer.finish();
  ASSERT_TRUE(turn_until([&] { return server.engine.links_open() == 0; }));
  EXPECT_EQ(server.ends, 1u);
}

TEST_F(CalmTest, a_reset_by_the_peer_is_a_closed_link_even_while_paused) {
  greet();
  server.engine.pause_receive(only_client().link);
  peer.reset();
  ASSERT_TRUE(turn_until([&] { return server.engine.links_open() == 0; }));
  EXPECT_EQ(server.breaks, 1u);
}

TEST_F(CalmTest, a_reset_comes_behind_the_bytes_before_it_or_overtakes_them) {
  greet();
  peer.send("before");
  peer.reset();
  ASSERT_TRUE(turn_until([&] { return server.engine.links_open() == 0; }));
  EXPECT_EQ(server.received, 11u);

  SimFaults faults = SimFaults::calm();
  faults.reset_loses = 1024;
  network.set_faults(faults);
  SimPeer second(network);
  second.connect(server.port);
  second.send("hello");
  ASSERT_TRUE(turn_until([&] { return second.received() == "hello"; }));
  second.send("before");
  second.reset();
  ASSERT_TRUE(turn_until([&] { return server.engine.links_open() == 0; }));
  EXPECT_EQ(server.received, 16u);
}

TEST_F(CalmTest, an_unnoticed_reset_shows_when_the_paused_link_sends) {
  SimFaults faults = SimFaults::calm();
  faults.unnoticed_reset = 1024;
  network.set_faults(faults);
  greet();
  const Link link = only_client().link;
  server.engine.pause_receive(link);
  peer.reset();
  pass(seconds(1));
  EXPECT_EQ(server.breaks, 0u);
  iovec part{const_cast<char*>("x"), 1};
  std::size_t accepted = 0;
  EXPECT_EQ(server.engine.send(link, {&part, 1}, accepted), Sent::pending);
  pass(seconds(1));
  EXPECT_EQ(server.breaks, 1u);
  EXPECT_EQ(server.engine.send(link, {&part, 1}, accepted), Sent::failed);
}

TEST_F(CalmTest, a_send_that_finds_a_reset_is_followed_by_what_arrived_before) {
  greet();
  const Link link = only_client().link;
  only_client().sending = true;
  peer.send("refused");
  peer.reset();
  network.run_until(network.now() + seconds(1));
  const std::string text(100'000, 'u');
  iovec part{const_cast<char*>(text.data()), text.size()};
  std::size_t accepted = 0;
  EXPECT_EQ(server.engine.send(link, {&part, 1}, accepted), Sent::pending);
  ASSERT_TRUE(turn_until([&] { return server.breaks == 1; }));
  EXPECT_EQ(server.received, 12u);
}

TEST_F(CalmTest, a_paused_link_is_told_of_a_reset_at_once_and_may_then_read_what_is_left) {
  greet();
  const Link link = only_client().link;
  server.keeps_next = true;
  server.engine.pause_receive(link);
  peer.send("rest");
  peer.reset();
  ASSERT_TRUE(turn_until([&] { return server.breaks == 1; }));
  EXPECT_EQ(server.received, 5u);
  pass(seconds(1));
  EXPECT_EQ(server.breaks, 1u);
  server.engine.resume_receive(link);
  ASSERT_TRUE(turn_until([&] { return server.breaks == 2; }));
  EXPECT_EQ(server.received, 9u);
}

TEST_F(CalmTest, a_reset_by_the_core_is_one_for_the_peer) {
  greet();
  const Link link = only_client().link;
  server.engine.reset(link);
  server.clients[link.index].reset();
  ASSERT_TRUE(turn_until([&] { return peer.over(); }));
  EXPECT_TRUE(peer.saw_reset());
  EXPECT_FALSE(peer.saw_end());
}

TEST_F(CalmTest, closing_with_input_unread_resets_the_peer_as_a_kernel_does) {
  SimFaults faults = SimFaults::calm();
  faults.close_resets = 1024;
  network.set_faults(faults);
  greet();
  server.engine.pause_receive(only_client().link);
  peer.send("unread");
  pass(milliseconds(10));
  server.close(only_client());
  ASSERT_TRUE(turn_until([&] { return peer.over(); }));
  EXPECT_TRUE(peer.saw_reset());
}

TEST_F(CalmTest, bytes_sent_before_close_arrive_before_the_end) {
  greet();
  server.on_echo = [&](EchoServer::Client& client) { server.close(client); };
  peer.send("closes");
  ASSERT_TRUE(turn_until([&] { return peer.saw_end(); }));
  EXPECT_EQ(peer.received(), "hellocloses");
}

TEST_F(CalmTest, a_completion_that_comes_after_close_dies_and_leaves_the_next_link_alone) {
  SimFaults faults = SimFaults::calm();
  faults.late_completion = 1024;
  faults.completion_us = {5'000, 5'000};
  network.set_faults(faults);
  greet();
  peer.send("late");
  pass(milliseconds(1));
  const Link closed = only_client().link;
  server.close(only_client());

  SimPeer second(network);
  second.connect(server.port);
  second.send("second");
  ASSERT_TRUE(turn_until([&] { return second.received() == "second"; })) << network.explain();
  EXPECT_EQ(second.link().index, closed.index);
  EXPECT_NE(second.link().generation, closed.generation);
  EXPECT_EQ(server.engine.counters().late_completions, 1u);
  EXPECT_EQ(only_client().received, 6u);
}

TEST_F(CalmTest, calls_for_a_link_that_is_gone_are_counted_and_ignored) {
  greet();
  const Link gone = only_client().link;
  server.close(only_client());
  SimPeer second(network);
  second.connect(server.port);
  second.send("second");
  ASSERT_TRUE(turn_until([&] { return second.received() == "second"; }));

  iovec part{const_cast<char*>("x"), 1};
  std::size_t accepted = 7;
  EXPECT_EQ(server.engine.send(gone, {&part, 1}, accepted), Sent::failed);
  EXPECT_EQ(accepted, 0u);
  server.engine.pause_receive(gone);
  server.engine.resume_receive(gone);
  server.engine.shutdown_send(gone);
  server.engine.close(gone);
  server.engine.reset(gone);
  server.engine.close({1'000'000, 1});
  EXPECT_EQ(server.engine.counters().stale_calls, 7u);
  second.send("!");
  EXPECT_TRUE(turn_until([&] { return second.received() == "second!"; }));
}

TEST_F(CalmTest, accepting_stops_when_descriptors_run_out_and_others_are_served_meanwhile) {
  greet();
  SimFaults faults = SimFaults::calm();
  faults.accept_failure = 1024;
  faults.accept_failures = {3, 3};
  network.set_faults(faults);
  SimPeer second(network);
  second.connect(server.port);
  second.send("second");
  ASSERT_TRUE(turn_until([&] { return server.accept_failures == 1; }));
  peer.send("!");
  ASSERT_TRUE(turn_until([&] { return peer.received() == "hello!"; }, milliseconds(4)));
  EXPECT_EQ(second.link_state(), SimLink::queued);
  network.set_faults(SimFaults::calm());
  ASSERT_TRUE(turn_until([&] { return second.received() == "second"; }));
  EXPECT_EQ(server.accept_failures, 3u);
}

TEST_F(CalmTest, connections_wait_in_the_queue_while_accepting_is_paused) {
  server.engine.pause_accept();
  peer.connect(server.port);
  peer.send("hello");
  pass(seconds(1));
  EXPECT_EQ(server.accepted, 0u);
  EXPECT_EQ(peer.link_state(), SimLink::queued);
  EXPECT_TRUE(network.quiescent());
  server.engine.resume_accept();
  EXPECT_TRUE(turn_until([&] { return peer.received() == "hello"; }));
}

TEST_F(CalmTest, after_close_listeners_what_is_queued_is_served_and_the_rest_refused) {
  greet();
  SimPeer queued(network);
  queued.connect(server.port);
  queued.send("queued");
  SimPeer silent(network);
  silent.connect(server.port);
  network.run_until(network.now() + milliseconds(10));
  server.engine.close_listeners();
  SimPeer late(network);
  late.connect(server.port);
  late.send("late");
  EXPECT_TRUE(server.engine.accepting());
  ASSERT_TRUE(turn_until([&] { return !server.engine.accepting(); }));
  ASSERT_TRUE(turn_until([&] { return late.over(); }));
  EXPECT_EQ(queued.received(), "queued");
  EXPECT_TRUE(late.refused());
  EXPECT_TRUE(silent.saw_reset());
  peer.send("!");
  EXPECT_TRUE(turn_until([&] { return peer.received() == "hello!"; }));
}

TEST_F(CalmTest, close_listeners_serves_the_queue_of_a_server_that_had_paused_accepting) {
  server.engine.pause_accept();
  peer.connect(server.port);
  peer.send("hello");
  pass(milliseconds(10));
  server.engine.close_listeners();
  ASSERT_TRUE(turn_until([&] { return !server.engine.accepting(); }));
  EXPECT_EQ(peer.received(), "hello");
}

TEST_F(CalmTest, what_waits_in_a_listener_that_is_handed_over_is_its_next_owners) {
  greet();
  server.engine.pause_accept();
  SimPeer ready(network), silent(network);
  ready.connect(server.port);
  ready.send("ready");
  silent.connect(server.port);
  network.run_until(network.now() + milliseconds(10));
  EchoServer next(network, {}, {.port = server.port, .must_be_free = false});
  next.pauses = false;
  server.engine.hand_over(0);
  server.engine.close_listeners();
  SimPeer late(network);
  late.connect(next.port);
  late.send("late");
  const auto answered = [&] {
    next.engine.turn(milliseconds(1));
    return ready.received() == "ready" && late.received() == "late";
  };
  ASSERT_TRUE(turn_until(answered)) << network.explain();
  silent.send("at last");
  EXPECT_TRUE(turn_until([&] {
    next.engine.turn(milliseconds(1));
    return silent.received() == "at last";
  }));
  EXPECT_EQ(server.accepted, 1u);
  EXPECT_EQ(next.accepted, 3u);
  peer.send("!");  // existing clients stay
  EXPECT_TRUE(turn_until([&] { return peer.received() == "hello!"; }));
}

TEST_F(CalmTest, a_peer_that_connects_where_nobody_listens_is_refused) {
  peer.connect(1);
  ASSERT_TRUE(turn_until([&] { return peer.over(); }));
  EXPECT_TRUE(peer.refused());
  EXPECT_FALSE(peer.connected());
  EXPECT_EQ(peer.link_state(), SimLink::closed);
}

TEST_F(CalmTest, a_connection_that_the_core_refuses_is_closed_at_once) {
  server.refuse = true;
  peer.connect(server.port);
  peer.send("hello");
  ASSERT_TRUE(turn_until([&] { return peer.over(); }));
  EXPECT_EQ(server.accepted, 1u);
  EXPECT_EQ(peer.link_state(), SimLink::closed);
  EXPECT_EQ(server.engine.links_open(), 0u);
}

TEST_F(CalmTest, a_silent_peer_is_accepted_at_once_only_where_the_server_may_speak_first) {
  SimPeer second(network);
  ListenOptions options;
  options.peer_speaks_first = false;
  second.connect(server.engine.port(*server.engine.listen(options)));
  peer.connect(server.port);
  pass(milliseconds(10));
  EXPECT_EQ(second.link_state(), SimLink::open);
  EXPECT_TRUE(peer.connected());
  EXPECT_EQ(peer.link_state(), SimLink::connecting);
  pass(seconds(2));  // a kernel does not defer for ever
  EXPECT_EQ(peer.link_state(), SimLink::open);
}

TEST_F(CalmTest, listen_refuses_names_and_taken_ports) {
  ListenOptions options;
  options.address = "localhost";
  EXPECT_EQ(server.engine.listen(options).error().code(), Code::invalid_argument);
  options.address = "::1";
  options.port = server.port;
  EXPECT_EQ(server.engine.listen(options).error().code(), Code::already_exists);
  options.must_be_free = false;
  const auto shared = server.engine.listen(options);
  ASSERT_TRUE(shared);
  EXPECT_EQ(*shared, 1u);
  EXPECT_EQ(server.engine.port(*shared), server.port);
}

TEST(SimContract, links_beyond_the_table_wait_in_the_queue) {
  SimNetwork network(3, SimFaults::calm());
  Options options;
  options.links_max = 1;
  EchoServer server(network, options);
  SimPeer first(network);
  SimPeer second(network);
  for (SimPeer* const peer : {&first, &second}) {
    peer->connect(server.port);
    peer->send("x");
  }
  ASSERT_TRUE(server.run_until_quiescent());
  EXPECT_EQ(server.engine.links_open(), 1u);
  first.finish();
  second.finish();
  ASSERT_TRUE(server.run_until_quiescent());
  EXPECT_EQ(first.received(), "x");
  EXPECT_EQ(second.received(), "x");
}

struct CountingWatcher final : Watcher {
  void on_ready(Readiness ready) noexcept override {
    ++count;
    told = ready;
    if (action) action();
  }
  int count = 0;
  Readiness told;  // last
  std::function<void()> action;
};

TEST_F(CalmTest, a_watcher_is_called_once_for_each_make_ready) {
  CountingWatcher watcher;
  constexpr int fd = 1'000'000;
  ASSERT_TRUE(server.engine.watch(fd, {.read = true}, watcher));
  EXPECT_EQ(server.engine.watch(-1, {.read = true}, watcher).error().code(),
            Code::invalid_argument);
  const Instant start = network.now();
  network.make_ready(fd);
  server.engine.turn(seconds(1));
  EXPECT_EQ(watcher.count, 1);
  EXPECT_LT(server.engine.now(), start + milliseconds(1));
  network.after(milliseconds(3), [&] { network.make_ready(fd); });
  server.engine.turn(seconds(1));
  EXPECT_EQ(watcher.count, 2);
  server.engine.unwatch(fd);
  network.make_ready(fd);
  server.engine.turn(milliseconds(1));
  EXPECT_EQ(watcher.count, 2);
}

TEST_F(CalmTest, a_watcher_is_told_only_what_it_asks_for) {
  CountingWatcher first;
  CountingWatcher second;
  constexpr int fd = 1'000'000;
  ASSERT_TRUE(server.engine.watch(fd, {.read = true}, first));
  network.make_ready(fd, {.write = true});
  server.engine.turn(milliseconds(1));
  EXPECT_EQ(first.count, 0);
  ASSERT_TRUE(server.engine.watch(fd, {.read = true, .write = true}, second));
  server.engine.turn(milliseconds(1));
  EXPECT_EQ(second.count, 1);
  EXPECT_EQ(second.told, Readiness{.write = true});
  network.make_ready(fd);
  network.make_ready(fd, {.write = true});
  server.engine.turn(milliseconds(1));
  EXPECT_EQ(second.count, 2);
  EXPECT_EQ(second.told, (Readiness{.read = true, .write = true}));
  server.engine.turn(milliseconds(1));
  EXPECT_EQ(second.count, 2);
  EXPECT_EQ(first.count, 0);
}

// The first watch that is told ends the other, and watches its descriptor anew for something else.
TEST_F(CalmTest, an_event_that_is_not_wanted_any_more_is_not_told) {
  CountingWatcher first;
  CountingWatcher second;
  ASSERT_TRUE(server.engine.watch(1'000'000, {.read = true}, first));
  ASSERT_TRUE(server.engine.watch(1'000'001, {.read = true}, second));
  first.action = [&] {
    server.engine.unwatch(1'000'001);
    ASSERT_TRUE(server.engine.watch(1'000'001, {.write = true}, second));
  };
  network.make_ready(1'000'000);
  network.make_ready(1'000'001);
  server.engine.turn(milliseconds(1));
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(second.count, 0);
}

TEST_F(CalmTest, a_watcher_that_another_one_removed_is_not_called) {
  CountingWatcher first;
  CountingWatcher second;
  ASSERT_TRUE(server.engine.watch(1'000'000, {.read = true}, first));
  ASSERT_TRUE(server.engine.watch(1'000'001, {.read = true}, second));
  first.action = [&] { server.engine.unwatch(1'000'001); };
  network.make_ready(1'000'000);
  network.make_ready(1'000'001);
  server.engine.turn(milliseconds(1));
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(second.count, 0);
}

TEST_F(CalmTest, a_real_descriptor_is_watched_when_the_test_says_how_to_ask_for_it) {
  const int fd = ::eventfd(0, EFD_NONBLOCK);
  ASSERT_GE(fd, 0);
  network.ask_ready_with([](int each, Readiness) {
    pollfd polled{each, POLLIN, 0};
    const bool any = ::poll(&polled, 1, 0) == 1;
    return Readiness{.read = any && (polled.revents & POLLIN) != 0};
  });
  CountingWatcher watcher;
  watcher.action = [&] {
    std::uint64_t value = 0;
    EXPECT_EQ(::read(fd, &value, sizeof value), ssize_t{sizeof value});
  };
  ASSERT_TRUE(server.engine.watch(fd, {.read = true}, watcher));
  server.engine.turn(milliseconds(1));
  EXPECT_EQ(watcher.count, 0);
  const std::uint64_t one = 1;
  network.after(milliseconds(2), [&] { (void)!::write(fd, &one, sizeof one); });
  const Instant start = network.now();
  server.engine.turn(seconds(1));
  EXPECT_EQ(watcher.count, 1);
  EXPECT_EQ(server.engine.now(), start + milliseconds(2));
  server.engine.unwatch(fd);
  ::close(fd);
}

// ---- an engine that copies output --------------------------------------------------------------

TEST_F(CalmTest, output_that_the_engine_copied_arrives_after_its_memory_and_its_link_are_gone) {
  SimFaults faults = SimFaults::calm();
  faults.copied_send = 1024;
  faults.peer_window_bytes = {16, 16};
  network.set_faults(faults);
  greet();
  auto bytes = std::make_unique<std::string>(1'000, 'c');
  const iovec part{bytes->data(), bytes->size()};
  std::size_t accepted = 0;
  EXPECT_EQ(server.engine.send(only_client().link, {&part, 1}, accepted), Sent::completed);
  EXPECT_EQ(accepted, 1'000u);
  server.close(only_client());
  bytes.reset();
  EXPECT_TRUE(turn_until([&] { return peer.received() == "hello" + std::string(1'000, 'c'); }));
  EXPECT_EQ(server.engine.counters().sends_copied, 1u);
}

// ---- obligations of the reactor ---------------------------------------------------------------

class LendingTest : public CalmTest {
 protected:
  LendingTest() {
    greet();
    SimFaults faults = SimFaults::calm();
    faults.completion_send = 1024;
    faults.late_completion = 1024;
    faults.completion_us = {5'000, 5'000};
    network.set_faults(faults);
  }

  // Sends past the server, which still learns what on_sent() will report.
  Sent send(std::string& bytes) {
    EchoServer::Client& client = only_client();
    EXPECT_TRUE(client.outbox.write(bytes));
    client.sending = true;
    iovec part{bytes.data(), bytes.size()};
    std::size_t accepted = 0;
    return server.engine.send(client.link, {&part, 1}, accepted);
  }
};

using LendingDeathTest = LendingTest;

TEST_F(LendingTest, lent_bytes_are_read_when_the_kernel_takes_them) {
  std::string bytes = "stable";
  ASSERT_EQ(send(bytes), Sent::pending);
  EXPECT_EQ(peer.received(), "hello");
  EXPECT_TRUE(turn_until([&] { return peer.received() == "hellostable"; }));
}

TEST_F(LendingTest, lent_bytes_may_go_away_after_close) {
  auto bytes = std::make_unique<std::string>(100, 'x');
  ASSERT_EQ(send(*bytes), Sent::pending);
  server.engine.turn(Duration{0});
  server.close(only_client());
  bytes.reset();
  pass(seconds(1));
  EXPECT_EQ(peer.received(), "hello");
  EXPECT_GT(server.engine.counters().late_completions, 0u);
}

TEST_F(LendingTest, a_send_that_ends_after_the_connection_is_gone_is_not_told) {
  std::string bytes = "stable";
  ASSERT_EQ(send(bytes), Sent::pending);
  ASSERT_TRUE(turn_until([&] { return network.trace().contains("kernel takes"); }));
  server.close_gone = 0;
  network.set_faults(SimFaults::calm());
  network.after({}, [&] { peer.reset(); });
  ASSERT_TRUE(turn_until([&] { return server.breaks == 1; }));
  EXPECT_EQ(server.engine.counters().late_completions, 0u);
  pass(milliseconds(10));
  EXPECT_EQ(server.engine.counters().late_completions, 1u);
  EXPECT_EQ(server.engine.links_open(), 1u);
  server.close(only_client());
}

TEST_F(LendingDeathTest, changing_lent_bytes_before_on_sent_aborts) {
  std::string bytes = "stable";
  ASSERT_EQ(send(bytes), Sent::pending);
  bytes[3] = '!';
  EXPECT_DEATH(pass(seconds(1)), "bytes given to send\\(\\) are immutable until on_sent\\(\\)");
}

TEST_F(LendingDeathTest, changing_them_while_the_kernel_reads_them_aborts_even_if_undone) {
  std::string bytes = "stable";
  ASSERT_EQ(send(bytes), Sent::pending);
  bytes[3] = '!';
  const auto undo_after_take = [&] {
    turn_until([&] { return network.trace().contains("kernel takes"); });
    bytes[3] = 'b';
    pass(seconds(1));
  };
  EXPECT_DEATH(undo_after_take(), "bytes given to send\\(\\) are immutable until on_sent\\(\\)");
}

TEST_F(LendingDeathTest, changing_them_after_the_kernel_took_them_and_before_on_sent_aborts_too) {
  std::string bytes = "stable";
  ASSERT_EQ(send(bytes), Sent::pending);
  ASSERT_TRUE(turn_until([&] { return network.trace().contains("kernel takes"); }));
  bytes[3] = '!';
  EXPECT_DEATH(pass(seconds(1)), "bytes given to send\\(\\) are immutable until on_sent\\(\\)");
}

TEST_F(LendingDeathTest, a_second_send_while_one_is_pending_aborts_and_tells_the_seed) {
  std::string bytes = "stable";
  ASSERT_EQ(send(bytes), Sent::pending);
  EXPECT_DEATH(send(bytes), "no send\\(\\) while one is pending(.|\n)*seed 1(.|\n)*trace");
}

TEST_F(LendingDeathTest, a_send_after_shutdown_send_aborts) {
  std::string bytes = "stable";
  server.engine.shutdown_send(only_client().link);
  EXPECT_DEATH(send(bytes), "no send\\(\\) after shutdown_send\\(\\)");
}

TEST_F(CalmTest, a_file_goes_as_far_as_there_is_room_and_on_when_there_is_more) {
  greet();
  const std::string content = numbered_lines(1'000'000);
  TestFile file(content);
  const Link link = only_client().link;
  FilePart rest = file.all();
  std::string head = "head ";
  iovec before{head.data(), head.size()};
  std::size_t waits = 0;
  // The server's own on_sent() finds nothing to send.
  while (rest.size > 0) {
    std::size_t accepted = 0;
    const bool first = rest.size == content.size();
    const Sent sent = server.engine.send_file(link, {&before, first ? 1u : 0u}, rest, accepted);
    ASSERT_NE(sent, Sent::failed);
    rest.remove_prefix(accepted - (first ? head.size() : 0));
    if (sent == Sent::completed) continue;
    ++waits;
    only_client().sending = true;  // the server has nothing to send when that is over
    const std::uint64_t room_at = server.engine.counters().sends_blocked;
    EXPECT_EQ(room_at, waits);
    const std::size_t received = peer.received().size();
    ASSERT_TRUE(turn_until([&] { return peer.received().size() > received; }));
    pass(milliseconds(5));
  }
  ASSERT_TRUE(turn_until([&] { return peer.received().size() == 10 + content.size(); }));
  EXPECT_GT(waits, 0u);
  EXPECT_TRUE(peer.received() == "hellohead " + content);
  EXPECT_EQ(server.engine.counters().files_sent, 1u);
}

TEST_F(CalmTest, a_file_that_ends_too_soon_fails_and_nothing_of_it_is_sent) {
  greet();
  TestFile file("0123456789");
  file.cut(4);
  std::size_t accepted = 0;
  EXPECT_EQ(server.engine.send_file(only_client().link, {}, file.all(), accepted), Sent::failed);
  EXPECT_EQ(accepted, 0u);
  pass(milliseconds(5));
  EXPECT_EQ(peer.received(), "hello");
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
