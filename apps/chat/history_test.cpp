// The history of a room: kept messages, replies and limits, alone and under several threads.
#include "apps/chat/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "apps/chat/relay.hpp"

namespace katana::chat {
namespace {

constexpr RoomKey lobby{0, 1};
constexpr RoomKey red{3, 1};

// One batch of these lines, as a hub has it.
std::uint64_t say(History& history, RoomKey room, const std::string& lines,
                  History::Origin origin = {0, 0}) {
  const auto messages = static_cast<std::uint32_t>(std::count(lines.begin(), lines.end(), '\n'));
  Batch& batch = Block::make(lines.size(), messages);
  std::memcpy(batch.block().data(), lines.data(), lines.size());
  const std::uint64_t number = history.add(
      {room, &batch.block(), 0, static_cast<std::uint32_t>(lines.size()), messages, 0}, origin);
  batch.let_go();
  return number;
}

TEST(History, tells_the_last_messages_of_a_room_and_of_no_other) {
  History history({.messages_max = 3});
  EXPECT_EQ(history.recent(lobby).messages, 0U);
  say(history, lobby, "a\n");
  say(history, red, "r\n");
  const std::uint64_t newest = say(history, lobby, "b\nc\nd\n");
  const History::Recent recent = history.recent(lobby);
  EXPECT_EQ(recent.lines, "b\nc\nd\n");
  EXPECT_EQ(recent.messages, 3U);
  EXPECT_EQ(recent.until, newest);
  EXPECT_EQ(history.newest(), newest);
  EXPECT_EQ(history.recent(red).lines, "r\n");
}

TEST(History, tells_the_end_of_the_batch_in_which_its_messages_begin) {
  History history({.messages_max = 3});
  say(history, lobby, "a\nb\nc\n");
  say(history, lobby, "d\n");
  EXPECT_EQ(history.recent(lobby).lines, "b\nc\nd\n");
  EXPECT_EQ(history.kept(lobby, UINT64_MAX, 1 << 20).front().lines, "a\nb\nc\n");
}

TEST(History, of_one_batch_with_too_many_messages_the_last_ones_are_told) {
  History history({.messages_max = 2});
  say(history, lobby, "a\nb\nc\nd\n");
  EXPECT_EQ(history.recent(lobby).lines, "c\nd\n");
}

TEST(History, holds_no_more_bytes_of_a_room_than_it_may_and_one_block) {
  History history({.messages_max = 1000, .bytes_max = 4096});
  const std::string line = std::string(1000, 'x') + "\n";
  for (int count = 0; count < 50; ++count) {
    say(history, lobby, line);
    EXPECT_LE(history.held_bytes(), 4096U);
  }
  EXPECT_GT(history.held_bytes(), 2000U);
  say(history, lobby, std::string(100'000, 'y') + "\n");
  EXPECT_EQ(history.recent(lobby).messages, 1U) << "the newest is kept, however large";
  history.forget(lobby);
  EXPECT_EQ(history.held_bytes(), 0U);
}

TEST(History, of_a_room_that_has_ended_nothing_is_told_to_the_next_in_its_place) {
  History history({.messages_max = 3});
  say(history, {0, 1}, "old\n");
  EXPECT_EQ(history.recent({0, 2}).messages, 0U);
  say(history, {0, 2}, "new\n");
  EXPECT_EQ(history.recent({0, 1}).messages, 0U);
  EXPECT_EQ(history.recent({0, 2}).lines, "new\n");
  history.forget({0, 1});
  EXPECT_EQ(history.recent({0, 2}).lines, "new\n") << "forgotten was the room before";
}

TEST(History, tells_other_servers_what_has_an_origin_or_is_old_enough) {
  History history({.messages_max = 10});
  const std::uint64_t first = say(history, lobby, "a\n");
  const std::uint64_t second = say(history, lobby, "b\nc\n");
  say(history, lobby, "d\n", {7, 40});
  auto kept = history.kept(lobby, 0, 1 << 20);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].lines, "d\n");
  EXPECT_EQ(kept[0].origin.node, 7U);
  kept = history.kept(lobby, first, 1 << 20);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].lines, "a\n") << "the oldest first";
  history.set_origin(lobby, second, {9, 3});
  history.set_origin(lobby, 1'000'000, {9, 4});
  kept = history.kept(lobby, first, 1 << 20);
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[1].origin.node, 9U);
  EXPECT_EQ(kept[1].origin.first, 3U);
  EXPECT_EQ(kept[1].messages, 2U);
}

TEST(History, gives_other_servers_the_newest_that_their_frame_has_room_for) {
  History history({.messages_max = 10});
  for (const char* each : {"aaaa\n", "bbbb\n", "cccc\n"}) say(history, lobby, each, {1, 1});
  const auto kept = history.kept(lobby, 0, 10);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].lines + kept[1].lines, "bbbb\ncccc\n");
}

TEST(History, puts_what_others_had_in_front_as_far_as_it_is_wanted) {
  History history({.messages_max = 4});
  say(history, lobby, "d\n");
  const std::vector<History::Kept> before = {
      {{2, 0}, 1, "x\n"}, {{2, 1}, 2, "a\nb\n"}, {{2, 3}, 1, "c\n"}};
  const History::Recent added = history.put_in_front(lobby, before);
  EXPECT_EQ(added.lines, "a\nb\nc\n");
  EXPECT_EQ(added.messages, 3U);
  EXPECT_EQ(history.recent(lobby).lines, "a\nb\nc\nd\n");
  EXPECT_EQ(history.put_in_front(lobby, before).messages, 0U) << "there is no more room";
  say(history, lobby, "e\n");
  EXPECT_EQ(history.recent(lobby).lines, "b\nc\nd\ne\n");
  // A batch from another server keeps its origin, and may be told on.
  EXPECT_EQ(history.kept(lobby, 0, 1 << 20).front().origin.node, 2U);
}

TEST(History, puts_no_more_in_front_than_its_bytes_allow) {
  History history({.messages_max = 100, .bytes_max = 4096});
  const std::vector<History::Kept> before = {{{2, 0}, 1, std::string(8000, 'x') + "\n"},
                                             {{2, 1}, 1, "a\n"}};
  EXPECT_EQ(history.put_in_front(lobby, before).lines, "a\n");
  EXPECT_LE(history.held_bytes(), 4096U);
}

// Reactors add, members join, the bridge tells others, and rooms end, all at once.
TEST(History, is_of_any_thread) {
  History history({.messages_max = 20, .bytes_max = 8192});
  constexpr int rounds = 400;
  std::atomic<bool> done = false;
  std::vector<std::thread> sayers;
  for (int index = 0; index < 2; ++index) {
    sayers.emplace_back([&history, index] {
      for (int round = 0; round < rounds; ++round) {
        const std::uint64_t number =
            say(history, lobby, std::to_string(index) + "\n" + std::to_string(round) + "\n");
        history.set_origin(lobby, number, {1, number});
        if (round % 50 == 49) history.forget(red);
        say(history, red, "r\n");
      }
    });
  }
  std::thread reader([&history, &done] {
    std::uint64_t until = 0;
    while (!done.load()) {
      const History::Recent recent = history.recent(lobby);
      EXPECT_EQ(recent.messages, std::count(recent.lines.begin(), recent.lines.end(), '\n'));
      EXPECT_LE(recent.messages, 20U);
      EXPECT_GE(recent.until, until);
      until = recent.until;
      for (const History::Kept& each : history.kept(lobby, 0, 1 << 16)) {
        EXPECT_EQ(each.messages, 2U);
      }
    }
  });
  for (std::thread& each : sayers) each.join();
  done = true;
  reader.join();
  EXPECT_EQ(history.newest(), 1U + 4U * rounds);
  EXPECT_EQ(history.recent(lobby).messages, 20U);
  history.forget(lobby);
  history.forget(red);
  EXPECT_EQ(history.held_bytes(), 0U);
}

}  // namespace
}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
