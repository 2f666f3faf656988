#include "katana/stores/bus/nats/store_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace katana::bus {
namespace {

constexpr Instant start{seconds(1000).ns};

class StoreQueueTest : public testing::Test {
 protected:
  void add(const std::string& payload) {
    const HeldMessage message = make_message({.subject = "x", .payload = payload}, true);
    const auto added = queue_.add(message);
    EXPECT_TRUE(added) << added.error().describe();
  }
  // Sends all that may be sent.
  std::vector<std::uint64_t> sent(Instant now) {
    std::vector<std::uint64_t> numbers;
    while (const auto item = queue_.next(now)) {
      numbers.push_back(item->number);
      queue_.note_sent(item->number, now);
    }
    return numbers;
  }
  using Numbers = std::vector<std::uint64_t>;

  StoreQueue queue_{AwayOptions{.messages_max = 1000}};
};

TEST_F(StoreQueueTest, what_is_acknowledged_leaves_whatever_the_order) {
  for (const char* const each : {"a", "b", "c"}) add(each);
  EXPECT_EQ(sent(start), (Numbers{1, 2, 3}));
  EXPECT_EQ(sent(start), Numbers{});
  const std::size_t bytes = queue_.bytes();
  queue_.acknowledge(2);
  EXPECT_EQ(queue_.size(), 3u) << "the first is not stored";
  EXPECT_EQ(queue_.bytes(), bytes);
  queue_.acknowledge(1);
  EXPECT_EQ(queue_.size(), 1u);
  EXPECT_EQ(queue_.bytes(), bytes / 3);
  queue_.acknowledge(3);
  queue_.acknowledge(3);
  queue_.acknowledge(9);
  EXPECT_EQ(queue_.size(), 0u);
  EXPECT_EQ(queue_.bytes(), 0u);
  EXPECT_EQ(queue_.due(), never);
  add("d");
  EXPECT_EQ(sent(start), Numbers{4});
}

TEST_F(StoreQueueTest, what_was_refused_is_sent_again_from_the_first_on_one_at_a_time) {
  for (int count = 0; count < 4; ++count) add("x");
  EXPECT_EQ(sent(start), (Numbers{1, 2, 3, 4}));
  queue_.acknowledge(3);
  EXPECT_EQ(queue_.refused_since(), never);
  for (const std::uint64_t each : {1, 2, 4}) queue_.refuse(each, start);
  EXPECT_EQ(queue_.refused_since(), start);
  EXPECT_EQ(sent(start), Numbers{}) << "a pause";
  EXPECT_EQ(queue_.due(), start + StoreQueue::pause_min) << "of one refusal, not of three";
  const Instant later = start + StoreQueue::pause_min;
  EXPECT_EQ(sent(later), Numbers{1});
  queue_.acknowledge(1);
  EXPECT_EQ(queue_.refused_since(), never);
  EXPECT_EQ(sent(later), Numbers{2});
  queue_.acknowledge(2);
  EXPECT_EQ(sent(later), Numbers{4}) << "the third is stored";
}

TEST_F(StoreQueueTest, pauses_double_up_to_their_bound_and_begin_anew) {
  add("x");
  Instant now = start;
  Duration pause = StoreQueue::pause_min;
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(sent(now), Numbers{1});
    queue_.refuse(1, now);
    EXPECT_EQ(queue_.due(), now + pause) << round;
    now = queue_.due();
    pause = std::min(pause * 2, StoreQueue::pause_max);
  }
  EXPECT_EQ(queue_.refused_since(), start);
  EXPECT_EQ(sent(now), Numbers{1});
  queue_.acknowledge(1);
  add("y");
  EXPECT_EQ(sent(now), Numbers{2});
  queue_.refuse(2, now);
  EXPECT_EQ(queue_.due(), now + StoreQueue::pause_min);
}

TEST_F(StoreQueueTest, what_has_no_answer_is_sent_again) {
  add("x");
  EXPECT_FALSE(queue_.expire(start));
  EXPECT_EQ(sent(start), Numbers{1});
  EXPECT_EQ(queue_.due(), start + StoreQueue::answer_timeout);
  EXPECT_FALSE(queue_.expire(start + nanoseconds(StoreQueue::answer_timeout.ns - 1)));
  const Instant late = start + StoreQueue::answer_timeout;
  EXPECT_TRUE(queue_.expire(late));
  EXPECT_FALSE(queue_.expire(late)) << "it is not under way any more";
  EXPECT_EQ(sent(queue_.due()), Numbers{1});
}

TEST_F(StoreQueueTest, a_lost_link_sends_all_again_without_a_pause) {
  for (int count = 0; count < 3; ++count) add("x");
  EXPECT_EQ(sent(start).size(), 3u);
  queue_.refuse(1, start);
  queue_.lose_link();
  EXPECT_EQ(sent(start), Numbers{1});
  queue_.acknowledge(1);
  EXPECT_EQ(sent(start), (Numbers{2, 3})) << "two may be under way again";
}

TEST_F(StoreQueueTest, at_most_a_window_is_under_way) {
  for (std::size_t count = 0; count < StoreQueue::window_max + 10; ++count) add("x");
  EXPECT_EQ(sent(start).size(), StoreQueue::window_max);
  queue_.acknowledge(1);
  EXPECT_EQ(sent(start).size(), 1u);
}

TEST_F(StoreQueueTest, a_full_queue_refuses_by_messages_and_by_bytes) {
  StoreQueue few(AwayOptions{.messages_max = 2});
  const HeldMessage message = make_message({.subject = "x", .payload = "y"}, true);
  EXPECT_TRUE(few.add(message));
  EXPECT_TRUE(few.add(message));
  EXPECT_EQ(few.add(message).error().code(), Code::resource_exhausted);
  const std::size_t bytes = message.allocated_bytes();
  StoreQueue small(AwayOptions{.bytes_max = 2 * bytes});
  EXPECT_TRUE(small.add(message));
  EXPECT_TRUE(small.add(message));
  EXPECT_EQ(small.add(message).error().code(), Code::resource_exhausted);
  EXPECT_EQ(small.first_subject(), "x");
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
