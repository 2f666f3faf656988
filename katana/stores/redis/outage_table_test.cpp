// Plays the table of outages of docs/guides/redis.md. Each row is the observed effect of a real
// server, or of one that lies, on a read and on a write.
#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/net/tls/talk_test.hpp"
#include "katana/stores/redis/redis_fixture_test.hpp"

namespace katana::redis {
namespace {

using testing::HasSubstr;
using Kinds = std::set<std::string>;

// The result of a scenario.
struct Seen {
  Kinds kinds = {};                 // of the errors
  bool was_refused_unsent = false;  // no write was done, as the server knows
  bool was_done = false;            // a write was done
};

struct Row {
  Kinds kinds;
  std::string done;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t begin = 1;
  for (std::size_t end = line.find('|', begin); end != std::string::npos;
       begin = end + 1, end = line.find('|', begin)) {
    std::string cell = line.substr(begin, end - begin);
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
    cells.push_back(std::move(cell));
  }
  return cells;
}

// Words between backticks that name a kind.
Kinds kinds_in(const std::string& cell) {
  Kinds kinds;
  for (std::size_t begin = cell.find('`'); begin != std::string::npos;
       begin = cell.find('`', begin)) {
    const std::size_t end = cell.find('`', begin + 1);
    std::string word = cell.substr(begin + 1, end - begin - 1);
    begin = end + 1;
    if (word.find('(') == std::string::npos) kinds.insert(std::move(word));
  }
  return kinds;
}

std::map<std::string, Row> rows_of_the_guide() {
  std::map<std::string, Row> rows;
  std::ifstream page(in_tree("docs/guides/redis.md"));
  bool is_within = false;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with('|')) is_within = false;
    if (is_within && !line.starts_with("|---")) {
      const auto cells = cells_of(line);
      EXPECT_EQ(cells.size(), 4u) << line;
      if (cells.size() == 4) rows[cells[0]] = {kinds_in(cells[2]), cells[3]};
    }
    if (line.starts_with("| what happens |")) is_within = true;
  }
  return rows;
}

std::string word_of(Kind kind) {
  std::string word(kind_name(kind));
  std::ranges::replace(word, ' ', '_');
  return word;
}

class OutageTable : public RedisTest {
 protected:
  // A read and a write, at the same time.
  Seen ask(const Client& redis) {
    auto read = wait(redis.get("r"));
    auto write = wait(redis.increment("w"));
    const bool has_read = read.start(), has_written = write.start();
    EXPECT_TRUE((has_read && has_written) ||
                turn_until(reactor(), [&] { return read.done() && write.done(); }));
    return seen_of(read.result(), write.result());
  }
  // The same where both calls fail without waiting for anything.
  Seen ask_without_a_turn(const Client& redis) {
    auto read = wait(redis.get("r"));
    auto write = wait(redis.increment("w"));
    EXPECT_TRUE(read.start()) << "it waits";
    EXPECT_TRUE(write.start()) << "it waits";
    EXPECT_TRUE(turn_until(reactor(), [&] { return read.done() && write.done(); }));
    return seen_of(read.result(), write.result());
  }
  static Seen seen_of(const Result<std::optional<std::string>>& read,
                      const Result<std::int64_t>& write) {
    Seen seen;
    if (!read) seen.kinds.insert(word_of(read.error().kind()));
    if (!write) seen.kinds.insert(word_of(write.error().kind()));
    seen.was_done = write.has_value();
    return seen;
  }
  // No write has come to `server`.
  bool is_untouched(const RedisServer& server) {
    Client redis = client_of(server);
    return run(wait(redis.exists("w"))) == false;
  }
  Options quick(const std::string& url) {
    Options options = options_for(url);
    options.wait_while_down = {};
    options.timeout = seconds(10);
    return options;
  }
  Options tls(const RedisServer& server, std::uint16_t port) {
    Options options = quick("rediss://localhost:" + std::to_string(port));
    options.upstream.tls->system_authorities = false;
    (void)server;
    return options;
  }
  // Plays the behaviour `then` of a server that was greeted, with a read and a write.
  Seen play(std::function<void(FakeRedis::Peer&)> then, Duration stalled_after = seconds(30),
            Duration vanished_after = seconds(10)) {
    FakeRedis fake([&](FakeRedis::Peer& peer, int number) {
      if (!peer.greet()) return;
      if (number == 1 && peer.hear("INCRBY")) then(peer);
      peer.wait_for_end();
    });
    Options options = quick(fake.url());
    options.stalled_after = stalled_after;
    options.upstream.vanished_after = vanished_after;
    return ask(client_of(std::move(options)));
  }

  Seen refused_command();
  Seen loading_or_busy();
  Seen out_of_memory();
  Seen lost_briefly();
  Seen killed();
  Seen restarted();
  Seen wrong_password();
  Seen untrusted_certificate();
  Seen replica();
  Seen becomes_a_replica();
  Seen late_before_sending();
  Seen slow();
  Seen full();
};

Seen OutageTable::refused_command() {
  RedisServer server;
  Client redis = client_of(server);
  run(wait(redis.command("RPUSH", "w", "x")));
  const auto write = run(wait(redis.increment("w")));
  Seen seen{.kinds = {word_of(write.error().kind())}};
  EXPECT_EQ(write.error().prefix(), "WRONGTYPE");
  seen.was_refused_unsent = run(wait(redis.command("LLEN", "w")))->integer() == 1;
  return seen;
}

Seen OutageTable::loading_or_busy() {
  Seen seen;
  FakeRedis loading([](FakeRedis::Peer& peer, int) {
    if (!peer.greet() || !peer.hear("INCRBY")) return;
    peer.say("-LOADING Redis is loading the dataset in memory\r\n-LOADING Redis is loading\r\n");
    peer.wait_for_end();
  });
  seen = ask(client_of(quick(loading.url())));
  RedisServer server({"--lua-time-limit", "5"});
  Client busy = client_of(server), redis = client_of(server);
  run(wait(redis.ping()));
  auto script = wait(busy.command("EVAL", "while true do end", 0));
  script.start();
  EXPECT_TRUE(turn_until(reactor(), [&] {
    const auto read = run(wait(redis.get("r")));
    return !read && read.error().prefix() == "BUSY";
  }));
  const auto write = run(wait(redis.increment("w")));
  seen.kinds.insert(word_of(write.error().kind()));
  EXPECT_EQ(write.error().prefix(), "BUSY");
  run(wait(redis.command("SCRIPT", "KILL")));
  EXPECT_TRUE(turn_until(reactor(), [&] { return script.done(); }));
  seen.was_refused_unsent = is_untouched(server);
  return seen;
}

Seen OutageTable::out_of_memory() {
  RedisServer server({"--maxmemory", "1", "--maxmemory-policy", "noeviction"});
  Client redis = client_of(server);
  const auto read = run(wait(redis.get("r")));
  EXPECT_TRUE(read) << "reads go on";
  const auto write = run(wait(redis.increment("w")));
  Seen seen = seen_of(read, write);
  EXPECT_EQ(write.error().prefix(), "OOM");
  seen.was_refused_unsent = is_untouched(server);
  return seen;
}

Seen OutageTable::lost_briefly() {
  RedisServer server;
  Options options = options_for(server.url());
  options.wait_while_down = seconds(15);
  Client redis = client_of(std::move(options));
  run(wait(redis.ping()));
  server.kill();
  EXPECT_TRUE(turn_until(reactor(), [&] { return redis.status().down == 1; }));
  auto write = wait(redis.increment("w"));
  EXPECT_FALSE(write.start());
  server.start();
  EXPECT_TRUE(turn_until(reactor(), [&] { return write.done(); }));
  return {.was_done = write.result() == 1};
}

Seen OutageTable::killed() {
  RedisServer server;
  Client redis = client_of(quick(server.url()));
  run(wait(redis.ping()));
  server.kill();
  EXPECT_TRUE(turn_until(reactor(), [&] { return redis.status().down == 1; }));
  Seen seen = ask_without_a_turn(redis);
  server.start();
  seen.was_refused_unsent = is_untouched(server);
  EXPECT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.ping())).has_value(); }));
  return seen;
}

Seen OutageTable::restarted() {
  RedisServer server;
  Client redis = client_of(server);
  const Script add("return redis.call('INCRBY', KEYS[1], 1)");
  EXPECT_EQ(run(wait(redis.run(add, 1, "w")))->integer(), 1);
  server.kill();
  server.start();
  EXPECT_TRUE(turn_until(reactor(), [&] { return redis.status().down == 1; }));
  EXPECT_TRUE(turn_until(reactor(), [&] { return redis.status().up == 1; }));
  const auto again = run(wait(redis.run(add, 1, "w")));
  EXPECT_EQ(redis.totals().scripts_sent, 2u) << "to each of the two";
  return {.was_done = again && again->integer() == 1};
}

Seen OutageTable::wrong_password() {
  RedisServer server({"--requirepass", "right"});
  Options options = quick(server.url());
  options.password = SecretText("wrong");
  Client redis = client_of(std::move(options));
  Seen seen = ask(redis);
  EXPECT_THAT(redis.status().why->describe(), HasSubstr("WRONGPASS"));
  Options right = quick(server.url());
  right.password = SecretText("right");
  seen.was_refused_unsent = run(wait(client_of(std::move(right)).exists("w"))) == false;
  return seen;
}

Seen OutageTable::untrusted_certificate() {
  const tls::TestCertificate& own = tls::shared_certificate();
  const tls::TestCertificate other;
  RedisServer server;
  const std::uint16_t port = find_free_port();
  server.kill();
  const std::string chain = server.add_file("chain.pem", own.certificate_text());
  const std::string key = server.add_file("key.pem", own.key_text());
  server.set_flags({"--tls-port", std::to_string(port), "--tls-cert-file", chain, "--tls-key-file",
                    key, "--tls-ca-cert-file", chain, "--tls-auth-clients", "no"});
  server.start();
  Options trusting = tls(server, port);
  trusting.upstream.tls->authorities_text = own.certificate_text();
  EXPECT_EQ(run(wait(client_of(std::move(trusting)).set("r", "by TLS"))), true);
  Options untrusting = tls(server, port);
  untrusting.upstream.tls->authorities_text = other.certificate_text();
  Client redis = client_of(std::move(untrusting));
  Seen seen = ask(redis);
  EXPECT_THAT(redis.status().why->describe(), HasSubstr("certificate"));
  Options misnamed = tls(server, port);
  misnamed.upstream.tls->authorities_text = own.certificate_text();
  misnamed.upstream.servers[0].certificate_name = "cache.example";
  seen.kinds.merge(ask(client_of(std::move(misnamed))).kinds);
  Options plain = quick("rediss://localhost:" + std::to_string(server.port()));
  plain.upstream.connect_timeout = milliseconds(300);
  seen.kinds.merge(ask(client_of(std::move(plain))).kinds);
  seen.was_refused_unsent = is_untouched(server);
  return seen;
}

Seen OutageTable::replica() {
  RedisServer primary, server;
  Client operating = client_of(server);
  run(wait(operating.command("REPLICAOF", "127.0.0.1", primary.port())));
  Client redis = client_of(quick(server.url()));
  Seen seen = ask(redis);
  EXPECT_THAT(redis.status().why->describe(), HasSubstr("replica"));
  seen.was_refused_unsent = is_untouched(primary);
  return seen;
}

Seen OutageTable::becomes_a_replica() {
  RedisServer server, next;
  Options options = options_for(server.url() + ",127.0.0.1:" + std::to_string(next.port()));
  options.wait_while_down = seconds(10);
  Client redis = client_of(std::move(options));
  run(wait(redis.command("REPLICAOF", "127.0.0.1", next.port())));
  const auto write = run(wait(redis.increment("w")));
  EXPECT_EQ(write.error().prefix(), "READONLY");
  Seen seen{.kinds = {word_of(write.error().kind())}};
  seen.was_refused_unsent = is_untouched(next);
  EXPECT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.increment("w"))) == 1; }));
  return seen;
}

Seen OutageTable::late_before_sending() {
  RedisServer server;
  server.kill();
  Options options = options_for(server.url());
  options.wait_while_down = seconds(30);
  options.timeout = milliseconds(50);
  Seen seen = ask(client_of(std::move(options)));
  server.start();
  seen.was_refused_unsent = is_untouched(server);
  return seen;
}

Seen OutageTable::slow() {
  RedisServer server;
  Options options = options_for(server.url());
  options.timeout = milliseconds(100);
  options.stalled_after = seconds(30);
  Client redis = client_of(std::move(options));
  EXPECT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.ping())) == true; }));
  server.pause();
  Seen seen = ask(redis);
  server.go_on();
  EXPECT_TRUE(turn_until(reactor(), [&] { return run(wait(redis.get("w"))) == "1"; }))
      << "what was sent is done when the server goes on";
  return seen;
}

Seen OutageTable::full() {
  RedisServer server;
  Options options = options_for(server.url());
  options.commands_max = 1;
  Client redis = client_of(std::move(options));
  run(wait(redis.ping()));
  auto first = wait(redis.get("r"));
  EXPECT_FALSE(first.start());
  Seen seen = ask(redis);
  EXPECT_TRUE(turn_until(reactor(), [&] { return first.done(); }));
  Options narrow = options_for(server.url());
  narrow.queued_bytes_max = 1024;
  const auto large = run(wait(client_of(std::move(narrow)).set("w", std::string(2000, 'x'))));
  seen.kinds.insert(word_of(large.error().kind()));
  seen.was_refused_unsent = is_untouched(server);
  return seen;
}

TEST_F(OutageTable, of_the_guide_is_what_is_seen) {
  const auto nothing = [](FakeRedis::Peer&) {};
  std::map<std::string, std::function<Seen()>> scenarios = {
      {"the server refuses the command", [&] { return refused_command(); }},
      {"it is loading its data, or runs a script of somebody for too long",
       [&] { return loading_or_busy(); }},
      {"it has no memory left (`maxmemory`, `noeviction`)", [&] { return out_of_memory(); }},
      {"the server is lost, for less than `wait_while_down`", [&] { return lost_briefly(); }},
      {"the server is killed, or cannot be reached for longer", [&] { return killed(); }},
      {"the server is restarted without its data", [&] { return restarted(); }},
      {"the password is wrong", [&] { return wrong_password(); }},
      {"the certificate is not trusted, or for another name",
       [&] { return untrusted_certificate(); }},
      {"the server is a replica", [&] { return replica(); }},
      {"the primary becomes a replica", [&] { return becomes_a_replica(); }},
      {"the deadline comes before the command was sent", [&] { return late_before_sending(); }},
      {"the server is slow, and the deadline comes first", [&] { return slow(); }},
      {"the connection breaks before the reply",
       [&] { return play([](FakeRedis::Peer& peer) { peer.hang_up(); }); }},
      {"the server answers nothing for `stalled_after` (5 s): it hangs, or the connection is half "
       "open",
       [&] { return play(nothing, milliseconds(100)); }},
      {"the machine of the server is gone",
       [&] { return play([](FakeRedis::Peer& peer) { peer.vanish(); }, seconds(60), seconds(2)); }},
      {"its reply is not RESP, or exceeds the limits",
       [&] { return play([](FakeRedis::Peer& peer) { peer.say("HTTP/1.1 400\r\n\r\n"); }); }},
      {"`commands_max` or `queued_bytes_max` is reached", [&] { return full(); }}};
  const auto rows = rows_of_the_guide();
  EXPECT_GE(rows.size(), 15u);
  for (const auto& [what, row] : rows) {
    SCOPED_TRACE(what);
    const auto scenario = scenarios.extract(what);
    ASSERT_FALSE(scenario.empty()) << "the guide has a row that is not played";
    const Seen seen = scenario.mapped()();
    EXPECT_EQ(seen.kinds, row.kinds);
    if (row.done == "no") {
      EXPECT_TRUE(seen.was_refused_unsent && !seen.was_done);
    } else if (row.done == "yes") {
      EXPECT_TRUE(seen.was_done);
    } else {
      EXPECT_EQ(row.done, "perhaps");
      EXPECT_TRUE(seen.kinds.contains("unknown_outcome"));
    }
  }
  EXPECT_TRUE(scenarios.empty()) << "no row of the guide: " << scenarios.begin()->first;
}

}  // namespace
}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
