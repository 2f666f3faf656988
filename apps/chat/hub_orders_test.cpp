// Orders of other threads to a hub: missed messages, names, numbers, history.
#include <thread>

#include "apps/chat/hub_fixture_test.hpp"
#include "katana/base/coroutine/mailbox.hpp"

namespace katana::chat {
namespace {

// The other servers: keeps their questions until a test answers.
class Others final : public NameAuthority {
 public:
  void claim(unsigned hub, std::uint64_t token, Bytes name) override {
    EXPECT_EQ(hub, 0U);
    asked.push_back({token, std::string(name)});
  }
  void release(Bytes name) override { released.emplace_back(name); }
  std::vector<std::pair<std::uint64_t, std::string>> asked;
  std::vector<std::string> released;
};

class OrdersOfHubTest : public HubTest {
 protected:
  OrdersOfHubTest()
      : OrdersOfHubTest(std::make_unique<Others>(), std::make_unique<History>(kept())) {}
  OrdersOfHubTest(std::unique_ptr<Others> others, std::unique_ptr<History> history)
      : HubTest(options(*others, *history)),
        others_(std::move(others)),
        history_(std::move(history)) {}
  ~OrdersOfHubTest() override { members_.clear(); }
  static HistoryOptions kept() { return {.messages_max = 2}; }
  static HubOptions options(Others& others, History& history) {
    HubOptions made = small_options();
    made.names = &others;
    made.history = &history;
    return made;
  }
  void decide(bool granted) {
    const auto [token, name] = others_->asked.back();
    hub().order(
        {.kind = HubOrder::Kind::decide_name, .count = token, .granted = granted, .name = name});
    end_turn();
  }

  const std::unique_ptr<Others> others_;
  const std::unique_ptr<History> history_;
};

TEST_F(OrdersOfHubTest, messages_that_were_missed_are_told_to_the_members_of_the_room_and_counted) {
  TestMember& first = add();
  TestMember& elsewhere = add("red");
  hub().order({.kind = HubOrder::Kind::miss, .room = first.room(), .count = 3});
  hub().order({.kind = HubOrder::Kind::miss, .room = first.room(), .count = 1});
  EXPECT_EQ(turns_[0].posted(), 1U) << "one doorbell for all that waits";
  EXPECT_TRUE(first.outbox().empty());
  end_turn();
  EXPECT_EQ(first.take(),
            "* 3 messages were lost on the way from another server\n"
            "* 1 message was lost on the way from another server\n");
  EXPECT_EQ(elsewhere.take(), "");
  EXPECT_EQ(hub().counters().of(Loss::bus).value(), 4U);
}

TEST_F(OrdersOfHubTest, behind_a_backlog_what_was_missed_is_told_when_that_moves) {
  TestMember& sender = add();
  TestMember& slow = add();
  for (int turn = 0; turn < 40 && slow.backlog().empty(); ++turn) {
    hub().publish(sender, std::string(8000, 'x'));
    end_turn();
  }
  ASSERT_FALSE(slow.backlog().empty());
  hub().order({.kind = HubOrder::Kind::miss, .room = slow.room(), .count = 2});
  end_turn();
  const std::string before = slow.take(slow.outbox().pending());
  EXPECT_EQ(before.find("lost"), std::string::npos);
  const std::string behind = slow.take_all();
  EXPECT_EQ(behind.find("* 2 messages were lost on the way from another server\n"), 0U);
  EXPECT_NE(behind.find("xxx\n"), std::string::npos);
  (void)sender.take_all();
}

TEST_F(OrdersOfHubTest, of_a_room_that_has_ended_nobody_is_told) {
  TestMember& member = add("red");
  const RoomKey before = member.room();
  ASSERT_TRUE(hub().join(member, "blue"));
  TestMember& other = add("red");
  ASSERT_NE(other.room(), before);
  for (const HubOrder::Kind kind : {HubOrder::Kind::miss, HubOrder::Kind::recall}) {
    hub().order({.kind = kind, .room = before, .count = 3, .name = "a\n"});
    hub().order({.kind = kind, .room = {99, 1}, .count = 3, .name = "a\n"});
  }
  end_turn();
  EXPECT_EQ(member.take() + other.take(), "");
  EXPECT_EQ(hub().counters().of(Loss::bus).value(), 0U);
}

TEST_F(OrdersOfHubTest, a_name_is_given_once_the_others_have_agreed) {
  TestMember& ann = add();
  TestMember& reader = add();
  EXPECT_EQ(hub().rename(ann, "ann"), Naming::pending);
  EXPECT_TRUE(ann.claims_name());
  EXPECT_EQ(hub().rename(reader, "ann"), Naming::taken) << "it is kept for who asked first";
  hub().publish(ann, "not yet");
  end_turn();
  EXPECT_EQ(reader.take(), "[USER1] not yet\n");
  decide(true);
  EXPECT_FALSE(ann.claims_name());
  EXPECT_TRUE(ann.has_name());
  hub().publish(ann, "now");
  end_turn();
  EXPECT_EQ(reader.take(), "[ann] now\n");
  EXPECT_TRUE(others_->released.empty());
}

TEST_F(OrdersOfHubTest, a_name_that_is_refused_is_free_again_here) {
  TestMember& ann = add();
  EXPECT_EQ(hub().rename(ann, "ann"), Naming::pending);
  decide(false);
  EXPECT_FALSE(ann.has_name());
  EXPECT_FALSE(ann.claims_name());
  EXPECT_TRUE(others_->released.empty()) << "the others never gave it";
  EXPECT_EQ(hub().rename(ann, "ann"), Naming::pending);
  EXPECT_EQ(others_->asked.size(), 2U);
  decide(false);
}

TEST_F(OrdersOfHubTest, a_name_for_a_member_that_left_meanwhile_is_given_back) {
  TestMember& ann = add();
  EXPECT_EQ(hub().rename(ann, "ann"), Naming::pending);
  ann.remove(Loss::left);
  decide(true);
  EXPECT_EQ(others_->released, std::vector<std::string>{"ann"});
  EXPECT_TRUE(directory_.take_name("ann"));
  directory_.give_name("ann");
}

TEST_F(OrdersOfHubTest, a_name_that_another_server_gave_before_is_lost) {
  TestMember& ann = add();
  TestMember& reader = add();
  EXPECT_EQ(hub().rename(ann, "ann"), Naming::pending);
  decide(true);
  hub().order({.kind = HubOrder::Kind::lose_name, .name = "ann"});
  hub().order({.kind = HubOrder::Kind::lose_name, .name = "nobody"});
  end_turn();
  EXPECT_EQ(ann.name(), "USER1");
  hub().publish(ann, "hello");
  end_turn();
  EXPECT_EQ(reader.take(), "[USER1] hello\n");
  EXPECT_TRUE(others_->released.empty()) << "it is the other's";
}

TEST_F(OrdersOfHubTest, numbers_move_to_another_slot_and_names_stay) {
  directory_.set_numbering(100, 7);
  TestMember& first = add();
  TestMember& named = add();
  EXPECT_EQ(first.number(), 107U);
  EXPECT_EQ(hub().rename(named, "ann"), Naming::pending);
  decide(true);
  directory_.set_numbering(100, 9);
  TestMember& newer = add();
  hub().order({.kind = HubOrder::Kind::renumber, .count = 7, .other = 9, .stride = 100});
  end_turn();
  EXPECT_EQ(first.number(), 109U);
  EXPECT_EQ(first.name(), "USER109");
  EXPECT_EQ(named.number(), 209U);
  EXPECT_EQ(named.name(), "ann");
  EXPECT_EQ(newer.number(), 309U) << "it had the new slot already";
  EXPECT_EQ(directory_.who(lobby_name, 10)->names,
            (std::vector<std::string>{"USER109", "ann", "USER309"}));
}

TEST_F(OrdersOfHubTest, history_that_comes_late_is_for_those_who_were_told_none) {
  TestMember& first = add();
  hub().recall(first);
  EXPECT_EQ(first.take(), "") << "there is none yet";
  hub().publish(first, "a");
  end_turn();
  TestMember& second = add();
  hub().recall(second);
  EXPECT_EQ(second.take(), "* The last 1 message of this room:\n[USER1] a\n");
  hub().order({.kind = HubOrder::Kind::recall,
               .room = first.room(),
               .count = 2,
               .name = "[USER9] x\n[USER9] y\n"});
  end_turn();
  EXPECT_EQ(first.take(), "* The last 2 messages of this room:\n[USER9] x\n[USER9] y\n");
  EXPECT_EQ(second.take(), "");
}

TEST_F(OrdersOfHubTest, after_stop_nothing_is_done_and_nothing_posted) {
  TestMember& first = add();
  hub().order({.kind = HubOrder::Kind::miss, .room = first.room(), .count = 1});
  hub().stop();
  hub().order({.kind = HubOrder::Kind::miss, .room = first.room(), .count = 1});
  EXPECT_EQ(turns_[0].posted(), 1U);
  end_turn();
  EXPECT_EQ(first.take(), "");
  EXPECT_EQ(hub().counters().due.value(), 0U);
}

// For a reactor that is a thread.
class MailboxTurn final : public Turn {
 public:
  void defer(Message& message) noexcept override { mailbox.post(message); }
  void post(Message& message) noexcept override { mailbox.post(message); }
  void run() {
    for (Message* message = mailbox.take_all(); message != nullptr;) {
      Message* const next = message->next;
      message->run(*message);
      message = next;
    }
  }
  HeldMemory* memory() noexcept override { return &held; }
  Mailbox mailbox;
  HeldMemory held{1 << 20};
};

TEST(OrdersOfThreads, are_each_done_once_and_none_after_stop) {
  constexpr std::uint64_t orders = 2000;
  constexpr unsigned threads = 3;
  BlockPool blocks(4096, 64);
  Directory directory(10, 4, 1);
  MailboxTurn turn;
  Hub hub({}, directory, 0, turn);
  TestMember member(hub, blocks, directory.admit());
  ASSERT_TRUE(hub.join(member, lobby_name));
  std::vector<std::thread> all;
  for (unsigned index = 0; index < threads; ++index) {
    all.emplace_back([&hub, room = member.room()] {
      for (std::uint64_t count = 0; count < orders; ++count) {
        hub.order({.kind = HubOrder::Kind::miss, .room = room, .count = 1});
      }
    });
  }
  while (hub.counters().of(Loss::bus).value() < threads * orders) {
    turn.run();
    (void)member.take();
  }
  for (std::thread& each : all) each.join();
  turn.run();
  EXPECT_EQ(hub.counters().of(Loss::bus).value(), threads * orders);
  // One goes on ordering while the hub stops: nothing is posted that outlives it.
  std::thread late([&hub, room = member.room()] {
    for (std::uint64_t count = 0; count < orders; ++count) {
      hub.order({.kind = HubOrder::Kind::miss, .room = room, .count = 1});
    }
  });
  turn.run();
  hub.stop();
  turn.run();
  late.join();
  EXPECT_EQ(turn.mailbox.take_all(), nullptr);
  (void)member.take();
}

}  // namespace
}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
