// Tests of a Listener against a real server: it hears messages of other clients, and tells that it
// missed some.
#include "katana/stores/redis/listener.hpp"

#include <algorithm>

#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana::redis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Heard final : Hearer {
  void on_message(Bytes channel, Bytes message) noexcept override {
    lines.push_back(std::string(channel) + " says " + std::string(message));
  }
  void on_changed(Bytes key) noexcept override { lines.push_back("changed " + std::string(key)); }
  void on_missed() noexcept override { ++missed; }
  bool has(const std::string& line) const { return std::ranges::find(lines, line) != lines.end(); }

  std::vector<std::string> lines;
  int missed = 0;
};

class ListenerTest : public RedisTest {
 protected:
  void start() { start(listener); }
  void start(Listener& which) {
    run([](Listener& of) -> Task<void> {
      of.start();
      co_return;
    }(which));
  }
  [[nodiscard]] bool until(auto&& holds) { return turn_until(reactor(), holds); }

  RedisServer server;
  Client redis = client_of(server);
  Client other = client_of(server);
  Listener listener{client_of(server)};
  std::shared_ptr<Heard> heard = std::make_shared<Heard>();
};

TEST_F(ListenerTest, changes_of_keys_with_a_prefix_are_told_and_no_others) {
  listener.track("app:", heard);
  EXPECT_FALSE(listener.hears());
  start();
  ASSERT_TRUE(until([&] { return listener.hears(); }));
  EXPECT_EQ(heard->missed, 1) << "what was before it heard";
  run(wait(other.set("elsewhere", "1")));
  run(wait(other.set("app:a", "1")));
  ASSERT_TRUE(until([&] { return heard->has("changed app:a"); }));
  run(wait(other.remove("app:a")));
  run(wait(other.set("app:short", "1", {.time_to_live = milliseconds(1)})));
  // Set, and gone when its time is over.
  ASSERT_TRUE(until([&] {
    return std::ranges::count(heard->lines, "changed app:short") >= 2 &&
           std::ranges::count(heard->lines, "changed app:a") == 2;
  })) << testing::PrintToString(heard->lines);
  EXPECT_THAT(heard->lines, Not(Contains(HasSubstr("elsewhere"))));
}

TEST_F(ListenerTest, all_keys_gone_is_told_as_all_may_have_changed) {
  listener.track("app:", heard);
  start();
  ASSERT_TRUE(until([&] { return heard->missed == 1; }));
  run(wait(other.command("FLUSHALL")));
  ASSERT_TRUE(until([&] { return heard->missed == 2; }));
}

TEST_F(ListenerTest, messages_of_a_channel_come_in_order_to_each_who_asked) {
  const auto second = std::make_shared<Heard>();
  listener.subscribe("news", heard);
  listener.subscribe("news", second);
  listener.subscribe("weather", second);
  start();
  ASSERT_TRUE(until([&] { return listener.hears(); }));
  for (const char* const each : {"one", "two", "three"}) run(wait(other.publish("news", each)));
  run(wait(other.publish("weather", "rain")));
  ASSERT_TRUE(until([&] { return second->lines.size() == 4; }));
  EXPECT_THAT(heard->lines, ElementsAre("news says one", "news says two", "news says three"));
  EXPECT_EQ(second->lines.back(), "weather says rain");
}

TEST_F(ListenerTest, what_is_asked_for_later_is_heard_as_well_and_who_is_gone_is_not_told) {
  listener.track("app:", heard);
  start();
  ASSERT_TRUE(until([&] { return listener.hears(); }));
  auto later = std::make_shared<Heard>();
  listener.track("more:", later);
  EXPECT_FALSE(listener.hears()) << "not all of it";
  ASSERT_TRUE(until([&] { return listener.hears(); }));
  EXPECT_EQ(later->missed, 1);
  EXPECT_EQ(heard->missed, 1) << "nothing was missed of what was heard";
  run(wait(other.set("more:a", "1")));
  ASSERT_TRUE(until([&] { return later->has("changed more:a"); }));
  later.reset();
  run(wait(other.set("more:b", "1")));
  run(wait(other.set("app:b", "1")));
  ASSERT_TRUE(until([&] { return heard->has("changed app:b"); }));
}

TEST_F(ListenerTest, a_server_that_was_killed_is_heard_again_and_what_was_missed_is_told) {
  listener.track("app:", heard);
  listener.subscribe("news", heard);
  start();
  ASSERT_TRUE(until([&] { return listener.hears(); }));
  EXPECT_EQ(heard->missed, 2) << "once for each";
  server.kill();
  ASSERT_TRUE(until([&] { return !listener.hears(); }));
  EXPECT_EQ(heard->missed, 2);
  server.start();
  ASSERT_TRUE(until([&] { return listener.hears(); }));
  EXPECT_EQ(heard->missed, 4);
  ASSERT_TRUE(until([&] { return run(wait(other.ping())).has_value(); }));
  run(wait(other.set("app:a", "1")));
  ASSERT_TRUE(until([&] { return heard->has("changed app:a"); }));
}

TEST_F(ListenerTest, a_server_that_hangs_is_given_up_and_the_next_one_heard) {
  Options options = options_for(server.url());
  options.stalled_after = milliseconds(100);
  Listener quick(client_of(std::move(options)));
  quick.track("app:", heard);
  start(quick);
  ASSERT_TRUE(until([&] { return quick.hears(); }));
  server.pause();
  ASSERT_TRUE(until([&] { return !quick.hears(); }));
  server.go_on();
  ASSERT_TRUE(until([&] { return quick.hears() && heard->missed >= 2; }));
}

TEST_F(ListenerTest, a_user_who_may_not_listen_is_said_so) {
  run(wait(redis.command("ACL", "SETUSER", "default", "-client|tracking")));
  Client refused = client_of(server);
  Listener deaf(refused);
  deaf.track("app:", heard);
  start(deaf);
  ASSERT_TRUE(until([&] { return refused.status().why.has_value(); }));
  EXPECT_THAT(refused.status().why->describe(), HasSubstr("does not let this user listen: NOPERM"));
  EXPECT_EQ(refused.status().why->code(), Code::permission_denied);
  EXPECT_FALSE(deaf.hears());
  EXPECT_EQ(heard->missed, 0);
}

TEST_F(ListenerTest, a_greeting_that_is_refused_is_told_and_nothing_is_asked_for) {
  FakeRedis fake([](FakeRedis::Peer& peer, int) {
    peer.hear("HELLO");
    peer.say("-NOAUTH HELLO must be called with the client already authenticated\r\n");
    EXPECT_FALSE(peer.hear("TRACKING"));
  });
  Client refused = client_of(options_for(fake.url()));
  Listener deaf(refused);
  deaf.track("app:", heard);
  start(deaf);
  ASSERT_TRUE(until([&] { return refused.status().why.has_value(); }));
  EXPECT_THAT(refused.status().why->describe(), HasSubstr("refuses user and password: NOAUTH"));
  EXPECT_FALSE(deaf.hears());
}

TEST_F(ListenerTest, a_reply_without_a_request_ends_the_connection) {
  FakeRedis fake([](FakeRedis::Peer& peer, int connection) {
    if (!peer.greet() || !peer.hear("PING")) return;
    peer.say("+OK\r\n+PONG\r\n");
    if (connection == 1) peer.say("+PONG\r\n");
    peer.wait_for_end();
  });
  Client lied_to = client_of(options_for(fake.url()));
  Listener quick(lied_to);
  quick.track("app:", heard);
  start(quick);
  ASSERT_TRUE(until([&] { return lied_to.status().losses == 1; }));
  EXPECT_THAT(lied_to.status().why->describe(), HasSubstr("sent a reply without a request"));
  EXPECT_EQ(lied_to.status().why->code(), Code::data_loss);
  ASSERT_TRUE(until([&] { return quick.hears() && fake.connections() == 2; }));
}

TEST_F(ListenerTest, without_a_connection_to_spare_it_may_begin_again_later) {
  Options options = options_for(server.url());
  options.connections_max = 1;
  Client narrow = client_of(std::move(options));
  EXPECT_EQ(run(wait(narrow.ping())), true);
  Listener late(narrow);
  late.track("app:", heard);
  start(late);
  EXPECT_EQ(narrow.status().up, 1u) << "that of the ping";
  reactor_ = std::make_unique<EpollReactor>(reactor_options(), 4096);
  ASSERT_TRUE(reactor_->start());
  start(late);
  ASSERT_TRUE(until([&] { return late.hears(); }));
}

TEST_F(ListenerTest, when_its_reactor_ends_it_begins_anew_on_another) {
  listener.track("app:", heard);
  start();
  ASSERT_TRUE(until([&] { return listener.hears(); }));
  reactor_ = std::make_unique<EpollReactor>(reactor_options(), 4096);
  ASSERT_TRUE(reactor_->start());
  EXPECT_FALSE(listener.hears());
  start();
  ASSERT_TRUE(until([&] { return listener.hears() && heard->missed == 2; }));
}

}  // namespace
}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
