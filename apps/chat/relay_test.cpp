#include "apps/chat/relay.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "katana/base/coroutine/mailbox.hpp"

namespace katana::chat {
namespace {

// A thread's mailbox, as a reactor has one.
struct Thread {
  Mailbox mailbox;
  void run() {
    for (Message* message = mailbox.take_all(); message != nullptr;) {
      Message* const next = message->next;
      message->run(*message);
      message = next;
    }
  }
};

struct Pair {
  Pair() : relay(8, &Pair::on_batches, this, &Pair::on_writable, this) {}
  static void on_batches(void* self, Relay&) noexcept {
    auto& pair = *static_cast<Pair*>(self);
    const auto [more, ring] = pair.relay.take([&pair](const Relayed& relayed) {
      Batch& batch = relayed.block->adopt();
      EXPECT_EQ(batch.bytes(), std::to_string(pair.taken));
      EXPECT_EQ(relayed.room.place, pair.taken % 7);
      ++pair.taken;
      batch.let_go();
      return pair.taken % pair.at_once != 0;
    });
    if (more) pair.receiver.mailbox.post(pair.relay.batches_doorbell());
    if (ring) pair.sender.mailbox.post(pair.relay.writable_doorbell());
  }
  static void on_writable(void* self, Relay&) noexcept { ++static_cast<Pair*>(self)->room_rings; }
  // False: no room.
  bool send(std::uint32_t number) {
    const std::string text = std::to_string(number);
    Batch& batch = Block::make(text.size(), 1);
    std::memcpy(batch.block().data(), text.data(), text.size());
    bool ring = false;
    const bool pushed = relay.push({{number % 7, 0}, &batch.block()}, ring);
    if (ring) receiver.mailbox.post(relay.batches_doorbell());
    batch.let_go();
    return pushed;
  }

  Thread sender;
  Thread receiver;
  Relay relay;
  std::uint32_t at_once = UINT32_MAX;
  std::uint32_t taken = 0;
  std::uint32_t room_rings = 0;
};

TEST(Relay, rings_once_for_many_and_again_after_they_were_taken) {
  Pair pair;
  EXPECT_TRUE(pair.send(0));
  EXPECT_TRUE(pair.send(1));
  EXPECT_TRUE(pair.receiver.mailbox.has_messages());
  pair.receiver.run();
  EXPECT_EQ(pair.taken, 2U);
  EXPECT_TRUE(pair.send(2));
  pair.receiver.run();
  EXPECT_EQ(pair.taken, 3U);
  EXPECT_FALSE(pair.sender.mailbox.has_messages());  // it waits for nothing
}

TEST(Relay, is_bounded_and_rings_back_for_who_waits) {
  Pair pair;
  for (std::uint32_t number = 0; number < 8; ++number) EXPECT_TRUE(pair.send(number));
  EXPECT_FALSE(pair.send(8));
  EXPECT_TRUE(pair.relay.wait_for_capacity());
  EXPECT_TRUE(pair.relay.wait_for_capacity());  // once is enough
  pair.receiver.run();
  pair.sender.run();
  EXPECT_EQ(pair.room_rings, 1U);
  EXPECT_TRUE(pair.send(8));
  EXPECT_FALSE(pair.relay.wait_for_capacity());  // there is room already
  pair.receiver.run();
  pair.sender.run();
  EXPECT_EQ(pair.room_rings, 1U);
}

TEST(Relay, gives_back_what_was_not_taken) {
  Pair pair;
  EXPECT_TRUE(pair.send(0));  // leaks, for a sanitizer to see, if it were not
}

TEST(Relay, what_is_left_for_later_is_asked_for_by_the_receiver) {
  Pair pair;
  pair.at_once = 2;
  for (std::uint32_t number = 0; number < 5; ++number) EXPECT_TRUE(pair.send(number));
  for (const std::uint32_t taken : {2U, 4U, 5U}) {
    pair.receiver.run();
    EXPECT_EQ(pair.taken, taken);
  }
  EXPECT_FALSE(pair.receiver.mailbox.has_messages());
  EXPECT_TRUE(pair.send(5));
  EXPECT_TRUE(pair.receiver.mailbox.has_messages());
}

class RelayThreads : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RelayThreads, every_batch_comes_once_in_order_and_nobody_waits_for_ever) {
  constexpr std::uint32_t batches = 20'000;
  Pair pair;
  pair.at_once = GetParam();
  std::thread receiver([&pair] {
    while (pair.taken < batches) {
      pair.receiver.run();
      std::this_thread::yield();
    }
  });
  std::uint32_t waits = 0;
  for (std::uint32_t number = 0; number < batches;) {
    if (pair.send(number)) {
      ++number;
      continue;
    }
    if (!pair.relay.wait_for_capacity()) continue;
    ++waits;
    const std::uint32_t rings = pair.room_rings;
    while (pair.room_rings == rings) {
      pair.sender.run();
      std::this_thread::yield();
    }
  }
  receiver.join();
  pair.sender.run();
  EXPECT_EQ(pair.taken, batches);
  EXPECT_EQ(pair.room_rings, waits);
}

INSTANTIATE_TEST_SUITE_P(AtOnce, RelayThreads, testing::Values(1, 3, UINT32_MAX));

}  // namespace
}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
