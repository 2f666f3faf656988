#include "katana/base/coroutine/mailbox.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace katana {
namespace {

struct Letter : Message {
  Letter()
      : Message([](Message& message) noexcept { static_cast<Letter&>(message).opened = true; }) {}
  std::size_t sender = 0;
  int number = 0;
  bool opened = false;
};

TEST(Mailbox, an_empty_mailbox_has_no_messages) {
  Mailbox mailbox;
  EXPECT_EQ(mailbox.take_all(), nullptr);
}

TEST(Mailbox, messages_are_taken_in_the_order_in_which_they_were_posted) {
  Mailbox mailbox;
  std::vector<Letter> letters(5);
  for (Letter& each : letters) mailbox.post(each);
  Message* next = mailbox.take_all();
  for (Letter& each : letters) {
    ASSERT_EQ(next, &each);
    next = next->next;
  }
  EXPECT_EQ(next, nullptr);
  EXPECT_EQ(mailbox.take_all(), nullptr);
}

TEST(Mailbox, only_the_first_message_since_it_was_emptied_says_that_the_executor_may_sleep) {
  Mailbox mailbox;
  Letter first, second, third;
  EXPECT_TRUE(mailbox.post(first));
  EXPECT_FALSE(mailbox.post(second));
  mailbox.take_all();
  EXPECT_TRUE(mailbox.post(third));
}

TEST(Mailbox, a_message_that_was_taken_may_be_posted_again) {
  Mailbox mailbox;
  Letter letter;
  for (int round = 0; round < 3; ++round) {
    mailbox.post(letter);
    Message* const taken = mailbox.take_all();
    ASSERT_EQ(taken, &letter);
    EXPECT_EQ(taken->next, nullptr);
    taken->run(*taken);
    EXPECT_TRUE(letter.opened);
  }
}

TEST(Mailbox, many_senders_lose_nothing_and_each_keeps_its_order) {
  constexpr std::size_t senders = 4;
  constexpr int each_sends = 20'000;
  Mailbox mailbox;
  std::vector<std::vector<Letter>> letters(senders);
  std::vector<std::thread> threads;
  for (std::size_t sender = 0; sender < senders; ++sender) {
    letters[sender] = std::vector<Letter>(each_sends);
    threads.emplace_back([&, sender] {
      for (int number = 0; number < each_sends; ++number) {
        Letter& letter = letters[sender][static_cast<std::size_t>(number)];
        letter.sender = sender;
        letter.number = number;
        mailbox.post(letter);
      }
    });
  }
  std::vector<int> expected(senders, 0);
  std::size_t received = 0;
  while (received < senders * each_sends) {
    Message* next = mailbox.take_all();
    if (next == nullptr) std::this_thread::yield();
    for (; next != nullptr; next = next->next, ++received) {
      auto& letter = static_cast<Letter&>(*next);
      ASSERT_EQ(letter.number, expected[letter.sender]++);
      letter.run(letter);
    }
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(mailbox.take_all(), nullptr);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
