// Connection: attempts, their pauses, reports about them, and the fate of bytes.
#include "katana/net/upstream/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "katana/net/upstream/addresses.hpp"
#include "katana/net/upstream/upstream_fixture_test.hpp"

namespace katana::upstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConnectionTest : public UpstreamTest {
 protected:
  void use(const Options& options) {
    shared = shared_of(options);
    connection = std::make_unique<Connection>(reactor(), shared, owner);
    owner.connection = connection.get();
  }
  void begin() {
    connection->start();
    turn(milliseconds(1));
  }
  // Brings the connection up, on the next link.
  std::uint32_t bring_up() {
    begin();
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    owner.at_bytes = [this] { connection->established(); };
    say(index, "welcome");
    owner.at_bytes = {};
    EXPECT_TRUE(connection->is_up());
    return index;
  }

  Recorder owner;
  std::shared_ptr<Shared> shared;
  std::unique_ptr<Connection> connection;
};

// ---- attempts ----

TEST_F(ConnectionTest, the_greeting_is_written_at_once_and_the_owner_says_when_it_is_up) {
  use(test_options());
  owner.greeting = "HELLO";
  turn();
  EXPECT_EQ(links(), 0u) << "nothing begins by itself";
  connection->start();
  connection->start();
  EXPECT_EQ(owner.opened, 0) << "nor within the call";
  turn(milliseconds(1));
  ASSERT_EQ(links(), 1u);
  EXPECT_EQ(target(0), "192.0.2.1 4000");
  answer(0);
  EXPECT_EQ(sent(0), "HELLO");
  EXPECT_EQ(connection->state(), Connection::State::connecting);
  EXPECT_EQ(shared->status().up, 0u);
  owner.at_bytes = [this] { connection->established(); };
  say(0, "welcome");
  EXPECT_TRUE(connection->is_up());
  EXPECT_EQ(owner.received, "welcome");
  turn(seconds(3600));
  EXPECT_TRUE(connection->is_up()) << "connect_timeout is over once it is up";
  EXPECT_EQ(shared->status().up, 1u);
}

TEST_F(ConnectionTest, a_server_that_does_not_answer_the_greeting_in_time_is_given_up) {
  Options options = test_options();
  options.connect_timeout = milliseconds(300);
  use(options);
  begin();
  answer(0);
  turn(milliseconds(299));
  EXPECT_TRUE(is_open(0));
  turn(milliseconds(2));
  EXPECT_FALSE(is_open(0));
  EXPECT_THAT(owner.closed,
              ElementsAre("connect to Test at 192.0.2.1:4000: deadline exceeded after 300 ms "
                          "(connect_timeout)"));
  EXPECT_LE(wait_for_link(), milliseconds(150));
  EXPECT_EQ(target(1), "192.0.2.2 4000") << "the next server has its turn";
}

TEST_F(ConnectionTest, servers_are_tried_in_turn_and_pauses_grow_up_to_their_bound) {
  Options options = test_options();
  options.backoff_min = milliseconds(100);
  options.backoff_max = seconds(1);
  use(options);
  begin();
  Duration longest{};
  for (std::uint32_t attempt = 0; attempt < 40; ++attempt) {
    EXPECT_EQ(target(attempt), attempt % 2 == 0 ? "192.0.2.1 4000" : "192.0.2.2 4000");
    lose(attempt, ECONNREFUSED);
    EXPECT_THAT(owner.closed.back(), HasSubstr("Connection refused"));
    const Duration pause = wait_for_link();
    EXPECT_GE(pause, milliseconds(100));
    EXPECT_LE(pause, milliseconds(1001));
    if (attempt == 0) {
      EXPECT_LE(pause, milliseconds(301));
    }
    longest = std::max(longest, pause);
  }
  EXPECT_GE(longest, milliseconds(500)) << "they grow";
  EXPECT_EQ(shared->status().attempts, 41u);
  EXPECT_EQ(shared->status().failures, 40u);
}

TEST_F(ConnectionTest, connections_that_lose_a_server_together_come_back_apart) {
  Options options = test_options();
  options.seed = 0;
  options.backoff_min = milliseconds(200);
  const auto one = shared_of(options);
  std::vector<Instant> came;
  std::vector<std::unique_ptr<Recorder>> owners;
  std::vector<std::unique_ptr<Connection>> many;
  for (int index = 0; index < 50; ++index) {
    owners.push_back(std::make_unique<Recorder>());
    many.push_back(std::make_unique<Connection>(reactor(), one, *owners.back()));
    many.back()->start();
  }
  turn(milliseconds(1));
  ASSERT_EQ(links(), 50u);
  for (std::uint32_t index = 0; index < 50; ++index) {
    world_.links[index].failure = ECONNRESET;
    broken(index);
  }
  turn();
  std::size_t most = 0;
  for (int step = 0; step < 100; ++step) {
    const std::size_t before = links();
    turn(milliseconds(10));
    most = std::max(most, links() - before);
  }
  EXPECT_EQ(links(), 100u);
  EXPECT_LE(most, 12u) << "of 50 within ten of 400 milliseconds";
}

TEST_F(ConnectionTest, a_connection_that_was_up_for_long_comes_back_after_a_short_pause) {
  Options options = test_options();
  options.backoff_min = milliseconds(10);
  options.backoff_max = seconds(2);
  use(options);
  begin();
  for (int attempt = 0; attempt < 12; ++attempt) {
    lose(static_cast<std::uint32_t>(links() - 1), ECONNREFUSED);
    wait_for_link();
  }
  const auto index = static_cast<std::uint32_t>(links() - 1);
  answer(index);
  owner.at_bytes = [this] { connection->established(); };
  say(index, "x");
  turn(seconds(3));
  lose(index, ECONNRESET);
  EXPECT_THAT(owner.closed.back(), HasSubstr("lost: Connection reset by peer"));
  EXPECT_LE(wait_for_link(), milliseconds(31));
}

TEST_F(ConnectionTest, a_server_that_hangs_up_right_after_its_greeting_is_not_asked_ever_faster) {
  Options options = test_options();
  options.backoff_max = seconds(1);
  use(options);
  begin();
  Duration longest{};
  owner.at_bytes = [this] { connection->established(); };
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    say(index, "x");
    EXPECT_TRUE(connection->is_up());
    input_end(index);
    turn();
    EXPECT_THAT(owner.closed.back(), HasSubstr("lost: the server closed the connection"));
    longest = std::max(longest, wait_for_link());
  }
  EXPECT_GE(longest, milliseconds(400));
}

TEST_F(ConnectionTest, a_name_that_does_not_exist_is_told_with_its_name) {
  Options options = test_options();
  options.servers = {{.host = "nobody.invalid", .port = 4000}};
  use(options);
  connection->start();
  for (int looks = 0; looks < 20000 && owner.unreachable.empty(); ++looks) {
    turn(milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // another thread asks the system
  }
  ASSERT_THAT(owner.unreachable, testing::SizeIs(1));
  EXPECT_THAT(owner.unreachable[0], HasSubstr("host 'nobody.invalid' cannot be resolved"));
  EXPECT_EQ(links(), 0u);
  EXPECT_EQ(owner.opened, 0);
  EXPECT_EQ(connection->state(), Connection::State::waiting);
}

TEST_F(ConnectionTest, a_name_is_resolved_beside_the_reactor_and_its_addresses_are_tried_in_turn) {
  Options options = test_options();
  options.servers = {{.host = "localhost", .port = 4000}, {.host = "192.0.2.9", .port = 4000}};
  use(options);
  connection->start();
  for (int looks = 0; looks < 20000 && links() == 0; ++looks) {
    turn(milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // As many addresses as this machine has for it, one after another without a pause.
  const auto known = look_up_addresses("localhost");
  ASSERT_TRUE(known);
  for (std::size_t each = 0; each < known->size(); ++each) {
    ASSERT_EQ(links(), each + 1);
    EXPECT_EQ(target(each), (*known)[each] + " 4000");
    lose(static_cast<std::uint32_t>(each), ECONNREFUSED);
    turn(milliseconds(1));
  }
  wait_for_link();
  EXPECT_EQ(target(links() - 1), "192.0.2.9 4000");
}

TEST_F(ConnectionTest, an_attempt_that_fails_at_once_is_told_and_another_one_follows) {
  Options options = test_options();
  options.servers = {{.host = "/run/test.sock"}};
  use(options);
  begin();
  EXPECT_EQ(target(0), "/run/test.sock 0");
  EXPECT_THAT(owner.unreachable, IsEmpty());
}

TEST_F(ConnectionTest, servers_that_are_listed_are_tried_from_the_first_whatever_is_drawn) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Options options = test_options();
    options.seed = seed;
    use(options);
    begin();
    EXPECT_EQ(target(links() - 1), "192.0.2.1 4000") << seed;
  }
}

TEST_F(ConnectionTest, a_connection_that_is_not_open_takes_and_holds_nothing) {
  use(test_options());
  EXPECT_FALSE(connection->takes(1));
  EXPECT_FALSE(connection->write("early"));
  EXPECT_EQ(connection->pending(), 0u);
  connection->want_writable();
  connection->pause_input();
  connection->resume_input();
  begin();
  EXPECT_EQ(target(0), "192.0.2.1 4000");
}

// ---- reports ----

TEST_F(ConnectionTest, each_opening_has_one_end_and_nothing_comes_after_it) {
  use(test_options());
  const std::uint32_t index = bring_up();
  bytes(index, "late");
  broken(index);
  bytes(index, "never");
  turn();
  EXPECT_EQ(owner.received, "welcomelate");
  EXPECT_EQ(owner.opened, 1);
  EXPECT_EQ(owner.closed.size(), 1u);
  EXPECT_FALSE(connection->write("x"));
  wait_for_link();
  EXPECT_EQ(owner.opened, 2);
  EXPECT_EQ(owner.closed.size(), 1u);
}

TEST_F(ConnectionTest, the_owner_can_give_a_connection_up_within_and_outside_of_its_calls) {
  use(test_options());
  std::uint32_t index = bring_up();
  owner.at_bytes = [this] {
    connection->lose(Error(Code::data_loss, "garbled"));
    connection->lose(Error(Code::data_loss, "said twice"));
    EXPECT_FALSE(connection->write("more"));
    EXPECT_THAT(owner.closed, IsEmpty()) << "not within the call";
  };
  say(index, "?");
  EXPECT_THAT(owner.closed, ElementsAre("garbled"));
  EXPECT_TRUE(world_.links[index].was_reset);
  owner.at_bytes = {};
  wait_for_link();
  index = static_cast<std::uint32_t>(links() - 1);
  answer(index);
  connection->lose(Error(Code::internal, "no more"));
  EXPECT_EQ(owner.closed.size(), 1u);
  turn();
  EXPECT_THAT(owner.closed, ElementsAre("garbled", "no more"));
}

TEST_F(ConnectionTest, an_outage_is_told_once_for_all_connections_and_so_is_its_end) {
  Outages outages;
  Options options = test_options();
  options.observer = &outages;
  use(options);
  Recorder other_owner;
  Connection other(reactor(), shared, other_owner);
  bring_up();
  other.start();
  turn(milliseconds(1));
  answer(1);
  other.established();
  EXPECT_THAT(outages.notes, IsEmpty()) << "a beginning is no recovery";
  EXPECT_EQ(shared->status().up, 2u);
  lose(0, ECONNRESET);
  lose(1, ECONNRESET);
  EXPECT_THAT(outages.notes,
              ElementsAre("down 192.0.2.1:4000: connection to Test at 192.0.2.1:4000 lost: "
                          "Connection reset by peer"));
  EXPECT_EQ(shared->status().down, 2u);
  EXPECT_EQ(shared->status().losses, 2u);
  ASSERT_TRUE(shared->status().why);
  const Instant since = world_.now;
  while (links() < 4) turn(milliseconds(1));
  connection->established();
  EXPECT_EQ(outages.notes.size(), 1u);
  other.established();
  ASSERT_EQ(outages.notes.size(), 2u);
  EXPECT_THAT(outages.notes[1],
              "up 192.0.2.2:4000 after " + std::to_string((world_.now - since).count_ms()) + " ms");
  EXPECT_EQ(shared->status().down, 0u);
  EXPECT_FALSE(shared->status().why);
}

TEST_F(ConnectionTest, a_connection_that_is_stopped_while_it_is_down_is_missed_no_more) {
  Outages outages;
  Options options = test_options();
  options.observer = &outages;
  use(options);
  bring_up();
  lose(0, ECONNRESET);
  EXPECT_EQ(shared->status().down, 1u);
  connection->stop();
  EXPECT_EQ(shared->status().down, 0u);
  EXPECT_EQ(wait_for_link(seconds(20)).ns, never.ns);
  begin();
  EXPECT_EQ(links(), 2u);
}

// ---- bytes ----

TEST_F(ConnectionTest, what_a_turn_writes_is_sent_at_its_end_in_one_send) {
  use(test_options());
  const std::uint32_t index = bring_up();
  const int before = world_.links[index].sends;
  EXPECT_TRUE(connection->write("a"));
  EXPECT_TRUE(connection->write("b"));
  EXPECT_EQ(connection->pending(), 2u);
  EXPECT_EQ(sent(index), "");
  turn();
  EXPECT_EQ(sent(index), "ab");
  EXPECT_EQ(world_.links[index].sends, before + 1);
}

TEST_F(ConnectionTest, beyond_its_bound_nothing_is_written_and_room_is_told_once) {
  Options options = test_options();
  options.outgoing_bytes_max = 1000;
  use(options);
  const std::uint32_t index = bring_up();
  world_.links[index].kernel = net::Kernel::borrows;
  EXPECT_TRUE(connection->write(std::string(600, 'x')));
  turn();
  EXPECT_FALSE(connection->write(std::string(401, 'y')));
  EXPECT_TRUE(connection->takes(400));
  EXPECT_EQ(connection->pending(), 600u);
  connection->want_writable();
  turn();
  EXPECT_EQ(owner.writable, 0);
  complete(index);
  turn();
  turn();
  EXPECT_EQ(owner.writable, 1);
  EXPECT_TRUE(connection->write(std::string(1000, 'z')));
}

TEST_F(ConnectionTest, memory_that_is_referred_to_is_let_go_when_it_is_sent_and_when_it_never_is) {
  static int released;
  released = 0;
  Retained memory([](Retained&) noexcept { ++released; });
  use(test_options());
  const std::uint32_t index = bring_up();
  memory.retain();
  EXPECT_TRUE(connection->refer("shared", memory));
  memory.let_go();
  EXPECT_EQ(released, 0);
  turn();
  EXPECT_EQ(sent(index), "shared");
  EXPECT_EQ(released, 1);
  world_.links[index].kernel = net::Kernel::borrows;
  memory.retain();
  EXPECT_TRUE(connection->refer("lost", memory));
  memory.let_go();
  turn();
  broken(index);
  turn();
  EXPECT_EQ(released, 2);
}

TEST_F(ConnectionTest, a_server_is_not_read_while_the_owner_wants_nothing) {
  use(test_options());
  const std::uint32_t index = bring_up();
  owner.received.clear();
  connection->pause_input();
  turn();
  EXPECT_TRUE(world_.links[index].paused);
  connection->resume_input();
  turn();
  EXPECT_FALSE(world_.links[index].paused);
  say(index, "more");
  EXPECT_EQ(owner.received, "more");
}

// ---- its end ----

TEST_F(ConnectionTest, stop_sends_what_was_written_and_tells_nothing_more) {
  use(test_options());
  const std::uint32_t index = bring_up();
  EXPECT_TRUE(connection->write("goodbye"));
  connection->stop();
  EXPECT_FALSE(connection->write("x"));
  turn();
  EXPECT_EQ(sent(index), "goodbye");
  EXPECT_FALSE(is_open(index));
  EXPECT_FALSE(world_.links[index].was_reset);
  EXPECT_THAT(owner.closed, IsEmpty());
  EXPECT_EQ(shared->status().up, 0u);
}

TEST_F(ConnectionTest, one_that_is_destroyed_is_reset_and_tells_nothing_more) {
  use(test_options());
  const std::uint32_t index = bring_up();
  connection.reset();
  bytes(index, "late");
  turn();
  EXPECT_FALSE(is_open(index));
  EXPECT_EQ(owner.received, "welcome");
  EXPECT_THAT(owner.closed, IsEmpty());
}

TEST_F(ConnectionTest, the_owner_may_stop_when_it_is_told_of_the_end) {
  use(test_options());
  const std::uint32_t index = bring_up();
  owner.at_closed = [this] { connection->stop(); };
  lose(index, ECONNRESET);
  EXPECT_EQ(connection->state(), Connection::State::stopped);
  EXPECT_EQ(wait_for_link(seconds(20)).ns, never.ns);
}

TEST_F(ConnectionTest, a_drain_waits_for_what_is_pending_and_not_for_the_connection) {
  use(test_options());
  const std::uint32_t index = bring_up();
  world_.links[index].kernel = net::Kernel::borrows;
  EXPECT_TRUE(connection->write("last words"));
  world_.accepting = false;
  reactor().request_drain(seconds(5));
  turn();
  turn();
  EXPECT_FALSE(reactor().stopped());
  EXPECT_TRUE(connection->is_up()) << "requests in progress use it";
  complete(index);
  turn();
  EXPECT_EQ(sent(index), "last words");
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(counters().cut_off, 0u);
  connection.reset();
}

TEST_F(ConnectionTest, a_connection_that_the_ended_reactor_closes_is_no_outage) {
  Options options = test_options();
  Outages outages;
  options.observer = &outages;
  use(options);
  bring_up();
  world_.accepting = false;
  reactor().request_drain(seconds(5));
  turn();
  turn();
  ASSERT_TRUE(reactor().stopped());
  reactor_.reset();
  EXPECT_EQ(owner.closed.size(), 1u) << "what waits for an answer is told";
  EXPECT_TRUE(outages.notes.empty()) << outages.notes.front();
  EXPECT_EQ(shared->status().up, 0u);
  EXPECT_EQ(shared->status().down, 0u);
  EXPECT_EQ(shared->status().losses, 0u);
  connection.reset();
}

TEST_F(ConnectionTest, a_reactor_that_ends_leaves_nothing_behind) {
  use(test_options());
  bring_up();
  EXPECT_TRUE(connection->write("x"));
  // Like attachments of the reactor: destroyed after every connection, and before its timers.
  struct Holder final : net::Attachment {
    std::unique_ptr<Connection> connection;
  };
  auto holder = std::make_unique<Holder>();
  holder->connection = std::move(connection);
  const char key = 0;
  reactor().attach(&key, std::move(holder));
  reactor_.reset();
  EXPECT_EQ(owner.closed.size(), 1u);
  EXPECT_FALSE(world_.links[0].was_reset) << "what the server has not received would be lost";
  EXPECT_EQ(shared->status().up, 0u);
  EXPECT_EQ(shared->status().down, 0u);
}

}  // namespace
}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
