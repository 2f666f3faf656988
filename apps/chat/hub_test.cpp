#include "apps/chat/hub.hpp"

#include "apps/chat/hub_fixture_test.hpp"

namespace katana::chat {
namespace {

// ---- who gets what -----------------------------------------------------------------------------

TEST_F(HubTest, a_message_reaches_everybody_else_in_the_room_with_the_number_of_its_sender) {
  TestMember& first = add();
  TestMember& second = add();
  TestMember& third = add();
  TestMember& elsewhere = add("red");
  hub().publish(second, "hello");
  end_turn();
  EXPECT_EQ(first.take(), "[USER2] hello\n");
  EXPECT_EQ(third.take(), "[USER2] hello\n");
  EXPECT_EQ(second.take(), "");
  EXPECT_EQ(elsewhere.take(), "");
}

TEST_F(HubTest, nothing_is_sent_before_everything_of_the_turn_has_arrived) {
  TestMember& first = add();
  TestMember& second = add();
  TestMember& third = add();
  hub().publish(first, "a");
  hub().publish(second, "b");
  hub().publish(first, "c");
  EXPECT_TRUE(third.outbox().empty());
  EXPECT_EQ(turns_[0].deferred(), 1U);
  end_turn();
  EXPECT_EQ(third.outputs, 1);
  EXPECT_EQ(third.pieces(), 1U);
  EXPECT_EQ(third.take(), "[USER1] a\n[USER2] b\n[USER1] c\n");
  EXPECT_EQ(second.take(), "[USER1] a\n[USER1] c\n");
  EXPECT_EQ(first.take(), "[USER2] b\n");
}

TEST_F(HubTest, all_recipients_refer_to_the_same_bytes) {
  TestMember& sender = add();
  TestMember& first = add();
  TestMember& second = add();
  hub().publish(sender, "hello");
  end_turn();
  std::array<iovec, 2> one;
  std::array<iovec, 2> other;
  ASSERT_EQ(first.outbox().gather(one), 1U);
  ASSERT_EQ(second.outbox().gather(other), 1U);
  EXPECT_EQ(one[0].iov_base, other[0].iov_base);
  EXPECT_EQ(hub().counters().batches.value(), 1U);
  EXPECT_EQ(hub().counters().due.value(), 2U);
}

TEST_F(HubTest, whoever_has_said_most_of_a_batch_gets_a_copy_of_the_rest) {
  TestMember& talker = add();
  TestMember& other = add();
  TestMember& reader = add();
  hub().publish(talker, std::string(1000, 'x'));
  hub().publish(other, "a");
  hub().publish(talker, std::string(1000, 'y'));
  hub().publish(other, "b");
  end_turn();
  EXPECT_EQ(talker.pieces(), 1U);
  EXPECT_EQ(talker.take(), "[USER2] a\n[USER2] b\n");
  EXPECT_EQ(other.take(),
            "[USER1] " + std::string(1000, 'x') + "\n[USER1] " + std::string(1000, 'y') + "\n");
  EXPECT_EQ(reader.take_all().size(), 2 * 1009 + 2 * 10U);
}

TEST_F(HubTest, whoever_s_lines_lie_in_many_places_gets_a_copy_of_the_rest) {
  TestMember& talker = add();
  TestMember& other = add();
  std::string expected;
  for (int count = 0; count < 40; ++count) {
    hub().publish(talker, "a");
    hub().publish(other, "longer");
    expected += "[USER2] longer\n";
  }
  end_turn();
  EXPECT_EQ(talker.pieces(), 1U);
  EXPECT_EQ(talker.take_all(), expected);
}

TEST_F(HubTest, lines_of_one_member_behind_each_other_are_one_place) {
  TestMember& talker = add();
  TestMember& other = add();
  for (int count = 0; count < 40; ++count) hub().publish(talker, "a");
  hub().publish(other, std::string(1000, 'x'));
  end_turn();
  EXPECT_EQ(talker.pieces(), 1U);
  EXPECT_EQ(other.pieces(), 1U);
  EXPECT_EQ(talker.outbox().pending(), 1009U);
}

TEST_F(HubTest, what_does_not_fit_one_batch_is_several_and_keeps_its_order) {
  TestMember& sender = add();
  TestMember& reader = add();
  std::string expected;
  for (char letter = 'a'; letter < 'f'; ++letter) {
    const std::string text(8000, letter);
    hub().publish(sender, text);
    expected += "[USER1] " + text + "\n";
  }
  end_turn();
  EXPECT_EQ(hub().counters().batches.value(), 3U);
  EXPECT_TRUE(reader.take_all() == expected);
}

TEST_F(HubTest, nobody_gets_what_was_said_before_it_joined_or_after_it_left) {
  TestMember& sender = add();
  TestMember& leaver = add();
  hub().publish(sender, "one");
  TestMember& joiner = add();
  hub().publish(sender, "two");
  hub().leave(leaver);
  hub().publish(sender, "three");
  end_turn();
  EXPECT_EQ(leaver.take_all(), "[USER1] one\n[USER1] two\n");
  EXPECT_EQ(joiner.take_all(), "[USER1] two\n[USER1] three\n");
}

TEST_F(HubTest, what_somebody_says_before_it_leaves_is_heard) {
  TestMember& sender = add();
  TestMember& reader = add();
  hub().publish(sender, "bye");
  sender.remove(Loss::left);
  end_turn();
  EXPECT_EQ(reader.take(), "[USER1] bye\n");
}

TEST_F(HubTest, what_is_said_in_two_rooms_in_one_turn_stays_apart) {
  TestMember& wanderer = add();
  TestMember& here = add();
  TestMember& there = add("red");
  hub().publish(wanderer, "here");
  ASSERT_TRUE(hub().join(wanderer, "red"));
  hub().publish(wanderer, "there");
  ASSERT_TRUE(hub().join(wanderer, lobby_name));
  hub().publish(wanderer, "again");
  end_turn();
  EXPECT_EQ(here.take_all(), "[USER1] here\n[USER1] again\n");
  EXPECT_EQ(there.take_all(), "[USER1] there\n");
}

// ---- rooms and names ---------------------------------------------------------------------------

TEST_F(HubTest, rooms_come_and_go_and_have_a_limit) {
  TestMember& member = add();
  EXPECT_TRUE(hub().join(member, "one"));
  EXPECT_TRUE(hub().join(member, "one"));
  TestMember& second = add("two");
  add("three");
  EXPECT_EQ(directory_.rooms(), 4U);
  EXPECT_FALSE(hub().join(member, "four"));
  hub().publish(member, "still in one");
  EXPECT_TRUE(hub().join(second, "one"));  // two is empty and goes
  EXPECT_TRUE(hub().join(member, "four"));
  EXPECT_EQ(directory_.who("two", 10), std::nullopt);
  end_turn();
}

TEST_F(HubTest, a_room_that_takes_the_place_of_another_gets_nothing_of_it) {
  TestMember& first = add("one");
  hub().publish(first, "said in one");
  ASSERT_TRUE(hub().join(first, lobby_name));
  TestMember& second = add("two");
  TestMember& third = add("two");
  hub().publish(second, "said in two");
  end_turn();
  EXPECT_EQ(third.take_all(), "[USER2] said in two\n");
}

TEST_F(HubTest, a_name_is_one_member_s_and_nobody_s_once_it_has_gone) {
  TestMember& first = add();
  TestMember& second = add();
  EXPECT_EQ(hub().rename(first, "alice"), Naming::given);
  EXPECT_EQ(hub().rename(second, "alice"), Naming::taken);
  EXPECT_EQ(hub().rename(second, "USER1"), Naming::taken);
  EXPECT_EQ(hub().rename(second, "USER77"), Naming::taken);
  EXPECT_EQ(hub().rename(second, "USERNAME"), Naming::given);
  hub().publish(first, "hello");
  end_turn();
  EXPECT_EQ(second.take(), "[alice] hello\n");
  const auto presence = directory_.who(lobby_name, 10);
  ASSERT_TRUE(presence);
  EXPECT_EQ(presence->names, (std::vector<std::string>{"alice", "USERNAME"}));
  EXPECT_EQ(hub().rename(first, "bob"), Naming::given);
  EXPECT_EQ(hub().rename(second, "alice"), Naming::given);
  first.remove(Loss::left);
  EXPECT_EQ(hub().rename(second, "bob"), Naming::given);
}

TEST(DirectoryTest, numbers_are_given_in_order_and_connections_have_a_limit) {
  Directory directory(2, 1, 1);
  EXPECT_EQ(directory.admit(), 1U);
  EXPECT_EQ(directory.admit(), 2U);
  EXPECT_EQ(directory.admit(), 0U);
  directory.dismiss();
  EXPECT_EQ(directory.admit(), 3U);
}

class LongLinesTest : public HubTest {
 protected:
  static HubOptions with_long_lines() {
    HubOptions options;
    options.line_bytes_max = 60'000;
    return options;
  }
  LongLinesTest() : HubTest(with_long_lines()) {}
};

TEST_F(LongLinesTest, a_line_longer_than_a_batch_has_one_of_its_own_and_others_stay_short) {
  TestMember& sender = add();
  TestMember& reader = add();
  std::string expected;
  for (const std::size_t size : {7000U, 7000U, 7000U, 60'000U, 7000U}) {
    const std::string text(size, 'x');
    hub().publish(sender, text);
    expected += "[USER1] " + text + "\n";
  }
  end_turn();
  EXPECT_EQ(hub().counters().batches.value(), 4U);
  EXPECT_TRUE(reader.take_all() == expected);
}

class NoticesTest : public HubTest {
 protected:
  static HubOptions with_notices() {
    HubOptions options = small_options();
    options.notices = true;
    return options;
  }
  NoticesTest() : HubTest(with_notices()) {}
};

TEST_F(NoticesTest, others_are_told_who_comes_and_goes) {
  TestMember& first = add();
  TestMember& second = add();
  ASSERT_TRUE(hub().join(second, "red"));
  second.remove(Loss::left);
  end_turn();
  EXPECT_EQ(first.take_all(), "* USER2 joined\n* USER2 left\n");
  EXPECT_EQ(hub().counters().messages.value(), 0U);
}

// ---- slow readers ------------------------------------------------------------------------------

// Twelve thousand bytes, in their own batch.
void say_much(Hub& hub, TestMember& sender, char letter) {
  hub.publish(sender, std::string(6000, letter));
  hub.publish(sender, std::string(6000, letter));
}

TEST_F(HubTest, a_reader_that_catches_up_before_its_bound_loses_nothing) {
  TestMember& sender = add();
  TestMember& slow = add();
  for (const char letter : {'a', 'b', 'c'}) {
    say_much(hub(), sender, letter);
    end_turn();
  }
  EXPECT_FALSE(slow.backlog().empty());
  EXPECT_TRUE(slow.wants_writable);
  const std::string all = slow.take_all();
  EXPECT_EQ(all.size(), 6 * 6009U);
  EXPECT_LT(all.find('a'), all.find('b'));
  EXPECT_LT(all.find('b'), all.find('c'));
  EXPECT_EQ(hub().counters().lost(), 0U);
  EXPECT_TRUE(slow.backlog().empty());
}

TEST_F(HubTest, beyond_its_bound_a_slow_reader_loses_its_oldest_messages_whole_and_is_told) {
  TestMember& sender = add();
  TestMember& slow = add();
  TestMember& quick = add();
  std::string quick_got;
  for (char letter = 'a'; letter < 'k'; ++letter) {
    say_much(hub(), sender, letter);
    end_turn();
    quick_got += quick.take_all();
  }
  EXPECT_EQ(quick_got.size(), 20 * 6009U);
  EXPECT_LE(2 * slow.outbox().pending() + slow.backlog().charged_bytes(), queue_bytes_min);
  const std::uint64_t dropped = hub().counters().of(Loss::slow_reader).value();
  EXPECT_EQ(slow.gap(), dropped);
  EXPECT_GT(dropped, 0U);
  const std::string got = slow.take_all();
  const std::string notice =
      "* " + std::to_string(dropped) + " messages were dropped because you read too slowly\n";
  ASSERT_NE(got.find(notice), std::string::npos);
  // The contents of the outbox come first, then the notice, then the newest messages.
  const std::string first = "[USER1] " + std::string(6000, 'a') + "\n";
  EXPECT_TRUE(got.starts_with(first + first + notice));
  EXPECT_TRUE(got.ends_with("[USER1] " + std::string(6000, 'j') + "\n"));
  EXPECT_EQ(got.size(), (20 - dropped) * 6009 + notice.size());
  EXPECT_EQ(slow.gap(), 0U);
}

TEST_F(HubTest, a_gap_is_told_even_if_nothing_follows_it) {
  TestMember& sender = add();
  TestMember& slow = add();
  for (int count = 0; count < 20; ++count) {
    say_much(hub(), sender, 'x');
    end_turn();
  }
  ASSERT_TRUE(hub().join(sender, "red"));
  EXPECT_NE(slow.take_all().find("were dropped"), std::string::npos);
}

TEST_F(HubTest, many_small_messages_are_bounded_by_what_they_cost_and_not_by_what_they_say) {
  TestMember& sender = add();
  TestMember& slow = add();
  for (int count = 0; count < 5000; ++count) {
    hub().publish(sender, "x");
    end_turn();
  }
  EXPECT_LE(slow.backlog().charged_bytes(), queue_bytes_min);
  EXPECT_LE(slow.pieces(), 64U);  // one gathered send
  EXPECT_GT(hub().counters().of(Loss::slow_reader).value(), 4000U);
}

TEST_F(HubTest, a_member_that_leaves_the_room_keeps_what_it_was_promised) {
  TestMember& sender = add();
  TestMember& slow = add();
  for (const char letter : {'a', 'b'}) {
    say_much(hub(), sender, letter);
    end_turn();
  }
  ASSERT_TRUE(hub().join(slow, "red"));
  EXPECT_EQ(slow.take_all().size(), 4 * 6009U);
}

TEST_F(HubTest, what_a_member_had_not_taken_when_it_went_is_counted) {
  TestMember& sender = add();
  TestMember& gone = add();
  for (int count = 0; count < 3; ++count) {
    say_much(hub(), sender, 'x');
    end_turn();
  }
  (void)gone.take(6009 + 100);  // one whole message, and a part of the next
  gone.remove(Loss::left);
  EXPECT_EQ(hub().counters().delivered.value(), 1U);
  EXPECT_EQ(hub().counters().of(Loss::left).value(), 5U);
}

TEST_F(HubTest, at_its_end_a_member_gets_all_that_waits) {
  TestMember& sender = add();
  TestMember& slow = add();
  for (const char letter : {'a', 'b', 'c'}) {
    say_much(hub(), sender, letter);
    end_turn();
  }
  hub().leave(slow);
  hub().refill_for_end(slow, Loss::draining);
  EXPECT_TRUE(slow.backlog().empty());
  slow.wants_writable = false;
  EXPECT_EQ(slow.take().size(), 6 * 6009U);
}

struct Listener final : Observer {
  void on_slow_reader(std::uint64_t number, SlowReader) noexcept override {
    slow.push_back(number);
  }
  void on_turned_away() noexcept override {}
  std::vector<std::uint64_t> slow;
};

class DisconnectTest : public HubTest {
 protected:
  DisconnectTest() : HubTest(options_for(listener_)) { listener_.slow.clear(); }
  static HubOptions options_for(Listener& listener) {
    HubOptions options = small_options();
    options.slow_reader = SlowReader::disconnect;
    options.observer = &listener;
    return options;
  }
  static inline Listener listener_;
};

TEST_F(DisconnectTest, beyond_its_bound_a_slow_reader_is_no_member_any_more) {
  TestMember& sender = add();
  TestMember& slow = add();
  TestMember& quick = add();
  for (char letter = 'a'; letter < 'k'; ++letter) {
    say_much(hub(), sender, letter);
    end_turn();
    (void)quick.take_all();
  }
  EXPECT_EQ(slow.ended_as_too_slow, 1);
  EXPECT_EQ(slow.dropped_as_too_slow, hub().counters().of(Loss::disconnected).value());
  EXPECT_EQ(slow.outbox().pending(), 2 * 6009U);  // the bytes that can no longer be dropped
  EXPECT_EQ(hub().counters().members.value(), 2U);
  EXPECT_EQ(listener_.slow, std::vector<std::uint64_t>{2});
  EXPECT_EQ(directory_.who(lobby_name, 10)->members, 2U);
}

TEST_F(HubTest, what_slow_readers_keep_is_charged_once_and_with_them_it_goes) {
  const HeldMemory& held = turns_[0].held;
  TestMember& sender = add();
  TestMember& slow = add();
  TestMember& other = add();
  TestMember& quick = add();
  for (int count = 0; count < 3; ++count) {
    say_much(hub(), sender, 'x');
    end_turn();
    (void)quick.take_all();
  }
  const std::size_t three = 3 * 12'018;  // bytes, and each in a block of 16 KiB
  EXPECT_GE(held.used_by(Holder::queue), three);
  EXPECT_LE(held.used_by(Holder::queue), three + three / 2);
  slow.remove(Loss::left);
  EXPECT_GE(held.used(), three);
  EXPECT_EQ(other.take_all().size(), three);
  EXPECT_EQ(held.used(), 0U);
}

TEST_F(HubTest, a_queue_that_memory_is_too_scarce_for_is_dropped_and_its_reader_told) {
  TestMember& sender = add();
  TestMember& slow = add();
  for (int count = 0; count < 3; ++count) {
    say_much(hub(), sender, 'x');
    end_turn();
  }
  EXPECT_TRUE(hub().drop_for_memory(slow));
  EXPECT_FALSE(hub().drop_for_memory(slow));  // bytes in the outbox cannot be dropped
  EXPECT_EQ(hub().counters().of(Loss::slow_reader).value(), 4U);
  EXPECT_LE(turns_[0].held.used(), std::size_t{16} * 1024);
  EXPECT_NE(slow.take_all().find("* 4 messages were dropped"), std::string::npos);
}

// ---- too much at once --------------------------------------------------------------------------

TEST_F(HubTest, what_is_said_in_one_turn_is_bounded_and_the_rest_waits_for_the_next) {
  TestMember& sender = add();
  TestMember& other = add();
  add();
  const std::size_t turn = hub().options().turn_bytes_max;
  while (hub().may_publish(sender)) hub().publish(sender, std::string(1000, 'x'));
  EXPECT_GE(hub().counters().message_bytes.value(), turn - turn / 4 - 1024);
  while (hub().may_publish(other)) hub().publish(other, std::string(1000, 'x'));
  EXPECT_GE(hub().counters().message_bytes.value(), turn);
  EXPECT_LE(hub().counters().message_bytes.value(), turn + 1024);
  hub().wait_to_publish(sender);
  hub().wait_to_publish(other);
  hub().wait_to_publish(other);
  end_turn();
  EXPECT_EQ(sender.may_publish, 1);
  EXPECT_EQ(other.may_publish, 1);
  EXPECT_TRUE(hub().may_publish(sender) && hub().may_publish(other));
}

TEST_F(HubTest, somebody_who_goes_while_it_waits_is_forgotten) {
  TestMember& sender = add();
  TestMember& other = add();
  add();
  while (hub().may_publish(sender)) hub().publish(sender, std::string(1000, 'x'));
  hub().wait_to_publish(sender);
  hub().wait_to_publish(other);
  sender.remove(Loss::left);
  end_turn();
  EXPECT_EQ(sender.may_publish, 0);
  EXPECT_EQ(other.may_publish, 1);
}

// ---- several reactors --------------------------------------------------------------------------

class RelayTest : public HubTest {
 protected:
  RelayTest() : HubTest(small_options(), 3) {}
};

TEST_F(RelayTest, members_on_other_reactors_get_the_same_bytes_in_the_same_order) {
  TestMember& sender = add();
  TestMember& here = add();
  TestMember& there = add(lobby_name, 1);
  hub().publish(sender, "one");
  turns_[0].run_deferred();
  hub().publish(sender, "two");
  turns_[0].run_deferred();
  EXPECT_EQ(turns_[1].posted(), 1U);  // rung for once
  EXPECT_EQ(turns_[2].posted(), 0U);  // the room is empty
  EXPECT_TRUE(there.outbox().empty());
  turns_[1].run_posted();
  std::array<iovec, 2> one;
  std::array<iovec, 2> other;
  ASSERT_EQ(here.outbox().gather(one), 2U);
  ASSERT_EQ(there.outbox().gather(other), 2U);
  EXPECT_EQ(one[1].iov_base, other[1].iov_base);
  EXPECT_EQ(there.take(), "[USER1] one\n[USER1] two\n");
  EXPECT_EQ(hub(1).counters().due.value(), 2U);
}

TEST_F(RelayTest, a_reactor_that_is_behind_makes_senders_wait_and_nothing_is_lost) {
  TestMember& sender = add();
  TestMember& there = add(lobby_name, 1);
  std::string expected;
  int turns = 0;
  while (hub().may_publish(sender)) {
    const std::string text = "message " + std::to_string(turns++);
    hub().publish(sender, text);
    expected += "[USER1] " + text + "\n";
    turns_[0].run_deferred();
  }
  EXPECT_EQ(turns, 5);  // four in the relay, and one that found it full
  hub().wait_to_publish(sender);
  turns_[0].run_deferred();
  EXPECT_EQ(sender.may_publish, 0);
  turns_[1].run_posted();  // rings back
  EXPECT_EQ(turns_[0].posted(), 1U);
  turns_[0].run_posted();
  EXPECT_EQ(sender.may_publish, 1);
  turns_[1].run_posted();
  EXPECT_EQ(there.take_all(), expected);
  EXPECT_EQ(hub().counters().relay_waits.value(), 1U);
}

// Both others are ahead by more than a queue holds.
TEST_F(RelayTest, what_others_said_comes_in_turns_that_a_reader_keeps_up_with) {
  TestMember& one = add();
  TestMember& two = add(lobby_name, 1);
  TestMember& reader = add(lobby_name, 2);
  const std::string text(8000, 'x');
  std::string expected[2];
  for (int count = 0; count < 8; ++count) {
    hub(0).publish(one, text);
    hub(1).publish(two, text);
    expected[0] += "[USER1] " + text + "\n";
    expected[1] += "[USER2] " + text + "\n";
    turns_[0].run_deferred();
    turns_[1].run_deferred();
  }
  const std::size_t turn = hub().options().turn_bytes_max;
  std::string got[2];
  for (int turns = 1; turns <= 16; ++turns) {
    turns_[2].run_posted();
    turns_[2].run_deferred();
    EXPECT_LE(reader.outbox().pending(), turn);
    const std::string lines = reader.take_all();
    EXPECT_LE(lines.size(), turn);
    for (std::size_t at = 0; at < lines.size(); at += 8009) {
      got[lines[at + 5] == '2'] += lines.substr(at, 8009);
    }
    for (const unsigned sender : {0U, 1U}) {  // there is room again
      turns_[sender].run_posted();
      turns_[sender].run_deferred();
    }
  }
  EXPECT_TRUE(got[0] == expected[0]);
  EXPECT_TRUE(got[1] == expected[1]);
  EXPECT_EQ(hub(2).counters().lost(), 0U);
  EXPECT_EQ(hub(2).counters().due.value(), 16U);
}

TEST_F(RelayTest, members_that_end_get_what_was_left_for_the_next_turn) {
  TestMember& sender = add();
  TestMember& reader = add(lobby_name, 1);
  for (int count = 0; count < 4; ++count) {
    hub().publish(sender, std::string(8000, 'x'));
    turns_[0].run_deferred();
  }
  turns_[1].run_posted();
  EXPECT_EQ(hub(1).counters().due.value(), 2U);
  hub(1).flush_for_end();
  EXPECT_EQ(reader.take_all().size(), 4 * 8009U);
  EXPECT_EQ(turns_[1].posted(), 0U);  // no sender is asked for a batch that was taken
}

TEST_F(RelayTest, what_is_on_its_way_to_a_room_that_is_gone_reaches_nobody) {
  TestMember& sender = add("red");
  TestMember& there = add("red", 1);
  hub().publish(sender, "for red");
  turns_[0].run_deferred();
  ASSERT_TRUE(hub(1).join(there, lobby_name));
  ASSERT_TRUE(hub().join(sender, lobby_name));
  TestMember& later = add("blue", 1);  // in the place of red
  end_turn();
  end_turn();
  EXPECT_EQ(later.take_all(), "");
  EXPECT_EQ(there.take_all(), "");
}

TEST_F(RelayTest, hubs_that_end_with_batches_on_their_way_give_them_back) {
  TestMember& sender = add();
  add(lobby_name, 1);
  for (int count = 0; count < 6; ++count) {
    hub().publish(sender, "never taken");
    turns_[0].run_deferred();
  }
}

}  // namespace
}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
