// Servers that lie, stall, flood and hang up. Each call ends with an Error of its kind, and the
// connection is given up. The next connection is good.
#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana::redis {
namespace {

using testing::HasSubstr;

class HostileServerTest : public RedisTest {
 protected:
  // The first connection is answered by `lie` when PING comes; all others as they should be. A
  // busy machine may stand still for longer than the times of a server that stalls.
  void play(const std::string& lie, Kind kind, const std::string& words) {
    const Duration patience = kind == Kind::timeout ? milliseconds(500) : seconds(60);
    SCOPED_TRACE(lie.substr(0, 60));
    FakeRedis server([&](FakeRedis::Peer& peer, int connection) {
      if (!peer.greet()) return;
      while (peer.hear("PING")) {
        if (!peer.say(connection == 1 ? lie : "+PONG\r\n")) return;
        if (connection == 1) peer.wait_for_end();
      }
    });
    Options options = options_for(server.url());
    options.timeout = patience;
    options.stalled_after = patience;
    options.wait_while_down = seconds(60);
    options.reply.depth_max = 4;
    options.reply.elements_max = 100;
    options.reply.reply_bytes_max = 10'000;
    Client redis = client_of(std::move(options));
    const auto answer = run(wait(redis.ping()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind(), kind) << answer.error().describe();
    EXPECT_THAT(answer.error().describe(), HasSubstr(words));
    ASSERT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.ping())).has_value(); }));
    EXPECT_GE(server.connections(), 2);
  }
};

TEST_F(HostileServerTest, what_is_not_resp_ends_the_connection_and_nothing_else) {
  play("HTTP/1.1 400 Bad Request\r\n\r\n", Kind::lost_reply, "stands for no type of RESP");
  play("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n+deep\r\n", Kind::lost_reply, "nested deeper");
  play("*101\r\n", Kind::lost_reply, "elements_max");
  play("$10001\r\n", Kind::lost_reply, "reply_bytes_max");
  play("$3\r\nabcd\r\n", Kind::lost_reply, "longer or shorter");
  play("+PO\rNG\r\n", Kind::lost_reply, "CRLF");
}

TEST_F(HostileServerTest, a_server_that_stalls_amid_a_reply_is_given_up) {
  play("$5\r\nPO", Kind::timeout, "not answered in time");
  play("", Kind::timeout, "not answered in time");
}

TEST_F(HostileServerTest, an_answer_of_another_type_is_a_mismatch_of_each_call) {
  FakeRedis server([](FakeRedis::Peer& peer, int) {
    if (!peer.greet()) return;
    // Each call ends with its key.
    while (peer.hear("$1\r\nk\r\n")) peer.say("*2\r\n:1\r\n:2\r\n");
  });
  Client redis = client_of(options_for(server.url()));
  const auto expect_mismatch = [&](auto call) {
    const auto answer = run(wait(std::move(call)));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind(), Kind::mismatch);
    EXPECT_THAT(answer.error().describe(), HasSubstr("an array"));
  };
  const std::vector<std::string> keys = {"k"};
  expect_mismatch(redis.get("k"));
  expect_mismatch(redis.set("a", "k"));
  expect_mismatch(redis.remove("k"));
  expect_mismatch(redis.remove_many(keys));
  expect_mismatch(redis.exists("k"));
  expect_mismatch(redis.time_to_live("k"));
  expect_mismatch(redis.publish("c", "k"));
  const auto numbers = run(wait(redis.get_many(keys)));
  ASSERT_FALSE(numbers);
  EXPECT_EQ(numbers.error().kind(), Kind::mismatch) << "an array, but not of texts";
}

TEST_F(HostileServerTest, what_is_no_array_is_no_answer_to_many_keys) {
  FakeRedis server([](FakeRedis::Peer& peer, int) {
    if (!peer.greet()) return;
    while (peer.hear("MGET")) peer.say(":1\r\n");
  });
  Client redis = client_of(options_for(server.url()));
  const std::vector<std::string> keys = {"k"};
  const auto answer = run(wait(redis.get_many(keys)));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), Kind::mismatch);
}

TEST_F(HostileServerTest, a_server_that_said_readonly_is_sent_nothing_more) {
  std::string heard_last;
  {
    FakeRedis server([&](FakeRedis::Peer& peer, int connection) {
      if (!peer.greet()) return;
      if (connection > 1) {
        while (peer.hear("SET")) peer.say("+OK\r\n");
        return;
      }
      if (!peer.hear("SET") || !peer.hear("GET")) return;
      peer.say("-READONLY You can't write against a read only replica.\r\n");
      peer.hear("\r\nk\r\n");
      if (peer.hear("SET")) heard_last = "SET";
    });
    Options options = options_for(server.url());
    // The first connection ends by this, for its GET is not answered.
    options.stalled_after = milliseconds(500);
    options.timeout = options.wait_while_down = seconds(60);
    Client redis = client_of(std::move(options));
    auto first = wait(redis.set("k", "1"));
    auto read = wait(redis.get("k"));
    first.start();
    read.start();
    ASSERT_TRUE(turn_until(reactor(), [&] { return first.done(); }));
    EXPECT_EQ(first.result().error().prefix(), "READONLY");
    auto second = wait(redis.set("k", "2"));
    EXPECT_FALSE(second.start());
    ASSERT_TRUE(turn_until(reactor(), [&] { return second.done() && read.done(); }));
    EXPECT_EQ(second.result(), true) << "by the next connection";
    EXPECT_EQ(read.result().error().kind(), Kind::lost_reply);
  }
  EXPECT_EQ(heard_last, "");
}

TEST_F(HostileServerTest, a_reply_that_nobody_asked_for_ends_the_connection) {
  FakeRedis server([](FakeRedis::Peer& peer, int connection) {
    if (!peer.greet()) return;
    while (peer.hear("PING")) {
      if (!peer.say(connection == 1 ? "+PONG\r\n+PONG\r\n" : "+PONG\r\n")) return;
    }
  });
  Client redis = client_of(options_for(server.url()));
  EXPECT_EQ(run(wait(redis.ping())), true);
  ASSERT_TRUE(turn_until(reactor(), [&] { return redis.totals().protocol_errors == 1; }));
  ASSERT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.ping())).has_value(); }));
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(HostileServerTest,
       a_server_that_hangs_up_amid_a_reply_leaves_a_write_with_an_unknown_outcome) {
  FakeRedis server([](FakeRedis::Peer& peer, int connection) {
    if (!peer.greet()) return;
    if (connection == 1) {
      peer.hear("SET");
      peer.say("+O");
      return;
    }
    while (peer.hear("PING")) peer.say("+PONG\r\n");
  });
  Options options = options_for(server.url());
  options.wait_while_down = seconds(5);
  Client redis = client_of(std::move(options));
  const auto set = run(wait(redis.set("k", "v")));
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().kind(), Kind::unknown_outcome);
  EXPECT_FALSE(set.error().retryable());
  EXPECT_THAT(set.error().describe(), HasSubstr("lost: "));
  EXPECT_EQ(run(wait(redis.ping())), true);
}

TEST_F(HostileServerTest, a_flood_of_pushes_is_counted_and_passed_over) {
  FakeRedis server([](FakeRedis::Peer& peer, int) {
    if (!peer.greet()) return;
    std::string flood;
    for (int index = 0; index < 1000; ++index) flood += ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n";
    while (peer.hear("PING")) {
      for (int round = 0; round < 100; ++round) {
        if (!peer.say(flood)) return;
      }
      peer.say("+PONG\r\n");
    }
  });
  Options options = options_for(server.url());
  // Under a sanitizer, and beside other work, the calls take some seconds.
  options.timeout = options.stalled_after = seconds(60);
  Client redis = client_of(std::move(options));
  const auto pong = run(wait(redis.ping()));
  EXPECT_TRUE(pong) << pong.error().describe();
  EXPECT_EQ(redis.totals().pushes, 100'000u);
}

TEST_F(HostileServerTest, a_greeting_that_is_none_and_servers_that_are_none_are_said_plainly) {
  const std::pair<const char*, const char*> greetings[] = {
      {"-ERR unknown command 'HELLO'\r\n", "Redis 6 or later is needed"},
      {"-ERR max number of clients reached\r\n", "max number of clients"},
      {"+OK\r\n", "no Redis server"},
      {"%1\r\n+mode\r\n+sentinel\r\n", "a Sentinel"},
      {"%2\r\n+mode\r\n+standalone\r\n+role\r\n+replica\r\n", "a replica"},
      {"%1\r\n", "connect_timeout"},
  };
  for (const auto& [greeting, words] : greetings) {
    SCOPED_TRACE(greeting);
    FakeRedis server([&](FakeRedis::Peer& peer, int) {
      peer.hear("HELLO");
      peer.say(greeting);
      peer.wait_for_end();
    });
    Options options = options_for(server.url());
    const bool is_endless = std::string_view(words) == "connect_timeout";
    options.upstream.connect_timeout = is_endless ? milliseconds(200) : seconds(60);
    options.wait_while_down = {};
    Client redis = client_of(std::move(options));
    const auto answer = run(wait(redis.ping()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind(), Kind::unavailable);
    EXPECT_THAT(answer.error().describe(), HasSubstr(words));
    const bool is_old = std::string_view(words).starts_with("Redis 6");
    EXPECT_EQ(answer.error().describe().find("Redis 6") != std::string::npos, is_old);
  }
}

TEST_F(HostileServerTest, a_cluster_says_moved_and_the_error_says_what_that_means) {
  FakeRedis server([](FakeRedis::Peer& peer, int) {
    if (!peer.greet()) return;
    while (peer.hear("GET")) peer.say("-MOVED 3999 127.0.0.1:6381\r\n");
  });
  Client redis = client_of(options_for(server.url()));
  const auto answer = run(wait(redis.get("k")));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().prefix(), "MOVED");
  EXPECT_THAT(answer.error().message(), HasSubstr("a Redis cluster"));
}

TEST(RedisUrl, is_read_as_it_is_meant_and_never_shows_a_password) {
  const auto plain = parse_url("redis://ada@[::1]:1,b:2/7");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->user, "ada");
  EXPECT_EQ(plain->database, 7u);
  ASSERT_EQ(plain->upstream.servers.size(), 2u);
  EXPECT_EQ(plain->upstream.servers[0].text(), "[::1]:1");
  EXPECT_EQ(plain->upstream.servers[1].text(), "b:2");
  EXPECT_FALSE(plain->upstream.tls);
  EXPECT_TRUE(parse_url("rediss://a")->upstream.tls);
  EXPECT_EQ(parse_url("redis://a")->upstream.servers[0].port, 6379);
  EXPECT_EQ(parse_url("unix:/run/r.sock?db=2")->database, 2u);
  for (const char* const url :
       {"", "http://a", "redis://", "redis://a:0", "redis://a/x", "redis://a/-1", "unix:r.sock",
        "unix:/r?db=x", "unix:/r?x=1", "redis:///run/r.sock"}) {
    EXPECT_FALSE(parse_url(url)) << url;
  }
  const auto secret = parse_url("redis://ada:hunter2@host");
  ASSERT_FALSE(secret);
  EXPECT_THAT(secret.error().describe(), HasSubstr("password_file"));
  EXPECT_EQ(secret.error().describe().find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
