// Frames come out as they went in, and other bytes are refused.
#include "apps/chat/cluster/frame.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana::chat::cluster {
namespace {

constexpr NodeId writer = 0x1122334455667788;

const RoomRecord red{"red", 3, {{1007, "alice"}, {2007, "USER2007"}}};

Bytes body_of(const std::string& frame, Kind kind) {
  const auto head = read_head(frame);
  EXPECT_TRUE(head);
  EXPECT_EQ(head->kind, kind);
  EXPECT_EQ(head->from, writer);
  return head->body;
}

TEST(Frame, comes_out_as_it_went_in) {
  const Snapshot snapshot{7, 1, 2, {red, {"blue", 1, {}}}, {{"alice", -5}}, {{5, "red", 12}}};
  const std::string written = write(writer, snapshot);
  const auto read = read_snapshot(body_of(written, Kind::snapshot));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->version, 7U);
  EXPECT_EQ(read->part, 1U);
  EXPECT_EQ(read->parts, 2U);
  EXPECT_EQ(read->rooms, snapshot.rooms);
  EXPECT_EQ(read->names, snapshot.names);
  EXPECT_EQ(read->positions, snapshot.positions);

  const std::string beat =
      write(writer, Heartbeat{"host:9000", 999, 123, 4, 8, 0, 1, {{0, "lobby", 1}}});
  const auto heartbeat = read_heartbeat(body_of(beat, Kind::heartbeat));
  ASSERT_TRUE(heartbeat);
  EXPECT_EQ(heartbeat->name, "host:9000");
  EXPECT_EQ(heartbeat->slot, 999U);
  EXPECT_EQ(heartbeat->positions.at(0).next, 1U);

  const std::string history = write(writer, History{1, 2, "red", {{3, 4, 2, "[a] x\n[b] y\n"}}});
  const auto told = read_history(body_of(history, Kind::history));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->entries.at(0).lines, "[a] x\n[b] y\n");
}

TEST(Frame, that_is_cut_short_or_too_long_is_none) {
  const std::string whole = write(writer, Changes{2, {red}, {{"alice", 1}}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    const auto head = read_head(part);
    EXPECT_FALSE(head && read_changes(head->body)) << size;
  }
  const std::string longer = whole + "x";
  EXPECT_FALSE(read_changes(read_head(longer)->body));
  EXPECT_FALSE(read_head(std::string(control_bytes_max + 1, 'k')));
}

TEST(Frame, of_another_version_or_kind_is_none) {
  std::string frame = write_goodbye(writer);
  EXPECT_TRUE(read_head(frame));
  frame[2] = 2;
  EXPECT_FALSE(read_head(frame));
  frame[2] = 1;
  frame[3] = static_cast<char>(Kind::count_);
  EXPECT_FALSE(read_head(frame));
}

TEST(Frame, with_names_that_nobody_may_have_is_none) {
  for (const char* const name : {"", "a b", "x\ny", "[USER1]", "\xff", "\x1b[2J"}) {
    const std::string frame = write_held(writer, {name, 1});
    EXPECT_FALSE(read_held(read_head(frame)->body)) << name;
  }
  EXPECT_FALSE(
      read_changes(read_head(write(writer, Changes{1, {{"red", 1, red.first}}, {}}))->body));
}

TEST(BatchStamp, is_three_numbers_and_nothing_else) {
  const BatchStamp stamp{writer, 0xabc, 17};
  EXPECT_EQ(read_stamp(write(stamp)), stamp);
  for (const char* const text : {"", "1", "1 2", "1 2 3 ", " 1 2 3", "1  2 3", "1 2 3 4", "x 2 3",
                                 "1 2 0", "-1 2 3", "1 ffffffffffffffff 3", "1 2 100000000"}) {
    EXPECT_FALSE(read_stamp(text)) << text;
  }
}

TEST(Lines, are_as_many_as_is_said_and_whole) {
  EXPECT_TRUE(are_lines("[a] x\n[b] y\n", 2));
  EXPECT_FALSE(are_lines("[a] x\n[b] y\n", 3));
  EXPECT_FALSE(are_lines("[a] x\n[b] y", 1));
  EXPECT_FALSE(are_lines("", 0));
}

}  // namespace
}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
