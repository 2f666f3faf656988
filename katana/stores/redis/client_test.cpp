// Tests of the client against a real server: every kind of call, and calls while the server is
// killed, stopped, or full.
#include "katana/stores/redis/client.hpp"

#include <algorithm>
#include <deque>

#include "katana/base/coroutine/when.hpp"
#include "katana/net/reactor/timeout.hpp"
#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana::redis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ClientTest : public RedisTest {
 protected:
  RedisServer& server = RedisServer::shared();
  Client redis = client_of(server);
};

TEST_F(ClientTest, texts_come_back_as_they_were_put_whatever_they_hold) {
  std::string odd("\0\r\n$5\r\n\xff", 9);
  const std::string large(3'000'000, 'x');
  for (const std::string& value : {std::string(), std::string("plain"), odd, large}) {
    ASSERT_TRUE(run(wait(redis.set("text", value))));
    const auto found = run(wait(redis.get("text")));
    ASSERT_TRUE(found) << found.error().describe();
    EXPECT_TRUE(*found == value);
  }
  EXPECT_EQ(run(wait(redis.set(odd, "1"))), true);
  EXPECT_EQ(run(wait(redis.get(odd))).value(), "1");
  EXPECT_EQ(run(wait(redis.get("none"))).value(), std::nullopt);
  EXPECT_EQ(run(wait(redis.remove("text"))), 1);
  EXPECT_EQ(run(wait(redis.remove("text"))), 0);
}

TEST_F(ClientTest, conditions_and_times_to_live_are_kept) {
  using If = SetOptions::If;
  run(wait(redis.remove("c")));
  EXPECT_EQ(run(wait(redis.set("c", "1", {.condition = If::present}))), false);
  EXPECT_EQ(run(wait(redis.set("c", "1", {.condition = If::absent}))), true);
  EXPECT_EQ(run(wait(redis.set("c", "2", {.condition = If::absent}))), false);
  EXPECT_EQ(run(wait(redis.time_to_live("c"))).value(), std::nullopt);
  EXPECT_EQ(run(wait(redis.expire("c", seconds(60)))), true);
  const auto left = run(wait(redis.time_to_live("c"))).value();
  ASSERT_TRUE(left);
  EXPECT_GT(*left, seconds(50));
  EXPECT_EQ(run(wait(redis.set("c", "3", {.time_to_live = microseconds(1)}))), true);
  EXPECT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.exists("c"))) == false; }));
  EXPECT_EQ(run(wait(redis.expire("c", seconds(1)))), false);
}

TEST_F(ClientTest, counts_and_many_keys_at_once) {
  const std::vector<std::string> keys = {"m1", "m2", "m3"};
  run(wait(redis.remove_many(keys)));
  EXPECT_EQ(run(wait(redis.increment("m1"))), 1);
  EXPECT_EQ(run(wait(redis.increment("m1", -5))), -4);
  run(wait(redis.set("m3", "x")));
  EXPECT_THAT(run(wait(redis.get_many(keys))).value(), ElementsAre("-4", std::nullopt, "x"));
  EXPECT_EQ(run(wait(redis.remove_many(keys))), 2);
}

TEST_F(ClientTest, any_command_has_its_reply_as_a_tree) {
  run(wait(redis.command("DEL", "h")));
  EXPECT_EQ(run(wait(redis.command("HSET", "h", "a", 1, "b", 2.5)))->integer(), 2);
  const auto all = run(wait(redis.command("HGETALL", "h")));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->type(), Reply::Type::map);
  ASSERT_NE(all->find("b"), nullptr);
  EXPECT_EQ(all->find("b")->text(), "2.5");
  EXPECT_EQ(all->find("c"), nullptr);
  EXPECT_EQ(run(wait(redis.command("ZADD", "z", 1.5, "m")))->integer().has_value(), true);
  EXPECT_EQ(run(wait(redis.command("ZSCORE", "z", "m")))->number(), 1.5);
  RedisServer debugged({"--enable-debug-command", "yes"});
  const auto attributed = run(wait(client_of(debugged).command("DEBUG", "PROTOCOL", "attrib")));
  ASSERT_TRUE(attributed);
  EXPECT_EQ(attributed->text(), "Some real reply following the attribute") << "which is left out";
}

TEST_F(ClientTest, a_servers_refusal_is_an_error_with_its_prefix_and_without_keys) {
  run(wait(redis.command("DEL", "list")));
  run(wait(redis.command("RPUSH", "list", "x")));
  const auto wrong = run(wait(redis.get("list")));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind(), Kind::server);
  EXPECT_EQ(wrong.error().prefix(), "WRONGTYPE");
  EXPECT_EQ(wrong.error().code(), Code::internal);
  EXPECT_EQ(wrong.error().message(), "Redis refused the command");
  EXPECT_THAT(wrong.error().describe(), HasSubstr("GET: WRONGTYPE"));
  EXPECT_EQ(wrong.error().describe().find("list"), std::string::npos);
  const auto other = run(wait(redis.increment("list")));
  EXPECT_EQ(other.error().kind(), Kind::server);
  EXPECT_EQ(run(wait(redis.ping())), true) << "the connection goes on";
}

TEST_F(ClientTest, what_would_take_the_connection_from_others_is_refused_unsent) {
  for (const char* const name :
       {"BLPOP", "blpop", "MULTI", "Watch", "SUBSCRIBE", "MONITOR", "SELECT", "AUTH", "QUIT"}) {
    const auto refused = run(wait(redis.command(name, "x")));
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().kind(), Kind::refused);
  }
  EXPECT_EQ(run(wait(redis.command("CLIENT", "reply", "off"))).error().kind(), Kind::refused);
  EXPECT_TRUE(run(wait(redis.command("CLIENT", "ID"))));
  EXPECT_EQ(run(wait(redis.command("XREAD", "COUNT", 1, "Block", 0, "STREAMS", "stream", "0")))
                .error()
                .kind(),
            Kind::refused);
  EXPECT_TRUE(run(wait(redis.command("XREAD", "COUNT", 1, "STREAMS", "stream", "0"))));
}

TEST_F(ClientTest, a_script_that_the_server_does_not_know_is_sent_in_the_same_call) {
  const Script add("return redis.call('INCRBY', KEYS[1], ARGV[1]) + " + std::to_string(::getpid()) +
                   " * 0");
  run(wait(redis.remove("s")));
  EXPECT_EQ(run(wait(redis.run(add, 1, "s", "5")))->integer(), 5);
  EXPECT_EQ(run(wait(redis.run(add, 1, "s", "2")))->integer(), 7);
  run(wait(redis.command("SCRIPT", "FLUSH")));
  EXPECT_EQ(run(wait(redis.run(add, 1, "s", "1")))->integer(), 8);
  const Script broken("return nonsense(");
  EXPECT_EQ(run(wait(redis.run(broken, 0))).error().kind(), Kind::server);
}

TEST_F(ClientTest, what_is_asked_in_one_turn_goes_out_in_one_send_and_each_gets_its_own) {
  run(wait(redis.ping()));
  std::vector<Task<Result<std::int64_t>>> tasks;
  for (int index = 0; index < 500; ++index) {
    const std::string key = "turn:" + std::to_string(index);
    run(wait(redis.set(key, std::to_string(index * 1000))));
  }
  std::deque<std::string> keys;
  for (int index = 0; index < 500; ++index) {
    tasks.push_back(wait(redis.increment(keys.emplace_back("turn:" + std::to_string(index)))));
  }
  const std::uint64_t sent_before = reactor().counters().bytes_sent;
  for (auto& task : tasks) task.start();
  EXPECT_EQ(reactor().counters().bytes_sent, sent_before) << "nothing goes out within the turn";
  ASSERT_TRUE(turn_until(reactor(), [&] {
    return std::ranges::all_of(tasks, [](const auto& task) { return task.done(); });
  }));
  for (int index = 0; index < 500; ++index) {
    EXPECT_EQ(tasks[static_cast<std::size_t>(index)].result(), index * 1000 + 1);
  }
}

TEST_F(ClientTest, a_call_whose_coroutine_is_destroyed_leaves_no_reply_to_another) {
  for (int index = 0; index < 20; ++index) {
    run(wait(redis.set("d:" + std::to_string(index), std::to_string(index))));
  }
  std::deque<std::string> keys;
  for (int round = 0; round < 50; ++round) {
    std::vector<std::optional<Task<Result<std::optional<std::string>>>>> tasks;
    for (int index = 0; index < 20; ++index) {
      tasks.emplace_back(wait(redis.get(keys.emplace_back("d:" + std::to_string(index)))));
      tasks.back()->start();
    }
    if (round % 2 == 0) reactor().turn(Duration{});  // those are sent
    for (int index = 0; index < 20; ++index) {
      if ((index * 7 + round) % 3 == 0) tasks[static_cast<std::size_t>(index)].reset();
    }
    ASSERT_TRUE(turn_until(reactor(), [&] {
      return std::ranges::all_of(tasks, [](const auto& task) { return !task || task->done(); });
    }));
    for (int index = 0; index < 20; ++index) {
      auto& task = tasks[static_cast<std::size_t>(index)];
      if (task) EXPECT_EQ(task->result().value(), std::to_string(index));
    }
  }
  EXPECT_GT(redis.totals().abandoned, 0u);
}

TEST_F(ClientTest, a_unix_domain_socket_and_another_database_are_by_url) {
  Client other = client_of(options_for("unix:" + server.path() + "?db=3"));
  EXPECT_EQ(run(wait(other.set("where", "3"))), true);
  EXPECT_EQ(run(wait(client_of(options_for(server.url() + "/3")).get("where"))).value(), "3");
  EXPECT_EQ(run(wait(redis.get("where"))).value(), std::nullopt);
}

TEST_F(ClientTest, connections_max_is_of_the_process_and_its_refusal_says_so) {
  Options options = options_for(server.url());
  options.connections_max = 1;
  Client one = client_of(std::move(options));
  EXPECT_EQ(run(wait(one.ping())), true);
  EpollReactor second(reactor_options(), 4096);
  ASSERT_TRUE(second.start());
  const auto refused = run_on(second, wait(one.ping()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), Kind::overloaded);
  EXPECT_THAT(refused.error().message(), HasSubstr("connections_max"));
}

TEST_F(ClientTest, limits_of_waiting_commands_and_octets_are_refusals_before_anything_is_sent) {
  Options options = options_for(server.url());
  options.commands_max = 3;
  options.queued_bytes_max = 4096;
  Client small = client_of(std::move(options));
  EXPECT_EQ(run(wait(small.ping())), true);
  std::deque<Task<Result<bool>>> tasks;
  for (int index = 0; index < 4; ++index) {
    tasks.push_back(wait(small.ping()));
    tasks.back().start();
  }
  ASSERT_TRUE(tasks.back().done());
  EXPECT_EQ(tasks.back().result().error().kind(), Kind::overloaded);
  ASSERT_TRUE(turn_until(reactor(), [&] { return tasks[2].done(); }));
  const auto large = run(wait(small.set("k", std::string(5000, 'x'))));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind(), Kind::overloaded);
  EXPECT_THAT(large.error().describe(), HasSubstr("queued_bytes_max"));
  EXPECT_EQ(small.totals().overloads, 2u);
}

TEST_F(ClientTest, commands_that_wait_are_counted_until_their_replies_are_there) {
  run(wait(redis.ping()));
  const Totals before = redis.totals();
  EXPECT_EQ(before.waiting, 0u);
  const Instant began = reactor().now();
  std::deque<Task<Result<bool>>> tasks;
  for (int index = 0; index < 3; ++index) {
    tasks.push_back(wait(redis.ping()));
    tasks.back().start();
  }
  EXPECT_EQ(redis.totals().waiting, 3u);
  ASSERT_TRUE(turn_until(reactor(), [&] {
    return std::ranges::all_of(tasks, [](const auto& task) { return task.done(); });
  }));
  const Totals after = redis.totals();
  EXPECT_EQ(after.waiting, 0u);
  EXPECT_EQ(after.replies - before.replies, 3u);
  const auto most = static_cast<std::uint64_t>(3 * (reactor().now() - began).ns);
  EXPECT_GT(after.reply_wait_ns, before.reply_wait_ns);
  EXPECT_LE(after.reply_wait_ns - before.reply_wait_ns, most) << "each counts from its sending";
}

TEST(RedisOptions, each_out_of_its_range_is_refused_by_name_and_its_bounds_are_taken) {
  const auto refusal = [](auto&& change) {
    Options options;
    change(options);
    const auto made = Client::make(std::move(options));
    return made ? std::string() : made.error().describe();
  };
  const auto taken = testing::IsEmpty();
  EXPECT_THAT(refusal([](Options&) {}), taken);
  EXPECT_THAT(refusal([](Options& of) { of.timeout = {}; }), HasSubstr(" timeout"));
  EXPECT_THAT(refusal([](Options& of) { of.timeout = nanoseconds(1); }), taken);
  EXPECT_THAT(refusal([](Options& of) { of.stalled_after = {}; }), HasSubstr("stalled_after"));
  EXPECT_THAT(refusal([](Options& of) { of.stalled_after = nanoseconds(1); }), taken);
  EXPECT_THAT(refusal([](Options& of) { of.wait_while_down = nanoseconds(-1); }),
              HasSubstr("wait_while_down"));
  EXPECT_THAT(refusal([](Options& of) { of.wait_while_down = {}; }), taken);
  EXPECT_THAT(refusal([](Options& of) { of.connections_max = 0; }), HasSubstr("connections_max"));
  EXPECT_THAT(refusal([](Options& of) { of.commands_max = 0; }), HasSubstr("commands_max"));
  EXPECT_THAT(refusal([](Options& of) { of.queued_bytes_max = 1023; }),
              HasSubstr("queued_bytes_max"));
  EXPECT_THAT(refusal([](Options& of) { of.queued_bytes_max = 1024; }), taken);
  EXPECT_THAT(refusal([](Options& of) { of.reply.depth_max = 0; }), HasSubstr("depth_max"));
  EXPECT_THAT(refusal([](Options& of) { of.reply.depth_max = 1; }), taken);
  EXPECT_THAT(refusal([](Options& of) { of.reply.depth_max = resp::depth_limit; }), taken);
  EXPECT_THAT(refusal([](Options& of) { of.reply.depth_max = resp::depth_limit + 1; }),
              HasSubstr("depth_max"));
  for (const char* const name : {"two words", "tab\t", "line\n", "caf\xc3\xa9", "\x7f"}) {
    EXPECT_THAT(refusal([name](Options& of) { of.client_name = name; }), HasSubstr("client_name"));
  }
  EXPECT_THAT(refusal([](Options& of) { of.client_name = "!~"; }), taken);
  EXPECT_THAT(refusal([](Options& of) { of.upstream.servers = {{.host = "", .port = 1}}; }),
              testing::Not(taken));
}

TEST(RedisOptions, without_a_server_it_is_that_of_this_machine) {
  const auto made = Client::make({});
  ASSERT_TRUE(made);
  const auto& servers = made->options().upstream.servers;
  ASSERT_EQ(servers.size(), 1u);
  EXPECT_EQ(servers[0].text(), "127.0.0.1:6379");
}

TEST(RedisPassword, it_is_asked_for_once_and_never_printed) {
  RedisServer server({"--requirepass", "correct-horse"});
  struct Run : RedisTest {
    void TestBody() override {}
    void play(const RedisServer& server) {
      Options options = options_for(server.url());
      options.password = SecretText("correct-horse");
      EXPECT_EQ(run(wait(client_of(std::move(options)).ping())), true);

      Options wrong = options_for(server.url());
      wrong.password = SecretText("battery-staple");
      wrong.wait_while_down = {};
      const auto refused = run(wait(client_of(std::move(wrong)).ping()));
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().kind(), Kind::unavailable);
      EXPECT_THAT(refused.error().describe(), HasSubstr("WRONGPASS"));
      EXPECT_EQ(refused.error().describe().find("battery"), std::string::npos);

      Options none = options_for(server.url());
      none.wait_while_down = {};
      EXPECT_THAT(run(wait(client_of(std::move(none)).ping())).error().describe(),
                  HasSubstr("NOAUTH"));
    }
  };
  Run().play(server);
}

// ---- outages ----

class OutageTest : public RedisTest {
 protected:
  RedisServer server;
};

TEST_F(OutageTest, a_server_that_is_killed_and_started_again_is_used_again) {
  Client redis = client_of(server);
  EXPECT_EQ(run(wait(redis.set("k", "v"))), true);
  server.kill();
  const auto lost = run(wait(redis.get("k")));
  ASSERT_FALSE(lost);
  EXPECT_TRUE(lost.error().kind() == Kind::unavailable || lost.error().kind() == Kind::lost_reply)
      << lost.error().describe();
  EXPECT_TRUE(lost.error().retryable());
  // Calls in the outage fail at once when wait_while_down is over.
  ASSERT_TRUE(turn_until(reactor(), [&] {
    const Instant since = reactor().now();
    const auto again = run(wait(redis.get("k")));
    return !again && reactor().now() - since < milliseconds(100) &&
           again.error().kind() == Kind::unavailable;
  }));
  EXPECT_EQ(redis.status().down, 1u);
  EXPECT_THAT(redis.status().why->describe(), HasSubstr("Connection refused"));
  auto refused = wait(redis.get("k"));
  ASSERT_TRUE(refused.start()) << "it waits for nothing";
  const auto why = refused.result();
  EXPECT_EQ(why.error().message(), "Redis cannot be reached");
  EXPECT_THAT(why.error().describe(), HasSubstr("Connection refused"));
  server.start();
  ASSERT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.get("k"))).has_value(); }));
  EXPECT_EQ(redis.status().up, 1u);
  EXPECT_EQ(redis.status().down, 0u);
}

TEST_F(OutageTest, calls_wait_for_a_server_that_is_back_soon) {
  Options options = options_for(server.url());
  options.wait_while_down = seconds(10);
  Client redis = client_of(std::move(options));
  EXPECT_EQ(run(wait(redis.ping())), true);
  server.kill();
  Task<Result<bool>> waiting = wait(redis.set("k", "v"));
  waiting.start();
  ASSERT_TRUE(turn_until(reactor(), [&] { return redis.status().down == 1; }));
  if (!waiting.done()) {
    server.start();
    ASSERT_TRUE(turn_until(reactor(), [&] { return waiting.done(); }));
  }
  // The command was queued while the connection still counted as up, or after it was lost.
  const auto set = waiting.result();
  if (!set) {
    EXPECT_EQ(set.error().kind(), Kind::unknown_outcome) << set.error().describe();
  }
}

TEST_F(OutageTest, an_idle_connection_whose_server_hangs_is_down_without_a_call) {
  Options options = options_for(server.url());
  options.stalled_after = milliseconds(100);
  Client redis = client_of(std::move(options));
  ASSERT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.ping())) == true; }));
  const Totals before = redis.totals();
  server.pause();
  ASSERT_TRUE(turn_until(reactor(), [&] { return redis.status().up == 0; }));
  EXPECT_THAT(redis.status().why->describe(), HasSubstr("has answered nothing for 100 ms"));
  server.go_on();
  ASSERT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.ping())) == true; }));
  EXPECT_EQ(redis.status().up, 1u);
  EXPECT_EQ(redis.totals().abandoned, before.abandoned) << "a probe is nobody's call";
}

TEST_F(OutageTest, a_write_that_was_sent_to_a_server_that_stops_has_an_unknown_outcome) {
  Options options = options_for(server.url());
  options.timeout = milliseconds(100);
  options.stalled_after = milliseconds(400);
  Client redis = client_of(std::move(options));
  ASSERT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.ping())) == true; }));
  server.pause();
  const auto wrote = run(wait(redis.set("k", "v")));
  ASSERT_FALSE(wrote);
  EXPECT_EQ(wrote.error().kind(), Kind::unknown_outcome);
  EXPECT_THAT(wrote.error().message(), HasSubstr("it may have done what was asked"));
  EXPECT_THAT(wrote.error().describe(), HasSubstr("SET"));
  EXPECT_FALSE(wrote.error().retryable());
  const auto read = run(wait(redis.get("k")));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind(), Kind::timeout);
  ASSERT_TRUE(turn_until(reactor(), [&] { return redis.status().losses == 1; }))
      << "it is given up";
  EXPECT_THAT(redis.status().why->describe(), HasSubstr("stalled_after"));
  server.go_on();
  ASSERT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.get("k"))).has_value(); }));
  EXPECT_EQ(redis.totals().unknown_outcomes, 1u);
}

TEST_F(OutageTest, the_deadline_of_the_caller_holds_as_well) {
  Options options = options_for(server.url());
  options.timeout = options.stalled_after = seconds(600);  // run() fails long before
  Client redis = client_of(std::move(options));
  EXPECT_EQ(run(wait(redis.ping())), true);
  server.pause();
  const auto late = run(net::with_timeout(wait(redis.get("k")), milliseconds(50)));
  EXPECT_FALSE(late && late->has_value());
  server.go_on();
}

TEST_F(OutageTest, a_primary_that_becomes_a_replica_is_left_for_the_next_server) {
  RedisServer second;
  Options options = options_for("redis://127.0.0.1:" + std::to_string(server.port()) +
                                ",127.0.0.1:" + std::to_string(second.port()));
  options.wait_while_down = seconds(5);
  Client redis = client_of(std::move(options));
  EXPECT_EQ(run(wait(redis.set("k", "first"))), true);
  run(wait(redis.command("REPLICAOF", "127.0.0.1", second.port())));
  const auto refused = run(wait(redis.set("k", "v")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), Kind::unavailable);
  EXPECT_EQ(refused.error().prefix(), "READONLY");
  ASSERT_TRUE(turn_until(reactor(), [&] {
    const auto set = run(wait(redis.set("k", "second")));
    return set.has_value();
  }));
  EXPECT_EQ(run(wait(client_of(second).get("k"))).value(), "second");
}

TEST_F(OutageTest, a_call_that_failed_may_end_another_that_failed_with_it) {
  Options options = options_for(server.url());
  options.timeout = options.stalled_after = seconds(600);
  Client redis = client_of(std::move(options));
  EXPECT_EQ(run(wait(redis.ping())), true);
  server.pause();
  std::optional<Task<Result<bool>>> other;
  const auto ending = [](Call<bool> call, auto& of) -> Task<Result<bool>> {
    auto result = co_await std::move(call);
    of.reset();
    co_return result;
  };
  Task<Result<bool>> first = ending(redis.ping(), other);
  first.start();
  other.emplace(wait(redis.ping()));
  other->start();
  reactor().turn(Duration{});
  server.kill();
  ASSERT_TRUE(turn_until(reactor(), [&] { return first.done(); }));
  EXPECT_EQ(first.result().error().kind(), Kind::lost_reply);
  EXPECT_FALSE(other);
  server.start();
  ASSERT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.ping())).has_value(); }));
}

TEST_F(OutageTest, calls_that_waited_for_a_reactor_that_ended_are_counted_no_more) {
  Options options = options_for(server.url());
  options.wait_while_down = options.timeout = seconds(600);
  Client redis = client_of(std::move(options));
  server.kill();
  Task<Result<bool>> queued = wait(redis.set("k", "v"));
  queued.start();
  EXPECT_EQ(redis.totals().waiting, 1u);
  EXPECT_GT(redis.totals().waiting_bytes, 0u);
  reactor_.reset();
  EXPECT_EQ(redis.totals().waiting, 0u);
  EXPECT_EQ(redis.totals().waiting_bytes, 0u);
}

TEST_F(OutageTest, a_reactor_that_ends_while_calls_wait_leaves_nothing_behind) {
  Client redis = client_of(server);
  EXPECT_EQ(run(wait(redis.ping())), true);
  server.pause();
  Task<Result<bool>> sent = wait(redis.ping());
  sent.start();
  reactor().turn(Duration{});
  Task<Result<bool>> queued = wait(redis.ping());
  queued.start();
  reactor_.reset();
  EXPECT_FALSE(sent.done());
  server.go_on();
}

}  // namespace
}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
