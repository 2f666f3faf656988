// Streams, subscriptions and queue groups whose nats-server is killed, restarted, or comes back
// without its state. In virtual time: jet_reader_test.cpp.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/stores/bus/nats/nats_server_test.hpp"

namespace katana::bus {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Said = std::vector<std::string>;

struct ToldLines final : NatsObserver {
  void on_connected(const std::string&, bool, Duration) noexcept override {}
  void on_disconnected(const std::string&, const Error& why) noexcept override {
    lines.push_back("disconnected: " + why.describe());
  }
  void on_unreachable(const std::string&, const Error& why) noexcept override {
    lines.push_back("unreachable: " + why.describe());
  }
  void on_server_error(const std::string&, const std::string&) noexcept override {}
  void on_missed(Bytes, Bytes, std::uint64_t) noexcept override {}
  void on_stream_stalled(const std::string& what, const Error& why) noexcept override {
    lines.push_back("stalled: " + what + ": " + why.describe());
  }
  void on_stream_going(const std::string& what, Duration) noexcept override {
    lines.push_back("going: " + what);
  }
  void on_stream_gap(const std::string& what, const Error& gap) noexcept override {
    lines.push_back("gap: " + what + ": " + gap.describe());
  }
  void on_not_stored(std::uint64_t count) noexcept override {
    lines.push_back(fmt::format("not stored: {}", count));
  }
  bool has(Bytes text) const {
    return std::ranges::any_of(lines,
                               [&](const auto& each) { return each.find(text) != each.npos; });
  }
  std::vector<std::string> lines;
};

class NatsRecoveryTest : public NatsTest {
 protected:
  Node& add_told(const std::vector<const NatsServer*>& servers, std::size_t reactors = 1) {
    NatsOptions options = options_for(servers);
    options.observer = &told;
    return add(std::move(options), reactors);
  }
  void ensure(Node& node, const StreamOptions& options, Duration limit = seconds(20)) {
    std::optional<Error> problem;
    EXPECT_TRUE(turn_until(
        [&] {
          auto ensured = done(node, node.bus->streams()->ensure(options));
          problem.reset();
          if (!ensured) problem = ensured.error();
          return !problem;
        },
        limit))
        << problem->describe();
  }
  std::unique_ptr<Consumer> consume(Node& node, const ConsumeOptions& options) {
    auto made = done(node, node.bus->streams()->consume(options));
    EXPECT_TRUE(made) << made.error().describe();
    return *std::move(made);
  }
  // Reads on its own task, as a program does, and notes the messages.
  static Task<void> read_all(Consumer& consumer, Said& said) {
    while (auto next = co_await consumer.next()) {
      if (!*next) {
        said.push_back("!" + (*next).error().describe());
        continue;
      }
      said.emplace_back((*next)->message.payload());
      consumer.acknowledge(**next);
    }
  }
  static Said messages_of(const Said& said) {
    Said messages;
    std::ranges::copy_if(said, std::back_inserter(messages),
                         [](const std::string& each) { return !each.starts_with('!'); });
    return messages;
  }
  void store(Node& node, const std::string& subject, const std::string& payload) {
    const auto stored = done(node, node.bus->streams()->store(subject, payload));
    EXPECT_TRUE(stored) << stored.error().describe();
  }
  void submit(Node& node, Bytes subject, const std::string& payload) {
    node.on();
    const auto submitted = node.bus->streams()->submit({.subject = subject, .payload = payload});
    EXPECT_TRUE(submitted) << submitted.error().describe();
  }
  [[nodiscard]] bool until(const std::function<bool()>& holds) { return turn_until(holds); }
  [[nodiscard]] bool until_up(Node& node) {
    return turn_until([&] { return node.bus->health().state == BusState::connected; });
  }

  ~NatsRecoveryTest() override { nodes_.clear(); }  // they refer to `told`

  ToldLines told;
};

TEST_F(NatsRecoveryTest, a_consumer_outlives_the_kill_and_the_restart_of_its_server) {
  NatsServer server;
  Node& a = add_told({&server});
  ensure(a, {.name = "events", .subjects = {"events"}});
  Said plain, durable;
  auto one = consume(a, {.stream = "events"});
  auto two = consume(a, {.stream = "events", .durable = "d"});
  auto reading_one = read_all(*one, plain);
  auto reading_two = read_all(*two, durable);
  reading_one.start();
  reading_two.start();
  store(a, "events", "1");
  ASSERT_TRUE(until([&] { return plain.size() == 1 && durable.size() == 1; }));
  turn_for(milliseconds(20));  // the acknowledgements are on their way
  for (int round = 2; round <= 4; ++round) {
    server.kill();
    ASSERT_TRUE(until([&] { return !a.bus->health().ready; }));
    server.start();
    ASSERT_TRUE(until_up(a));
    store(a, "events", std::to_string(round));
    // Acknowledgements that the server had not written when it was killed are lost.
    const auto has_all = [&](const Said& said) {
      const Said messages = messages_of(said);
      return std::set<std::string>(messages.begin(), messages.end()).size() ==
             static_cast<std::size_t>(round);
    };
    ASSERT_TRUE(until([&] { return has_all(plain) && has_all(durable); }))
        << testing::PrintToString(plain) << testing::PrintToString(durable);
  }
  EXPECT_THAT(messages_of(plain), ElementsAre("1", "2", "3", "4"));
  ASSERT_TRUE(until([&] { return a.bus->health().ready; })) << a.bus->health().detail;
  EXPECT_GE(a.bus->statistics().stream_recoveries, 3u);
  EXPECT_TRUE(told.has("going: stream 'events'"));
  EXPECT_FALSE(told.has("gap"));
}

TEST_F(NatsRecoveryTest, a_stream_whose_store_was_deleted_is_made_again_and_the_gap_is_told) {
  NatsServer server;
  Node& a = add_told({&server});
  ensure(a, {.name = "events", .subjects = {"events"}});
  Said plain, durable;
  auto one = consume(a, {.stream = "events"});
  auto two = consume(a, {.stream = "events", .durable = "d"});
  auto reading_one = read_all(*one, plain);
  auto reading_two = read_all(*two, durable);
  reading_one.start();
  reading_two.start();
  for (const char* const each : {"1", "2", "3"}) store(a, "events", each);
  ASSERT_TRUE(until([&] { return plain.size() == 3 && durable.size() == 3; }));
  server.kill();
  std::filesystem::remove_all(server.folder() + "/store");
  server.start();
  ASSERT_TRUE(until_up(a));
  submit(a, "events", "4");  // whether the stream is there again, or not yet
  ASSERT_TRUE(until([&] {
    return messages_of(plain).size() == 4 && messages_of(durable).size() == 4;
  })) << testing::PrintToString(plain)
      << testing::PrintToString(durable);
  EXPECT_THAT(messages_of(plain), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(plain, testing::Contains(AllOf(HasSubstr("!"), HasSubstr("made again"))));
  EXPECT_TRUE(told.has("gap: stream 'events': stream 'events' was made again"));
  EXPECT_TRUE(until([&] { return a.bus->health().ready; })) << a.bus->health().detail;
}

TEST_F(NatsRecoveryTest,
       a_consumer_that_an_administrator_deletes_is_made_again_on_the_same_connection) {
  NatsServer server;
  Node& a = add_told({&server});
  Node& admin = add(options_for({&server}));
  ensure(a, {.name = "events", .subjects = {"events"}});
  Said said;
  auto consumer = consume(a, {.stream = "events", .durable = "d"});
  auto reading = read_all(*consumer, said);
  reading.start();
  store(a, "events", "1");
  ASSERT_TRUE(until([&] { return said.size() == 1; }));
  turn_for(milliseconds(20));
  ASSERT_TRUE(done(admin, admin.bus->request("$JS.API.CONSUMER.DELETE.events.d", "")));
  store(a, "events", "2");
  ASSERT_TRUE(until([&] { return said.size() == 2; })) << testing::PrintToString(said);
  ASSERT_TRUE(done(admin, admin.bus->request("$JS.API.STREAM.DELETE.events", "")));
  submit(a, "events", "3");
  ASSERT_TRUE(until([&] { return messages_of(said).size() == 3; }))
      << testing::PrintToString(said) << testing::PrintToString(told.lines)
      << a.bus->health().detail << " submitted " << a.bus->statistics().submitted;
  EXPECT_THAT(messages_of(said), ElementsAre("1", "2", "3"));
}

TEST_F(NatsRecoveryTest, what_is_submitted_is_stored_once_and_in_order_whatever_happens_meanwhile) {
  NatsServer server;
  Node& a = add_told({&server}, 2);
  // No stream takes it yet.
  for (int number = 0; number < 20; ++number) submit(a, "events", std::to_string(number));
  turn_for(milliseconds(200));
  EXPECT_EQ(a.bus->statistics().submitted, 20u);
  ensure(a, {.name = "events", .subjects = {"events"}});
  ASSERT_TRUE(until([&] { return a.bus->statistics().submitted == 0; }));
  // Some are on their way when it is killed.
  for (int number = 20; number < 120; ++number) {
    a.on(static_cast<std::size_t>(number % 2));
    EXPECT_TRUE(a.bus->streams()->submit({.subject = "events", .payload = std::to_string(number)}));
    if (number == 60) {
      for (const auto& each : a.reactors) each->turn({});
      server.kill();
    }
  }
  ASSERT_TRUE(until([&] { return !a.bus->health().ready; }));
  EXPECT_GE(a.bus->statistics().submitted, 59u);
  server.start();
  ASSERT_TRUE(until([&] { return a.bus->statistics().submitted == 0; })) << a.bus->health().detail;
  Said said;
  auto consumer = consume(a, {.stream = "events"});
  auto reading = read_all(*consumer, said);
  reading.start();
  ASSERT_TRUE(until([&] { return messages_of(said).size() >= 120; }));
  turn_for(milliseconds(50));
  Said all;
  for (int number = 0; number < 120; ++number) all.push_back(std::to_string(number));
  EXPECT_EQ(messages_of(said), all);
  EXPECT_EQ(a.bus->statistics().not_stored, 0u);
}

TEST_F(NatsRecoveryTest, submissions_that_no_stream_takes_are_told_and_the_bus_is_not_ready) {
  NatsServer server;
  Node& a = add_told({&server});
  submit(a, "nowhere", "x");
  ASSERT_TRUE(until([&] { return !a.bus->health().ready; }));
  EXPECT_THAT(a.bus->health().detail,
              HasSubstr("what is stored to 'nowhere' cannot go on: no stream has such a subject"));
  EXPECT_EQ(a.bus->health().state, BusState::connected);
  EXPECT_EQ(std::ranges::count_if(told.lines,
                                  [](const auto& each) { return each.starts_with("stalled"); }),
            1);
  ensure(a, {.name = "nowhere", .subjects = {"nowhere"}});
  ASSERT_TRUE(until([&] { return a.bus->health().ready; })) << a.bus->health().detail;
  EXPECT_TRUE(told.has("going: what is stored to 'nowhere'"));
}

TEST_F(NatsRecoveryTest,
       what_is_submitted_and_not_stored_when_the_reactor_ends_is_counted_and_told) {
  NatsServer server;
  Node& a = add_told({&server});
  server.kill();
  ASSERT_TRUE(until([&] { return !a.bus->health().ready; }));
  for (int number = 0; number < 3; ++number) submit(a, "events", "x");
  a.reactors.clear();
  EXPECT_EQ(a.bus->statistics().not_stored, 3u);
  EXPECT_TRUE(told.has("not stored: 3"));
  const auto late = a.bus->streams()->submit({.subject = "events", .payload = "y"});
  ASSERT_FALSE(late) << "it could not be stored any more";
  EXPECT_EQ(late.error().code(), Code::unavailable);
}

TEST_F(NatsRecoveryTest, what_is_submitted_is_bounded_and_refused_beyond) {
  NatsServer server;
  NatsOptions options = options_for({&server});
  options.away.messages_max = 3;
  Node& a = add(std::move(options));
  for (int number = 0; number < 3; ++number) submit(a, "nowhere", "x");
  const auto refused = a.bus->streams()->submit({.subject = "nowhere", .payload = "x"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::resource_exhausted);
}

TEST_F(NatsRecoveryTest, subscribers_of_the_same_process_have_what_is_submitted_once) {
  NatsServer server;
  Node& a = add_told({&server});
  Said said;
  auto subscribed = subscribe(a, "nowhere", said);
  submit(a, "nowhere", "x");
  turn_for(milliseconds(500));  // it was sent several times
  EXPECT_THAT(said, ElementsAre("nowhere=x"));
}

TEST_F(NatsRecoveryTest, a_queue_group_whose_connection_is_refused_makes_the_bus_not_ready) {
  NatsServer server("max_connections: 1");
  Node& a = add_told({&server});
  Said said;
  auto one = subscribe(a, "jobs", said, "workers");
  ASSERT_TRUE(until([&] { return !a.bus->health().ready; }));
  EXPECT_THAT(a.bus->health().detail, HasSubstr("queue groups"));
  EXPECT_TRUE(told.has("queue groups"));
}

TEST_F(NatsRecoveryTest, a_queue_group_goes_on_after_the_kill_of_its_server) {
  NatsServer server;
  Node& a = add_told({&server});
  Node& b = add(options_for({&server}));
  Said said;
  auto one = subscribe(a, "jobs", said, "workers");
  turn_for(milliseconds(150));
  server.kill();
  ASSERT_TRUE(until([&] { return !a.bus->health().ready && !b.bus->health().ready; }));
  server.start();
  ASSERT_TRUE(until([&] { return a.bus->health().ready && b.bus->health().ready; }))
      << a.bus->health().detail;
  ASSERT_TRUE(until([&] {
    b.on();
    EXPECT_TRUE(b.bus->publish("jobs", "x"));
    turn_for(milliseconds(5));
    return std::ranges::count(said, "jobs=x") > 0;
  }));
}

// The servers that have a consumer, and the stream's leader, end one after the other.
TEST_F(NatsRecoveryTest, a_consumer_outlives_each_server_of_a_cluster) {
  if (std::getenv("KATANA_JETSTREAM_CLUSTER") == nullptr) {
    GTEST_SKIP() << "the row jetstream of tools/matrix runs it: an election takes seconds";
  }
  auto cluster = make_cluster();
  Node& a = add_told({cluster[0].get(), cluster[1].get(), cluster[2].get()});
  ensure(a, {.name = "events", .subjects = {"events"}, .replicas = 3}, seconds(30));
  Said said;
  auto consumer = consume(a, {.stream = "events"});
  auto reading = read_all(*consumer, said);
  reading.start();
  Said all;
  const auto submit_next = [&] {
    all.push_back(std::to_string(all.size()));
    submit(a, "events", all.back());
  };
  submit_next();
  ASSERT_TRUE(until([&] { return messages_of(said).size() == 1; }));
  for (const auto& each : cluster) {
    each->kill();
    const Instant killed = monotonic_now();
    for (int number = 0; number < 5; ++number) submit_next();
    ASSERT_TRUE(turn_until([&] { return messages_of(said).size() >= all.size(); }, seconds(60)))
        << testing::PrintToString(said) << a.bus->health().detail;
    fmt::print("went on {} ms after the kill\n", (monotonic_now() - killed).count_ms());
    each->start();
    turn_for(seconds(8));  // it catches up: two of three are needed
  }
  EXPECT_EQ(messages_of(said), all);
  EXPECT_FALSE(told.has("gap"));
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
