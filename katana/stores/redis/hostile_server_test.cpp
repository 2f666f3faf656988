// Servers that lie, stall, flood and hang up. Each call ends with an Error of its kind, and the
// connection is given up. The next connection is good.
#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana::redis {
namespace {

using testing::HasSubstr;

class HostileServerTest : public RedisTest {
 protected:
  // The first connection is answered by `lie` when PING comes; all others as they should be.
  void play(const std::string& lie, Kind kind, const std::string& words) {
    SCOPED_TRACE(lie.substr(0, 60));
    FakeRedis server([&](FakeRedis::Peer& peer, int connection) {
      if (!peer.greet()) return;
      while (peer.hear("PING")) {
        if (!peer.say(connection == 1 ? lie : "+PONG\r\n")) return;
        if (connection == 1) peer.wait_for_end();
      }
    });
    Options options = options_for(server.url());
    options.timeout = milliseconds(300);
    options.stalled_after = milliseconds(300);
    options.wait_while_down = seconds(5);
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

TEST_F(HostileServerTest, an_answer_of_another_type_is_a_mismatch) {
  FakeRedis server([](FakeRedis::Peer& peer, int) {
    if (!peer.greet()) return;
    while (peer.hear("GET")) peer.say("*2\r\n:1\r\n:2\r\n");
  });
  Client redis = client_of(options_for(server.url()));
  const auto answer = run(wait(redis.get("k")));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), Kind::mismatch);
  EXPECT_THAT(answer.error().describe(), HasSubstr("an array"));
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
    options.upstream.connect_timeout = milliseconds(200);
    options.wait_while_down = {};
    Client redis = client_of(std::move(options));
    const auto answer = run(wait(redis.ping()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind(), Kind::unavailable);
    EXPECT_THAT(answer.error().describe(), HasSubstr(words));
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
