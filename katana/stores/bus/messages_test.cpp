#include "katana/stores/bus/messages.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "katana/stores/bus/bus_fixture_test.hpp"

namespace katana::bus {
namespace {

using Said = std::vector<std::string>;

class MessagesTest : public BusTest {
 protected:
  std::unique_ptr<Messages> open(MessagesOptions options) {
    on(0);
    auto opened = Messages::open(bus(), "a", std::move(options));
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }
  void publish_some(int from, int to) {
    for (int number = from; number < to; ++number) publish("a", std::to_string(number));
    settle();
  }
  static std::string text_of(const Received& each) {
    return each.message ? std::string(each.message->payload()) : note_of(*each.notice);
  }
  static Said all_of(Messages& messages) {
    Said said;
    while (auto next = messages.try_next()) said.push_back(text_of(*next));
    return said;
  }
  static Task<void> read(Messages& messages, Said& to) {
    while (true) {
      auto next = co_await messages.next();
      if (!next) break;
      to.push_back(text_of(*next));
    }
    to.push_back("end");
  }
};

TEST_F(MessagesTest, a_coroutine_reads_what_comes_and_ends_when_it_is_closed) {
  auto messages = open({});
  Said said;
  auto task = read(*messages, said);
  task.start();
  publish_some(0, 3);
  EXPECT_EQ(said, (Said{"0", "1", "2"}));
  publish_some(3, 4);
  messages->close();
  settle();
  EXPECT_EQ(said, (Said{"0", "1", "2", "3", "end"}));
  EXPECT_TRUE(task.done());
  EXPECT_EQ(bus().statistics().subscriptions, 0u);
}

TEST_F(MessagesTest, a_notice_wakes_a_reader_that_waits) {
  auto messages = open({});
  Said said;
  auto task = read(*messages, said);
  task.start();
  settle();
  bus().fan_out().tell(nullptr, {.kind = NoticeKind::disconnected});
  settle();
  EXPECT_EQ(said, Said{"!disconnected"});
  messages->close();
  settle();
}

TEST_F(MessagesTest, what_the_own_process_publishes_may_be_left_out) {
  auto others = open({.own = false}), all = open({});
  publish_some(0, 2);
  EXPECT_EQ(all_of(*others), Said{});
  EXPECT_EQ(all_of(*all), (Said{"0", "1"}));
}

TEST_F(MessagesTest, a_pattern_that_is_wrong_opens_nothing) {
  on(0);
  const auto opened = Messages::open(bus(), "a..b", {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::invalid_argument);
  EXPECT_EQ(bus().statistics().subscriptions, 0u);
}

TEST_F(MessagesTest, a_full_queue_drops_the_oldest_and_says_so_in_their_place) {
  auto messages = open({.messages_max = 3});
  publish_some(0, 8);
  EXPECT_EQ(messages->waiting(), 4u);
  EXPECT_EQ(all_of(*messages), (Said{"!missed:5", "5", "6", "7"}));
  EXPECT_EQ(messages->dropped(), 5u);
  EXPECT_EQ(bus().statistics().stream_dropped, 5u);
  EXPECT_EQ(messages->waiting_bytes(), 0u);
}

TEST_F(MessagesTest, a_full_queue_drops_the_newest_and_says_so_in_their_place) {
  auto messages = open({.messages_max = 3, .policy = SlowSubscriber::drop_newest});
  publish_some(0, 5);
  EXPECT_EQ(text_of(*messages->try_next()), "0");
  publish_some(5, 7);
  EXPECT_EQ(all_of(*messages), (Said{"1", "2", "!missed:2", "5", "!missed:1"}));
}

TEST_F(MessagesTest, a_full_queue_ends_the_subscription_if_that_is_wanted) {
  auto messages = open({.messages_max = 3, .policy = SlowSubscriber::disconnect});
  publish_some(0, 9);
  EXPECT_EQ(bus().statistics().subscriptions, 0u);
  Said said;
  auto task = read(*messages, said);
  task.start();
  EXPECT_EQ(said, (Said{"0", "1", "2", "!missed:1", "!closed", "end"}));
}

TEST_F(MessagesTest, octets_are_bounded_and_charged_to_the_reactor) {
  const std::string large(10'000, 'x');
  auto messages = open({.bytes_max = 64 * 1024});
  for (int count = 0; count < 20; ++count) publish("a", large);
  settle();
  EXPECT_LE(messages->waiting_bytes(), 64u * 1024);
  EXPECT_GE(reactor(0).memory().used(), messages->waiting_bytes());
  EXPECT_EQ(all_of(*messages).size(), 1u + 4u);  // 16 KiB each
  EXPECT_EQ(reactor(0).memory().used(), 0u);
}

TEST_F(MessagesTest, notices_do_not_fill_the_queue_without_bound) {
  auto messages = open({});
  for (int count = 0; count < 100; ++count) {
    bus().fan_out().tell(nullptr, {.kind = NoticeKind::disconnected});
    bus().fan_out().tell(nullptr, {.kind = NoticeKind::connected});
    settle();
  }
  EXPECT_EQ(all_of(*messages), (Said{"!disconnected", "!connected"}));
}

TEST_F(MessagesTest, a_reader_that_is_destroyed_while_it_waits_leaves_nothing) {
  auto messages = open({});
  Said said;
  {
    auto task = read(*messages, said);
    task.start();
  }
  publish_some(0, 1);
  EXPECT_EQ(all_of(*messages), (Said{"0"}));
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
