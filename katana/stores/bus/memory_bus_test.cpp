#include "katana/stores/bus/memory_bus.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/net/reactor/timeout.hpp"
#include "katana/stores/bus/bus_fixture_test.hpp"
#include "katana/stores/bus/messages.hpp"

namespace katana::bus {
namespace {

using Said = std::vector<std::string>;

TEST_F(BusTest, a_message_reaches_the_subscribers_of_all_reactors) {
  Said first, second;
  on(0);
  auto here = subscribe("prices.*", first);
  on(1);
  auto there = subscribe("prices.tea", second);
  publish("prices.tea", "42");
  EXPECT_EQ(first.size() + second.size(), 0u);  // never within the call
  settle();
  publish("prices.coffee", "7");
  settle();
  EXPECT_EQ(first, (Said{"prices.tea=42", "prices.coffee=7"}));
  EXPECT_EQ(second, (Said{"prices.tea=42"}));
  EXPECT_EQ(bus().statistics().published, 2u);
  EXPECT_EQ(bus().statistics().delivered, 3u);
}

TEST_F(BusTest, each_subscription_that_matches_is_given_it) {
  Said said;
  on(0);
  auto a = subscribe("a.b", said);
  auto b = subscribe("a.*", said);
  auto c = subscribe("a.>", said);
  auto d = subscribe(">", said);
  auto other = subscribe("a.c", said);
  publish("a.b", "1");
  settle();
  EXPECT_EQ(said.size(), 4u);
}

TEST_F(BusTest, what_a_publisher_publishes_comes_in_its_order) {
  Said here, there;
  on(0);
  auto a = subscribe("n", here);
  on(1);
  auto b = subscribe("n", there);
  Said expected;
  on(0);
  for (int number = 0; number < 100; ++number) {
    if (number % 30 == 29) on(0);  // a turn in between
    publish("n", std::to_string(number));
    expected.push_back("n=" + std::to_string(number));
  }
  settle();
  EXPECT_EQ(here, expected);
  EXPECT_EQ(there, expected);
}

TEST_F(BusTest, a_subscription_that_is_destroyed_is_given_nothing_more) {
  Said said;
  on(0);
  std::optional<Subscription> a = subscribe("a", said);
  publish("a", "1");
  a.reset();
  settle();
  EXPECT_TRUE(said.empty());
  EXPECT_EQ(bus().statistics().subscriptions, 0u);
  publish("a", "2");
  EXPECT_EQ(bus().statistics().waiting, 0u);
}

TEST_F(BusTest, handlers_may_subscribe_and_cancel_and_publish) {
  Said said;
  on(0);
  Subscription first, second, third;
  first = *bus().subscribe("a", [&](const Delivery&) {
    said.push_back("first");
    first.cancel();  // itself
    second.cancel();
    third = *bus().subscribe("a", [&](const Delivery&) { said.push_back("third"); });
    publish("a", "again");
  });
  second = *bus().subscribe("a", [&](const Delivery&) { said.push_back("second"); });
  publish("a", "1");
  settle();
  EXPECT_EQ(said, (Said{"first", "third"}));
}

TEST_F(BusTest, a_handler_may_destroy_what_holds_it) {
  struct Owner {
    Subscription subscription;
    std::string text = "alive";
  };
  on(0);
  auto owner = std::make_unique<Owner>();
  std::string seen;
  owner->subscription = *bus().subscribe("a", [&owner, &seen](const Delivery&) {
    owner.reset();
    seen = "gone";
  });
  publish("a", "1");
  publish("a", "2");
  settle();
  EXPECT_EQ(seen, "gone");
}

TEST_F(BusTest, a_subscriber_may_leave_out_what_its_process_publishes) {
  Said said;
  on(0);
  SubscribeOptions options;
  options.own = false;
  auto a =
      bus().subscribe("a", [&](const Delivery&) { said.push_back("own"); }, std::move(options));
  publish("a", "1");
  settle();
  EXPECT_TRUE(said.empty());
}

TEST_F(BusTest, of_a_queue_group_one_is_given_each_message) {
  Said first, second, third, watcher;
  on(0);
  auto a = subscribe("jobs", first, "workers");
  auto b = subscribe("jobs", second, "workers");
  auto w = subscribe("jobs", watcher);
  on(1);
  auto c = subscribe("jobs", third, "workers");
  for (int number = 0; number < 30; ++number) publish("jobs", "x");
  settle();
  EXPECT_EQ(first.size() + second.size() + third.size(), 30u);
  EXPECT_EQ(first.size(), 10u);
  EXPECT_EQ(third.size(), 10u);
  EXPECT_EQ(watcher.size(), 30u);
  a.cancel();
  c.cancel();
  publish("jobs", "x");
  settle();
  EXPECT_EQ(second.size(), 11u);
}

TEST_F(BusTest, headers_and_payload_come_as_they_were_given) {
  on(0);
  std::string seen;
  auto a = bus().subscribe("a", [&](const Delivery& message) {
    seen = std::string(*message.header("content-type")) + "|" +
           std::string(message.header("X-Empty").value_or("none")) + "|" +
           std::string(message.reply_to()) + "|" + std::string(*message.header("nats-msg-id")) +
           "|" + std::string(message.payload()) + (message.header("gone") ? "!" : "");
  });
  const Header headers[] = {{"Content-Type", "text/plain"}, {"X-Empty", ""}};
  EXPECT_TRUE(bus().publish({.subject = "a",
                             .payload = Bytes("p\0q", 3),
                             .reply_to = "b.c",
                             .headers = headers,
                             .id = "7"}));
  settle();
  EXPECT_EQ(seen, std::string("text/plain||b.c|7|p\0q", 21));
}

TEST_F(BusTest, a_header_is_found_by_its_whole_name_without_regard_to_case) {
  on(0);
  Said seen;
  auto a = bus().subscribe("a", [&](const Delivery& message) {
    for (const Bytes name : {"x-amz", "X-AMZ", "x-aMz", "X-Amy", "X-Am", "X-Amzn"}) {
      seen.emplace_back(message.header(name).value_or("none"));
    }
  });
  const Header headers[] = {{"X-Ama", "no"}, {"X-AmZ", "yes"}};
  EXPECT_TRUE(bus().publish({.subject = "a", .headers = headers}));
  settle();
  EXPECT_EQ(seen, (Said{"yes", "yes", "yes", "none", "none", "none"}));
}

class NarrowBusTest : public BusTest {
 protected:
  NarrowBusTest() : BusTest({.queue_bytes_max = 1000}) {}
};

TEST_F(NarrowBusTest, an_empty_queue_takes_one_message_of_any_size) {
  std::vector<std::size_t> sizes;
  on(1);
  auto a = bus().subscribe("a", [&](const Delivery& m) { sizes.push_back(m.payload().size()); });
  on(0);
  publish("a", std::string(5000, 'x'));
  publish("a", "does not fit behind it");
  settle();
  EXPECT_EQ(sizes, std::vector<std::size_t>{5000});
  EXPECT_EQ(bus().statistics().dropped, 1u);
  publish("a", std::string(4000, 'x'));
  settle();
  EXPECT_EQ(sizes.size(), 2u);
}

TEST_F(BusTest, what_cannot_be_published_is_refused_with_a_reason) {
  on(0);
  const Header bad_name[] = {{"a b", "c"}};
  const Header bad_value[] = {{"a", "b\r\nc: d"}};
  const std::string long_value(header_bytes_max, 'x');
  const Header too_long[] = {{"a", long_value}};
  EXPECT_EQ(bus().publish("a.*", "").error().code(), Code::invalid_argument);
  EXPECT_EQ(bus().publish({.subject = "a", .reply_to = "b c"}).error().code(),
            Code::invalid_argument);
  EXPECT_EQ(bus().publish({.subject = "a", .headers = bad_name}).error().code(),
            Code::invalid_argument);
  EXPECT_EQ(bus().publish({.subject = "a", .headers = bad_value}).error().code(),
            Code::invalid_argument);
  EXPECT_EQ(bus().publish({.subject = "a", .id = "x\ny"}).error().code(), Code::invalid_argument);
  EXPECT_EQ(bus().publish({.subject = "a", .headers = too_long}).error().code(),
            Code::out_of_range);
  const std::string large(bus().fan_out().options().payload_bytes_max + 1, 'x');
  const auto refused = bus().publish("a", large);
  EXPECT_EQ(refused.error().code(), Code::out_of_range);
  EXPECT_NE(refused.error().describe().find("1048576"), std::string::npos);
  EXPECT_EQ(bus().statistics().refused, 7u);
  EXPECT_EQ(bus().subscribe("a..b", [](const Delivery&) {}).error().code(), Code::invalid_argument);
  SubscribeOptions group;
  group.queue_group = "a.b";
  EXPECT_EQ(bus()
                .subscribe(
                    "a", [](const Delivery&) {}, std::move(group))
                .error()
                .code(),
            Code::invalid_argument);
}

TEST_F(BusTest, a_payload_in_a_block_is_shared_and_goes_when_the_last_lets_go) {
  on(1);
  std::optional<HeldMessage> kept;
  auto there = bus().subscribe("a", [&](const Delivery& message) { kept = message.hold(); });
  on(0);
  const char* at = nullptr;
  auto here = bus().subscribe("a", [&](const Delivery& message) { at = message.payload().data(); });
  Batch& batch = Block::make(100, 1);
  std::string(100, 'x').copy(batch.block().data(), 100);
  EXPECT_TRUE(
      bus().publish({.subject = "a", .payload = batch.bytes().substr(10, 20), .memory = &batch}));
  const char* const bytes = batch.bytes().data();
  batch.let_go();
  settle();
  EXPECT_EQ(at, bytes + 10);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->payload().data(), bytes + 10);
  EXPECT_EQ(kept->payload(), std::string(20, 'x'));
}

TEST_F(BusTest, an_outbox_refers_to_the_payload) {
  BlockPool blocks(512, 8);
  Outbox outbox(blocks);
  on(0);
  auto a = bus().subscribe("a", [&](const Delivery& message) {
    EXPECT_TRUE(outbox.refer(message.payload(), message.memory()));
  });
  publish("a", "first");
  publish("a", "second");
  settle();
  std::string sent;
  outbox.for_each_pending([&](Bytes bytes, const Retained*) { sent += bytes; });
  EXPECT_EQ(sent, "firstsecond");
  outbox.clear();
}

class SmallBusTest : public BusTest {
 protected:
  SmallBusTest() : BusTest({.queue_messages_max = 4, .requests_max = 2, .subscriptions_max = 8}) {}
};

TEST_F(SmallBusTest, a_reactor_that_is_behind_loses_the_newest_and_its_subscribers_are_told) {
  Said said, other;
  on(1);
  auto a = subscribe("a", said);
  auto b = subscribe("b", other);
  on(0);
  for (int number = 0; number < 10; ++number) publish("a", std::to_string(number));
  EXPECT_EQ(bus().statistics().dropped, 6u);
  EXPECT_EQ(bus().statistics().waiting, 4u);
  settle();
  EXPECT_EQ(said, (Said{"a=0", "a=1", "a=2", "a=3", "!missed:6"}));
  EXPECT_TRUE(other.empty());
  publish("a", "10");
  settle();
  EXPECT_EQ(said.back(), "a=10");
}

// Otherwise a subscriber that waits for the server would wait for ever.
TEST_F(SmallBusTest, a_reactor_that_is_behind_is_told_that_there_is_a_server_all_the_same) {
  Said said;
  on(1);
  auto a = subscribe("a", said);
  on(0);
  for (int number = 0; number < 5; ++number) publish("a", std::to_string(number));
  bus().fan_out().tell(nullptr, {.kind = NoticeKind::disconnected});
  bus().fan_out().tell(nullptr, {.kind = NoticeKind::connected});
  bus().fan_out().tell(nullptr, {.kind = NoticeKind::may_have_missed});
  settle();
  EXPECT_EQ(said, (Said{"a=0", "a=1", "a=2", "a=3", "!may_have_missed", "!connected"}));
  bus().fan_out().tell(nullptr, {.kind = NoticeKind::disconnected});
  settle();
  EXPECT_EQ(said.back(), "!disconnected") << "once each";
  EXPECT_EQ(said.size(), 7u);
}

TEST_F(BusTest, a_notice_for_a_group_is_told_to_its_members_and_no_others) {
  Said member, other_group, plain;
  on(0);
  auto a = subscribe("jobs", member, "workers");
  auto b = subscribe("jobs", other_group, "watchers");
  auto c = subscribe("jobs", plain);
  const auto pattern = bus().fan_out().matching("jobs").front();
  bus().fan_out().tell_group(pattern, "workers", {.kind = NoticeKind::disconnected});
  bus().fan_out().tell_group(pattern, "nobody", {.kind = NoticeKind::connected});
  settle();
  EXPECT_EQ(member, Said{"!disconnected"});
  EXPECT_TRUE(other_group.empty());
  EXPECT_TRUE(plain.empty());
}

TEST_F(SmallBusTest, what_publishes_too_much_to_its_own_reactor_is_told_likewise) {
  Said said;
  on(0);
  auto a = subscribe("a", said);
  for (int number = 0; number < 7; ++number) publish("a", std::to_string(number));
  settle();
  EXPECT_EQ(said, (Said{"a=0", "a=1", "a=2", "a=3", "!missed:3"}));
}

TEST_F(SmallBusTest, gaps_of_several_subjects_are_told_as_uncertain) {
  Said said, other;
  on(1);
  auto a = subscribe("a", said);
  auto b = subscribe("b", other);
  on(0);
  for (int number = 0; number < 4; ++number) publish("a", "x");
  publish("a", "lost");
  publish("b", "lost");
  settle();
  EXPECT_EQ(said.back(), "!may_have_missed");
  EXPECT_EQ(other, (Said{"!may_have_missed"}));
}

TEST_F(SmallBusTest, there_are_no_more_subscriptions_than_there_may_be) {
  on(0);
  std::vector<Subscription> all;
  for (int count = 0; count < 8; ++count) {
    all.push_back(*bus().subscribe("a", [](const Delivery&) {}));
  }
  EXPECT_EQ(bus().subscribe("a", [](const Delivery&) {}).error().code(), Code::resource_exhausted);
  all.pop_back();
  EXPECT_TRUE(bus().subscribe("a", [](const Delivery&) {}));
}

struct Failures final : FailureObserver {
  void on_failure(const Failure& failure) noexcept override { told.push_back(describe(failure)); }
  std::vector<std::string> told;
};

TEST_F(BusTest, a_handler_that_throws_is_reported_and_the_others_go_on) {
  Failures failures;
  on(0).tasks().set_failures(&failures);
  Said said;
  auto a = bus().subscribe("a", [](const Delivery&) { throw std::runtime_error("no"); });
  auto b = subscribe("a", said);
  publish("a", "1");
  settle();
  EXPECT_EQ(said, (Said{"a=1"}));
  ASSERT_EQ(failures.told.size(), 1u);
  EXPECT_NE(failures.told[0].find("bus subscription 'a'"), std::string::npos);
  EXPECT_NE(failures.told[0].find("no"), std::string::npos);
  on(0).tasks().set_failures(nullptr);
}

// ---- requests ----------------------------------------------------------------------------------

struct Asked {
  explicit Asked(Task<Result<HeldMessage>> given) : task(std::move(given)) { task.start(); }
  std::string said() {
    if (!task.done()) return "waiting";
    auto result = task.result();
    return result ? std::string(result->payload()) : std::string(code_name(result.error().code()));
  }
  Task<Result<HeldMessage>> task;
};

TEST_F(BusTest, a_request_is_answered_by_another_reactor) {
  on(1);
  auto answering = bus().subscribe("ask", [&](const Delivery& message) {
    publish(message.reply_to(), "answer to " + std::string(message.payload()));
  });
  on(0);
  Asked first(bus().request("ask", "one")), second(bus().request("ask", "two"));
  settle();
  EXPECT_EQ(second.said(), "answer to two");
  EXPECT_EQ(first.said(), "answer to one");
  EXPECT_EQ(bus().statistics().requests, 2u);
  EXPECT_EQ(bus().statistics().requests_failed, 0u);
}

TEST_F(BusTest, an_answer_to_an_inbox_of_another_number_is_no_answer) {
  std::string reply_to;
  on(1);
  auto silent =
      bus().subscribe("ask", [&](const Delivery& message) { reply_to = message.reply_to(); });
  on(0);
  Asked asked(bus().request("ask", "one"));
  settle();
  for (const char* const more : {"x", "0", "-"}) publish(reply_to + more, "forged");
  settle();
  EXPECT_EQ(asked.said(), "waiting");
  publish(reply_to, "the answer");
  settle();
  EXPECT_EQ(asked.said(), "the answer");
}

TEST_F(BusTest, a_request_that_nobody_is_there_for_fails_at_once) {
  on(0);
  Asked asked(bus().request("ask", "one"));
  EXPECT_EQ(asked.said(), code_name(Code::unavailable));
}

TEST_F(BusTest, a_request_has_so_long_and_a_late_answer_goes_nowhere) {
  std::string reply_to;
  on(1);
  auto silent =
      bus().subscribe("ask", [&](const Delivery& message) { reply_to = message.reply_to(); });
  on(0);
  Asked asked(bus().request("ask", "one", seconds(3)));
  pass(seconds(2));
  EXPECT_EQ(asked.said(), "waiting");
  pass(seconds(2));
  EXPECT_EQ(asked.said(), code_name(Code::deadline_exceeded));
  publish(reply_to, "late");
  settle();
  EXPECT_EQ(bus().statistics().requests_failed, 1u);
}

TEST_F(BusTest, a_request_ends_by_the_deadline_of_its_coroutine) {
  on(1);
  auto silent = bus().subscribe("ask", [](const Delivery&) {});
  on(0);
  auto timed = net::with_timeout(bus().request("ask", "one", seconds(60)), seconds(1));
  timed.start();
  pass(seconds(2));
  ASSERT_TRUE(timed.done());
  EXPECT_EQ(timed.result().error().code(), Code::deadline_exceeded);
}

TEST_F(SmallBusTest, more_requests_than_may_wait_are_refused) {
  on(1);
  auto silent = bus().subscribe("ask", [](const Delivery&) {});
  on(0);
  {
    Asked a(bus().request("ask", "1")), b(bus().request("ask", "2")), c(bus().request("ask", "3"));
    EXPECT_EQ(a.said(), "waiting");
    EXPECT_EQ(c.said(), code_name(Code::resource_exhausted));
  }  // those that are destroyed give their places back
  Asked d(bus().request("ask", "4"));
  EXPECT_EQ(d.said(), "waiting");
}

// ---- ends --------------------------------------------------------------------------------------

TEST_F(BusTest, a_subscription_may_outlive_its_reactor_and_its_bus) {
  Said said;
  on(1);
  auto there = subscribe("a", said);
  on(0);
  auto here = subscribe("a", said);
  publish("a", "1");  // is under way when the reactor ends
  reactors_.pop_back();
  EXPECT_EQ(bus().statistics().subscriptions, 1u);
  there.cancel();
  settle();
  EXPECT_EQ(said, (Said{"a=1"}));
  publish("a", "2");
  bus_.reset();
  settle();
  EXPECT_EQ(said.size(), 1u);  // the bus has gone, and what it had
}

TEST_F(BusTest, threads_publish_while_reactors_end) {
  Said said;
  on(1);
  auto there = subscribe("a", said);
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) (void)bus().publish("a", "x");
  });
  for (int count = 0; count < 50; ++count) reactors_[1]->turn({});
  reactors_.pop_back();
  stop = true;
  other.join();
  EXPECT_EQ(bus().statistics().waiting, 0u);
}

TEST_F(BusTest, health_says_that_there_is_no_server) {
  EXPECT_TRUE(bus().health().ready);
  EXPECT_EQ(bus().health().state, BusState::in_process);
  EXPECT_EQ(bus().delivery_guarantee(), DeliveryGuarantee::in_process);
}

// Several threads publish, reactors of several threads receive: every message once, in order.
TEST(BusThreads, every_message_arrives_once_and_in_the_order_of_its_publisher) {
  constexpr unsigned publishers = 2, per_publisher = 5000;
  MemoryBus bus;
  std::vector<std::thread> threads;
  std::atomic<unsigned> ready = 0, done = 0;
  std::atomic<std::uint64_t> wrong = 0, received = 0;
  for (unsigned reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&] {
      engine::SimNetwork network(1, engine::SimFaults::calm());
      net::ReactorOptions options;
      options.engine.links_max = 16;
      net::ReactorOn<engine::SimEngine> reactor(options, 64, network);
      EXPECT_TRUE(reactor.start());
      reactor.turn({});
      std::vector<unsigned> next(publishers, 0);
      std::uint64_t count = 0;
      auto subscription = bus.subscribe("p.*", [&](const Delivery& message) {
        const auto from = static_cast<unsigned>(message.subject().back() - '0');
        if (std::to_string(next[from]++) != message.payload()) ++wrong;
        ++count;
      });
      ++ready;
      while (count < publishers * per_publisher) reactor.turn({});
      received += count;
      ++done;
    });
  }
  while (ready < 2) std::this_thread::yield();
  for (unsigned publisher = 0; publisher < publishers; ++publisher) {
    threads.emplace_back([&, publisher] {
      const std::string subject = "p." + std::to_string(publisher);
      for (unsigned number = 0; number < per_publisher; ++number) {
        EXPECT_TRUE(bus.publish(subject, std::to_string(number)));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(received, 2u * publishers * per_publisher);
  EXPECT_EQ(bus.statistics().dropped, 0u);
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
