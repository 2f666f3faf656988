// Against nats-server.
#include "katana/stores/bus/nats/nats_bus.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/stores/bus/message_span.hpp"
#include "katana/stores/bus/messages.hpp"
#include "katana/stores/bus/nats/nats_server_test.hpp"

namespace katana::bus {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Said = std::vector<std::string>;

const NatsServer& shared_server() {
  static const NatsServer server;
  return server;
}

class NatsBusTest : public NatsTest {
 protected:
  Node& add_node(std::size_t reactors = 1) {
    return add(options_for({&shared_server()}), reactors);
  }
  // Waits until the server knows the subscriptions of all nodes.
  void settle_all(const NatsServer& server = shared_server()) {
    for (const auto& node : nodes_) settle(*node, server);
  }
  // Waits until each server of a cluster knows the subscriptions of all nodes. They pass a route
  // in their order.
  void wait_for_routes() {
    std::vector<std::set<std::string>> heard(nodes_.size());
    std::vector<Subscription> subscriptions;
    for (std::size_t index = 0; index < nodes_.size(); ++index) {
      nodes_[index]->on();
      subscriptions.push_back(
          *nodes_[index]->bus->subscribe("route.*", [&to = heard[index]](const Delivery& message) {
            to.insert(std::string(message.subject()));
          }));
    }
    EXPECT_TRUE(turn_until([&] {
      for (std::size_t index = 0; index < nodes_.size(); ++index) {
        publish(*nodes_[index], fmt::format("route.{}", index), "");
      }
      return std::ranges::all_of(heard, [&](const auto& of) { return of.size() == heard.size(); });
    }));
  }
  void publish(Node& node, Bytes subject, Bytes payload) {
    node.on();
    const auto published = node.bus->publish(subject, payload);
    EXPECT_TRUE(published) << published.error().describe();
  }
};

TEST_F(NatsBusTest, a_message_goes_from_process_to_process_and_to_its_own_at_once) {
  Node& a = add_node();
  Node& b = add_node(2);
  Said at_a, at_b, at_second;
  auto one = subscribe(a, "x.*", at_a);
  auto two = subscribe(b, "x.>", at_b);
  auto three = subscribe(b, "x.1", at_second, {}, 1);
  settle(b, shared_server());
  const std::uint64_t received = b.bus->statistics().received;
  publish(a, "x.1", "hello");
  EXPECT_TRUE(turn_until([&] { return !at_b.empty() && !at_second.empty(); }));
  EXPECT_EQ(at_b, Said{"x.1=hello"});
  EXPECT_EQ(at_second, Said{"x.1=hello"});
  EXPECT_EQ(b.bus->statistics().received, received + 2);  // once for each pattern
  publish(b, "x.2", "back");                              // an echo of the first comes before it
  EXPECT_TRUE(turn_until([&] { return at_a.size() == 2; }));
  EXPECT_EQ(at_a, (Said{"x.1=hello", "x.2=back"}));
  EXPECT_EQ(a.bus->statistics().received, 1u) << "no echo";
}

TEST_F(NatsBusTest, headers_reply_and_binary_payloads_arrive_as_they_were_given) {
  Node& a = add_node();
  Node& b = add_node();
  std::string seen;
  Origin origin;
  b.on();
  auto subscribed = b.bus->subscribe("x", [&](const Delivery& message) {
    seen = std::string(message.header("Content-Type").value_or("none")) + "|" +
           std::string(message.headers()) + "|" + std::string(message.reply_to()) + "|" +
           std::string(message.payload());
    origin = message.origin();
  });
  settle_all();
  const Header headers[] = {{"Content-Type", "text/plain"}};
  a.on();
  EXPECT_TRUE(a.bus->publish(
      {.subject = "x", .payload = Bytes("p\r\nq\0", 5), .reply_to = "r.1", .headers = headers}));
  EXPECT_TRUE(turn_until([&] { return !seen.empty(); }));
  using namespace std::string_literals;
  EXPECT_EQ(seen, "text/plain|Content-Type: text/plain\r\n|r.1|p\r\nq\0"s);
  EXPECT_EQ(origin.sequence, 1u);
}

// The spans of a tracer that have ended, as "name" → (span, parent).
std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> spans_of(trace::Tracer& tracer) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> all;
  tracer.drain([&](const trace::SpanRecord& each) {
    all[std::string(each.name())] = {each.context.span.value, each.parent.span.value};
  });
  return all;
}

TEST_F(NatsBusTest, a_trace_goes_on_in_another_process_also_of_a_largest_message) {
  trace::Tracer here({.experimental = true}), there({.experimental = true});
  Node& a = add_node();
  Node& b = add_node();
  a.bus->fan_out().trace_with(here);
  b.bus->fan_out().trace_with(there);
  std::vector<std::string> parents;
  b.on();
  auto subscribed = b.bus->subscribe("x", [&](const Delivery& message) {
    parents.push_back(std::string(message.header("traceparent").value_or("none")));
  });
  settle_all();
  const auto publish_traced = [&](std::size_t size) {
    a.on();
    trace::RootSpan request(&here, "GET /", trace::SpanKind::server);
    const std::string payload(size, 'x');
    EXPECT_TRUE(a.bus->publish("x", payload));
  };
  publish_traced(3);
  EXPECT_TRUE(turn_until([&] { return parents.size() == 1; }));
  const auto sent = spans_of(here), got = spans_of(there);
  EXPECT_EQ(sent.at("publish x").second, sent.at("GET /").first);
  EXPECT_EQ(got.at("process x").second, sent.at("publish x").first);
  EXPECT_NE(parents.back(), "none");
  // The server would end the connection for one byte more: the context is left out.
  publish_traced(1024 * 1024 - (10 + 12 + 33 + 2 + 2));
  EXPECT_TRUE(turn_until([&] { return parents.size() == 2; }));
  EXPECT_EQ(parents.back(), "none");
  EXPECT_EQ(spans_of(there).at("process x").second, 0u);
  EXPECT_EQ(a.bus->statistics().reconnects, 0u);
}

TEST_F(NatsBusTest, a_server_without_headers_gets_messages_without_a_context) {
  const NatsServer server("no_header_support: true\n");
  trace::Tracer tracer({.experimental = true});
  Node& a = add(options_for({&server}));
  Node& b = add(options_for({&server}));
  a.bus->fan_out().trace_with(tracer);
  Said at_b;
  auto subscription = subscribe(b, "x", at_b);
  settle_all(server);
  {
    trace::RootSpan request(&tracer, "GET /", trace::SpanKind::server);
    publish(a, "x", "1");
  }
  EXPECT_TRUE(turn_until([&] { return !at_b.empty(); }));
  EXPECT_EQ(at_b, Said{"x=1"});
  EXPECT_EQ(a.bus->statistics().reconnects, 0u);
  EXPECT_TRUE(spans_of(tracer).contains("publish x"));
}

TEST_F(NatsBusTest, large_payloads_are_referred_to_and_arrive_whole) {
  Node& a = add_node();
  Node& b = add_node();
  std::size_t received = 0;
  bool is_right = true;
  b.on();
  auto subscribed = b.bus->subscribe("x", [&](const Delivery& message) {
    received += message.payload().size();
    is_right = is_right && message.payload().find_first_not_of(message.payload()[0]) == Bytes::npos;
  });
  settle_all();
  std::size_t sent = 0;
  // The last message has the largest size: the server counts the headers, too, and ends the
  // connection of a client that sends more.
  const std::size_t largest = 1024 * 1024 - (10 + 12 + 33 + 2 + 2);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{1000}, std::size_t{2047}, std::size_t{2048}, std::size_t{5000},
        std::size_t{70'000}, largest}) {
    const std::string payload(size, static_cast<char>('a' + size % 26));
    publish(a, "x", payload);
    sent += size;
  }
  EXPECT_TRUE(turn_until([&] { return received == sent; })) << received << " of " << sent;
  EXPECT_TRUE(is_right);
  const std::string too_large(largest + 1, 'x');
  EXPECT_EQ(a.bus->publish("x", too_large).error().code(), Code::out_of_range);
  publish(a, "x", "y");
  EXPECT_TRUE(turn_until([&] { return received == sent + 1; })) << "the connection is there";
}

TEST_F(NatsBusTest, what_is_published_on_any_thread_comes_in_order) {
  Node& a = add_node(2);
  Node& b = add_node();
  Said at_b;
  auto subscription = subscribe(b, "n.*", at_b);
  settle_all();
  std::thread other([&] {
    for (int number = 0; number < 500; ++number) {
      EXPECT_TRUE(a.bus->publish("n.thread", std::to_string(number)));
    }
  });
  for (int number = 0; number < 500; ++number) {
    a.on(1);
    EXPECT_TRUE(a.bus->publish("n.second", std::to_string(number)));
    a.on(0);
    EXPECT_TRUE(a.bus->publish("n.home", std::to_string(number)));
  }
  other.join();
  EXPECT_TRUE(turn_until([&] { return at_b.size() == 1500; })) << at_b.size();
  for (const std::string from : {"thread", "second", "home"}) {
    int next = 0;
    for (const std::string& each : at_b) {
      if (!each.starts_with("n." + from + "=")) continue;
      EXPECT_EQ(each, "n." + from + "=" + std::to_string(next++));
    }
    EXPECT_EQ(next, 500) << from;
  }
}

TEST_F(NatsBusTest, requests_are_answered_by_other_processes_and_by_its_own) {
  Node& a = add_node();
  Node& b = add_node();
  const auto answer_on = [&](Node& node, Bytes subject) {
    node.on();
    auto answering = node.bus->subscribe(subject, [&node](const Delivery& message) {
      EXPECT_TRUE(node.bus->publish(message.reply_to(), "to " + std::string(message.payload())));
    });
    return *std::move(answering);
  };
  auto there = answer_on(b, "ask.there");
  auto here = answer_on(a, "ask.here");
  settle_all();
  auto first = done(a, a.bus->request("ask.there", "one"));
  ASSERT_TRUE(first) << first.error().describe();
  EXPECT_EQ(first->payload(), "to one");
  auto second = done(a, a.bus->request("ask.here", "two"));
  ASSERT_TRUE(second) << second.error().describe();
  EXPECT_EQ(second->payload(), "to two");
  const auto nobody = done(a, a.bus->request("ask.nobody", "three"));
  EXPECT_EQ(nobody.error().code(), Code::unavailable);  // at once: the server says so
  const auto late = done(a, a.bus->request("ask.silent", "four", milliseconds(50)));
  EXPECT_FALSE(late);
}

TEST_F(NatsBusTest, a_queue_group_over_processes_has_each_message_once) {
  Node& a = add_node();
  Node& b = add_node();
  Said at_a, at_b, watcher;
  auto one = subscribe(a, "jobs", at_a, "workers");
  auto two = subscribe(b, "jobs", at_b, "workers");
  auto three = subscribe(b, "jobs", watcher);
  // The connection of groups is made with the first.
  EXPECT_TRUE(turn_until([&] {
    publish(a, "jobs", "ready?");
    return !at_a.empty() && !at_b.empty() && !watcher.empty();
  }));
  const auto jobs_of = [](const Said& said) { return std::ranges::count(said, "jobs=x"); };
  for (int number = 0; number < 200; ++number) publish(a, "jobs", "x");
  EXPECT_TRUE(turn_until([&] { return jobs_of(at_a) + jobs_of(at_b) == 200; }))
      << jobs_of(at_a) << " and " << jobs_of(at_b);
  settle_all();
  EXPECT_EQ(jobs_of(at_a) + jobs_of(at_b), 200);
  EXPECT_GT(jobs_of(at_a), 20);  // its own process has its share
  EXPECT_GT(jobs_of(at_b), 20);
  EXPECT_EQ(jobs_of(watcher), 200);
}

TEST_F(NatsBusTest, a_prefix_keeps_applications_apart) {
  NatsOptions shop = options_for({&shared_server()});
  shop.prefix = "shop.eu";
  Node& a = add(std::move(shop));
  NatsOptions same = options_for({&shared_server()});
  same.prefix = "shop.eu";
  Node& b = add(std::move(same));
  Node& outside = add_node();
  Said at_b, at_outside;
  auto one = subscribe(b, ">", at_b);
  auto two = subscribe(outside, "shop.eu.>", at_outside);
  b.on();
  auto answering = b.bus->subscribe("ask", [&](const Delivery& message) {
    EXPECT_TRUE(b.bus->publish(message.reply_to(), "yes"));
  });
  for (Node* each : {&a, &b}) settle(*each, shared_server(), "shop.eu.");
  settle(outside, shared_server());
  at_b.clear();
  publish(a, "x", "1");
  publish(outside, "x", "2");
  auto answer = done(a, a.bus->request("ask", "?"));
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(answer->payload(), "yes");
  turn_for(seconds(1));  // numbers are repeated in this time, and no subscriber sees them
  std::erase(at_b, "settled=");
  EXPECT_EQ(at_b, (Said{"x=1", "ask=?"}));
  EXPECT_THAT(at_outside, Contains("shop.eu.x=1"));
}

TEST_F(NatsBusTest, a_server_that_was_killed_is_told_of_and_found_again) {
  NatsServer server;
  Node& a = add(options_for({&server}));
  Node& b = add(options_for({&server}));
  Said at_b;
  auto subscription = subscribe(b, "x", at_b);
  settle_all(server);
  publish(a, "x", "1");
  EXPECT_TRUE(turn_until([&] { return at_b.size() == 1; }));
  server.kill();
  EXPECT_TRUE(turn_until([&] { return !a.bus->health().ready && !b.bus->health().ready; }));
  EXPECT_EQ(a.bus->health().state, BusState::reconnecting);
  publish(a, "x", "kept");
  EXPECT_EQ(a.bus->statistics().kept, 1u);
  server.start();
  EXPECT_TRUE(turn_until([&] { return at_b.size() >= 5; })) << at_b.size();
  // One of the two connects first. A message that a sends before b subscribes is lost, and b finds
  // this by its number.
  EXPECT_EQ(at_b[0], "x=1");
  EXPECT_EQ(at_b[1], "!disconnected");
  EXPECT_EQ(at_b[2], "!connected");
  EXPECT_EQ(at_b[3], "!may_have_missed");
  EXPECT_TRUE(at_b[4] == "x=kept" || at_b[4] == "!missed:1") << at_b[4];
  EXPECT_EQ(b.bus->statistics().reconnects, 1u);
}

TEST_F(NatsBusTest, publications_are_refused_without_a_server_if_that_is_wanted) {
  NatsOptions options = options_for({});
  options.servers = {{.host = "127.0.0.1", .port = find_free_port()}};
  options.away.policy = WhenAway::refuse;
  Node& a = add(std::move(options), 1, false);
  Said at_a;
  auto subscription = subscribe(a, "x", at_a);
  EXPECT_TRUE(turn_until([&] { return a.bus->health().detail.contains("127.0.0.1"); }));
  const auto published = a.bus->publish("x", "here");
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code(), Code::unavailable);
  EXPECT_THAT(published.error().describe(), HasSubstr("127.0.0.1"));
  EXPECT_TRUE(turn_until([&] { return !at_a.empty(); }));
  EXPECT_EQ(at_a, Said{"x=here"});  // its own process has it
  EXPECT_EQ(a.bus->health().state, BusState::connecting);
  EXPECT_EQ(a.bus->statistics().kept_refused, 1u);
}

TEST_F(NatsBusTest, what_is_kept_for_a_server_is_bounded) {
  NatsOptions options = options_for({});
  options.servers = {{.host = "127.0.0.1", .port = find_free_port()}};
  options.away.messages_max = 3;
  Node& a = add(std::move(options), 1, false);
  for (int count = 0; count < 3; ++count) EXPECT_TRUE(a.bus->publish("x", "y"));
  EXPECT_EQ(a.bus->publish("x", "y").error().code(), Code::resource_exhausted);
  EXPECT_EQ(a.bus->statistics().kept, 3u);
  EXPECT_EQ(a.bus->statistics().kept_refused, 1u);
}

TEST_F(NatsBusTest, a_stopped_server_counts_as_gone_when_it_does_not_answer) {
  NatsServer server;
  NatsOptions options = options_for({&server});
  options.ping_interval = milliseconds(200);
  Node& a = add(std::move(options));
  server.signal(SIGSTOP);
  const Instant begin = monotonic_now();
  EXPECT_TRUE(turn_until([&] { return !a.bus->health().ready; }));
  RecordProperty("noticed_after_ms", std::to_string((monotonic_now() - begin).count_ms()));
  EXPECT_THAT(a.bus->health().detail, HasSubstr("PING"));
  server.signal(SIGCONT);
  EXPECT_TRUE(turn_until([&] { return a.bus->health().ready; }));
}

TEST_F(NatsBusTest, a_server_in_lame_duck_mode_is_left_in_order) {
  auto cluster = make_cluster();
  NatsOptions options = options_for({cluster[0].get()});
  Node& a = add(std::move(options));
  const std::string first = a.bus->health().detail;
  EXPECT_TRUE(turn_until([&] { return a.bus->health().ready; }));
  cluster[0]->signal(SIGUSR2);  // lame duck mode
  // The others are known by the cluster's announcement alone.
  EXPECT_TRUE(turn_until([&] { return a.bus->health().ready && a.bus->health().detail != first; }))
      << a.bus->health().detail;
}

// One of three servers is killed while all nodes publish. Service goes on, and the delivered, the
// kept and the missed messages add up.
TEST_F(NatsBusTest, one_server_of_a_cluster_may_be_killed_under_load) {
  auto cluster = make_cluster();
  // Each node begins with a different server, which announces the others of the cluster.
  for (const auto& each : cluster) add(options_for({each.get()}));
  struct Received {
    std::uint64_t count = 0;
    std::uint64_t missed = 0;
    std::uint64_t uncertain = 0;
    Instant last{};
  };
  std::vector<Received> received(3);
  std::vector<Subscription> subscriptions;
  for (std::size_t index = 0; index < 3; ++index) {
    Node& node = *nodes_[index];
    node.on();
    SubscribeOptions options;
    options.own = false;
    options.on_notice = [&r = received[index]](const Notice& notice) {
      if (notice.kind == NoticeKind::missed) r.missed += notice.count;
      if (notice.kind == NoticeKind::may_have_missed) ++r.uncertain;
    };
    subscriptions.push_back(*node.bus->subscribe(
        "load.*",
        [&r = received[index]](const Delivery&) {
          ++r.count;
          r.last = monotonic_now();
        },
        std::move(options)));
  }
  wait_for_routes();
  std::uint64_t published = 0;
  Instant killed = never;
  Duration away{};
  // Goes on for so long that most messages are those with service.
  std::uint64_t published_until_back = 0;
  const Instant last = monotonic_now() + seconds(100);
  while (monotonic_now() < last &&
         (published_until_back == 0 || published < 3 * published_until_back)) {
    for (std::size_t index = 0; index < 3; ++index) {
      nodes_[index]->on();
      EXPECT_TRUE(nodes_[index]->bus->publish(fmt::format("load.{}", index), "x"));
    }
    ++published;
    turn_for(milliseconds(1));
    if (killed == never && published == 300) {
      cluster[0]->kill();
      killed = monotonic_now();
    }
    if (killed != never && away == Duration{} && nodes_[0]->bus->health().ready &&
        nodes_[0]->bus->statistics().reconnects > 0) {
      away = monotonic_now() - killed;
      published_until_back = published;
    }
  }
  // Wait until all repeated numbers have come.
  EXPECT_TRUE(turn_until([&] {
    return std::ranges::all_of(
        received, [&](const Received& r) { return r.count + r.missed >= 2 * published; });
  }));
  for (std::size_t index = 0; index < 3; ++index) {
    EXPECT_EQ(received[index].count + received[index].missed, 2 * published) << index;
  }
  EXPECT_EQ(received[0].uncertain, 1u);
  EXPECT_GT(received[0].count, published);
  EXPECT_NE(away, Duration{});
  RecordProperty("service_went_on_after_ms", std::to_string(away.count_ms()));
  fmt::print("a client of the killed server was served again after {} ms; missed: {}, {}, {}\n",
             away.count_ms(), received[0].missed, received[1].missed, received[2].missed);
}

// ---- JetStream ---------------------------------------------------------------------------------

class JetStreamTest : public NatsBusTest {
 protected:
  void ensure(Node& node, StreamOptions options) {
    const auto ensured = done(node, node.bus->streams()->ensure(options));
    EXPECT_TRUE(ensured) << ensured.error().describe();
  }
  Stored store(Node& node, std::string subject, std::string payload, std::string id = {}) {
    const StoreOptions once{.id = std::move(id)};
    const auto stored =
        done(node, node.bus->streams()->store(std::move(subject), std::move(payload), once));
    EXPECT_TRUE(stored) << stored.error().describe();
    return stored.value_or(Stored{});
  }
  std::string next(Node& node, Consumer& consumer, bool acknowledge = true) {
    auto message = done(node, consumer.next());
    if (!message) return "end";
    if (!*message) return (*message).error().describe();
    if (acknowledge) consumer.acknowledge(**message);
    return fmt::format("{}={}", (*message)->sequence, (*message)->message.payload());
  }
  static Said texts_of(const Result<std::vector<StoredMessage>>& messages) {
    Said said;
    EXPECT_TRUE(messages) << messages.error().describe();
    if (messages) {
      for (const StoredMessage& each : *messages) said.emplace_back(each.message.payload());
    }
    return said;
  }
};

TEST_F(JetStreamTest, what_is_stored_is_acknowledged_deduplicated_and_read_from_any_position) {
  Node& a = add_node();
  ensure(a, {.name = "orders", .subjects = {"orders.>"}, .messages_max = 1000});
  ensure(a, {.name = "orders", .subjects = {"orders.>"}, .messages_max = 2000});
  for (int number = 1; number <= 4; ++number) {
    const Stored stored =
        store(a, "orders.new", std::to_string(number), fmt::format("id-{}", number));
    EXPECT_EQ(stored.sequence, static_cast<std::uint64_t>(number));
    EXPECT_FALSE(stored.is_duplicate);
  }
  EXPECT_TRUE(store(a, "orders.new", "2", "id-2").is_duplicate);
  publish(a, "orders.paid", "5");
  Node& b = add_node();
  turn_for(milliseconds(50));
  const ConsumeOptions billing{.stream = "orders", .durable = "billing"};
  auto made = done(b, b.bus->streams()->consume(billing));
  ASSERT_TRUE(made) << made.error().describe();
  EXPECT_EQ(next(b, **made), "1=1");
  EXPECT_EQ(next(b, **made), "2=2");
  const ConsumeOptions from_4{
      .stream = "orders", .filter = "orders.new", .start = StartAt::sequence, .start_sequence = 4};
  auto from = done(b, b.bus->streams()->consume(from_4));
  ASSERT_TRUE(from) << from.error().describe();
  EXPECT_EQ(next(b, **from), "4=4");
  // The durable position goes on in another process.
  (*made)->close();
  made->reset();
  const ConsumeOptions billing_again{.stream = "orders", .durable = "billing"};
  auto again = done(a, a.bus->streams()->consume(billing_again));
  ASSERT_TRUE(again) << again.error().describe();
  auto third = done(a, (*again)->next());
  EXPECT_EQ((*third)->message.subject(), (*third)->sequence == 5 ? "orders.paid" : "orders.new");
}

TEST_F(JetStreamTest, what_is_not_acknowledged_comes_again) {
  Node& a = add_node();
  ensure(a, {.name = "again", .subjects = {"again"}});
  store(a, "again", "x");
  const ConsumeOptions impatient{.stream = "again", .ack_wait = milliseconds(300)};
  auto made = done(a, a.bus->streams()->consume(impatient));
  ASSERT_TRUE(made) << made.error().describe();
  EXPECT_EQ(next(a, **made, false), "1=x");
  auto second = done(a, (*made)->next());
  EXPECT_EQ((*second)->deliveries, 2u);
  (*made)->reject(**second);
  auto third = done(a, (*made)->next());
  EXPECT_EQ((*third)->deliveries, 3u);
}

TEST_F(JetStreamTest, the_history_of_a_subject_is_its_last_messages) {
  NatsOptions options = options_for({&shared_server()});
  options.prefix = "app";
  Node& a = add(std::move(options));
  ensure(a, {.name = "rooms", .subjects = {"rooms.>"}, .in_memory = true});
  for (int number = 0; number < 60; ++number) {
    publish(a, fmt::format("rooms.r{}", number % 3), std::to_string(number));
  }
  turn_for(milliseconds(100));
  EXPECT_EQ(texts_of(done(a, a.bus->streams()->last("rooms", "rooms.r1", 3))),
            (Said{"52", "55", "58"}));
  EXPECT_EQ(texts_of(done(a, a.bus->streams()->last("rooms", "rooms.none", 3))), Said{});
  EXPECT_EQ(texts_of(done(a, a.bus->streams()->last("rooms", "rooms.r2", 100))).size(), 20u);
  EXPECT_EQ(texts_of(done(a, a.bus->streams()->after("rooms", "rooms.r1", 50, 2))),
            (Said{"52", "55"}));
}

TEST_F(JetStreamTest, what_the_server_refuses_is_an_error_with_its_words) {
  Node& a = add_node();
  ensure(a, {.name = "one", .subjects = {"one.>"}});
  const StreamOptions other_subjects{.name = "one", .subjects = {"two.>"}};
  const auto other = done(a, a.bus->streams()->ensure(other_subjects));
  EXPECT_EQ(other.error().code(), Code::already_exists);
  const StreamOptions overlapping{.name = "two", .subjects = {"one.x"}};
  const auto overlap = done(a, a.bus->streams()->ensure(overlapping));
  EXPECT_THAT(overlap.error().describe(), HasSubstr("overlap"));
  EXPECT_EQ(done(a, a.bus->streams()->store("nowhere.x", "y")).error().code(), Code::not_found);
  const ConsumeOptions none{.stream = "none"};
  EXPECT_EQ(done(a, a.bus->streams()->consume(none)).error().code(), Code::not_found);
  EXPECT_EQ(done(a, a.bus->streams()->last("none", "x", 3)).error().code(), Code::not_found);
}

// A server that leads neither the cluster nor the stream: an election takes servers 4 to 9 s.
NatsServer& follower_of(const std::vector<std::unique_ptr<NatsServer>>& cluster, Bytes stream) {
  const std::string of_stream = fmt::format("new stream leader for '$G > {}'", stream);
  for (std::size_t index = 0; index < cluster.size(); ++index) {
    const std::string log = cluster[index]->log();
    const std::string led = fmt::format("new metadata leader: n{}/", index);
    const bool leads_all = std::ranges::any_of(cluster, [&](const auto& each) {
      const std::string text = each->log();
      const std::size_t last = text.rfind("new metadata leader: ");
      return last != std::string::npos && Bytes(text).substr(last).starts_with(led);
    });
    if (!leads_all && log.find("self") == std::string::npos &&
        log.find(of_stream) == std::string::npos) {
      return *cluster[index];
    }
  }
  return *cluster.back();
}

// The stream of three replicas goes on, and no acknowledged message is lost.
TEST_F(JetStreamTest, what_was_acknowledged_survives_the_end_of_a_server) {
  if (std::getenv("KATANA_JETSTREAM_CLUSTER") == nullptr) {
    GTEST_SKIP() << "the row jetstream of tools/matrix runs it: an election takes seconds";
  }
  auto cluster = make_cluster();
  Node& a = add(options_for({cluster[0].get(), cluster[1].get(), cluster[2].get()}));
  // The cluster elects a leader for the stream.
  const StreamOptions thrice{.name = "kept", .subjects = {"kept"}, .replicas = 3};
  std::optional<Error> problem;
  EXPECT_TRUE(turn_until(
      [&] {
        auto ensured = done(a, a.bus->streams()->ensure(thrice));
        problem.reset();
        if (!ensured) problem = ensured.error();
        if (problem) turn_for(milliseconds(200));
        return !problem;
      },
      seconds(30)))
      << problem->describe();
  std::uint64_t acknowledged = 0;
  for (int number = 0; number < 60; ++number) {
    if (number == 20) follower_of(cluster, "kept").kill();
    const StoreOptions once{.id = fmt::format("m{}", number), .timeout = seconds(1)};
    // Again until it is acknowledged: of one id one is stored.
    for (const Instant end = monotonic_now() + seconds(20); monotonic_now() < end;) {
      auto stored = done(a, a.bus->streams()->store("kept", std::to_string(number), once));
      if (stored) {
        ++acknowledged;
        break;
      }
      turn_for(milliseconds(100));
    }
  }
  EXPECT_EQ(acknowledged, 60u);
  Result<std::unique_ptr<Consumer>> made = nullptr;
  EXPECT_TRUE(turn_until([&] {
    const ConsumeOptions from_start{.stream = "kept"};
    made = done(a, a.bus->streams()->consume(from_start));
    return made.has_value();
  })) << made.error().describe();
  Said payloads;
  while (payloads.size() < 60) {
    auto message = done(a, (*made)->next());
    if (!message) break;
    if (!*message) continue;
    (*made)->acknowledge(**message);
    payloads.emplace_back((*message)->message.payload());
  }
  for (int number = 0; number < 60; ++number) {
    EXPECT_EQ(std::ranges::count(payloads, std::to_string(number)), 1) << number;
  }
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
