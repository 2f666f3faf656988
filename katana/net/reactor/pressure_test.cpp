// A reactor whose memory runs short: which connections wait, which are shed, and which go on.
#include <string>
#include <vector>

#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

// Held memory of 1 MiB: scarce above a half, pressed above 917,504 bytes, shed down to 786,432.
class HeldPressureTest : public ReactorTest {
 protected:
  static ReactorOptions options() {
    ReactorOptions options = small_options();
    options.held_bytes_max = std::size_t{1} << 20;
    options.shed_after = seconds(1);
    return options;
  }
  HeldPressureTest() : ReactorTest(options()) {}
  ~HeldPressureTest() override { reactor_.reset(); }

  HeldMemory& memory() { return reactor().memory(); }
  // A session that holds so many bytes, and gives all of them back when asked.
  TestSession& hold(std::size_t bytes) {
    TestSession& session = connect();
    HeldMemory& held = memory();
    held.set(Holder::request, session.held, bytes);
    session.at_memory_scarce = [&held, &session] {
      held.set(Holder::request, session.held, 0);
      return std::size_t{0};
    };
    session.at_destruction = [&held, &session] { held.set(Holder::request, session.held, 0); };
    return session;
  }
  // Its client sends a byte: the reactor then attends to it.
  void attend(std::uint32_t index) {
    bytes(index, "x");
    turn();
  }
};

TEST_F(HeldPressureTest, of_those_that_hold_much_one_goes_on_and_who_holds_little_is_not_slowed) {
  TestSession& first = hold(300'000);
  TestSession& second = hold(300'000);
  TestSession& small = hold(1'000);  // a 1024th of the bound is more
  attend(0);
  attend(1);
  attend(2);
  EXPECT_FALSE(first.connection.paused()) << "it sends at this moment";
  EXPECT_TRUE(second.connection.has(PauseReason::memory_low));
  EXPECT_FALSE(small.connection.paused());
  EXPECT_EQ(counters().memory_pauses, 1u);
  memory().set(Holder::request, first.held, 0);  // it has been answered
  turn();
  EXPECT_FALSE(second.connection.paused());
}

TEST_F(HeldPressureTest, who_does_not_come_to_an_end_keeps_nobody_waiting_a_second_time) {
  TestSession& first = hold(300'000);
  TestSession& second = hold(300'000);
  attend(0);
  attend(1);
  ASSERT_TRUE(second.connection.has(PauseReason::memory_low));
  turn(milliseconds(1001));
  turn();  // it is attended, and read again
  EXPECT_FALSE(second.connection.paused());
  attend(1);
  attend(0);
  EXPECT_FALSE(first.connection.paused()) << "slowing was given up";
  EXPECT_FALSE(second.connection.paused());
  // Until less is used.
  memory().set(Holder::request, first.held, 0);
  turn();
  memory().set(Holder::request, first.held, 300'000);
  attend(1);
  attend(0);
  EXPECT_TRUE(first.connection.has(PauseReason::memory_low));
}

TEST_F(HeldPressureTest, the_largest_are_shed_and_no_more_than_are_needed) {
  std::vector<TestSession*> holders;
  for (std::size_t number = 1; number <= 100; ++number) holders.push_back(&hold(185 * number));
  ASSERT_GT(memory().used(), 917'504u);
  attend(0);
  // The nine largest, which come last in the table of links.
  for (std::size_t index = 0; index < 100; ++index) {
    EXPECT_EQ(holders[index]->sheds, index >= 91 ? 1 : 0) << index;
  }
  EXPECT_LE(memory().used(), 786'432u);
  EXPECT_EQ(counters().memory_shed, 9u);
}

TEST_F(HeldPressureTest, who_holds_nothing_is_not_shed_for_what_cannot_be_given_up) {
  TestSession& idle = connect();
  TestSession& holder = hold(10'000);
  std::size_t work = 0;  // that cannot be ended
  memory().set(Holder::work, work, 950'000);
  attend(0);
  EXPECT_EQ(holder.sheds, 1);
  EXPECT_EQ(idle.sheds, 0);
  EXPECT_EQ(counters().memory_shed, 1u);
  memory().set(Holder::work, work, 0);
}

TEST_F(HeldPressureTest, what_goes_once_a_connection_is_attended_counts_as_gone) {
  std::vector<TestSession*> holders;
  for (int count = 0; count < 3; ++count) {
    TestSession& session = hold(310'000);
    session.at_memory_scarce = [&session] { return session.held; };  // its queue, with the link
    holders.push_back(&session);
  }
  attend(0);
  EXPECT_EQ(holders[0]->sheds + holders[1]->sheds + holders[2]->sheds, 1);
  EXPECT_EQ(counters().memory_shed, 1u);
}

TEST_F(HeldPressureTest, work_that_nobody_can_end_leaves_half_for_what_can_be_shed) {
  HeldCharge work(memory(), Holder::work);
  EXPECT_TRUE(work.grow(memory().bytes_max() / 2));
  EXPECT_FALSE(work.grow(memory().bytes_max() / 2 + 1));
  EXPECT_EQ(memory().refused(), 1u);
  std::size_t request = 0;
  EXPECT_TRUE(memory().grow(Holder::request, request, memory().bytes_max() / 2));
  EXPECT_FALSE(memory().takes(1));
  const HeldCharge moved = std::move(work);
  EXPECT_EQ(moved.bytes(), memory().bytes_max() / 2);
  EXPECT_EQ(memory().used(), memory().bytes_max());
  memory().set(Holder::request, request, 0);
}

// Output blocks of 512 bytes; 16 of them are for connections that have nothing pending.
class BlockPressureTest : public ReactorTest {
 protected:
  // Leaves so many blocks free when it returns.
  void leave_free(std::size_t blocks) {
    if (hoarder_ == nullptr) {
      hoarder_ = &connect();
      link_state(world_.links.size() - 1).writable = 0;
    }
    while (free_blocks() > blocks) {
      ASSERT_TRUE(hoarder_->connection.outbox().write(std::string(64, 'h')));
    }
    ASSERT_EQ(free_blocks(), blocks);
  }
  std::size_t free_blocks() { return 256 - reactor().memory_used().output / 512; }

 private:
  TestSession* hoarder_ = nullptr;
};

TEST_F(BlockPressureTest, at_the_reserve_a_connection_may_have_a_block_pending_and_below_it_none) {
  TestSession& other = connect();
  ASSERT_TRUE(other.connection.outbox().write("x"));
  leave_free(16);
  EXPECT_TRUE(other.connection.output_takes(100));
  EXPECT_EQ(other.connection.output_mark(), 512u);
  leave_free(15);
  EXPECT_FALSE(other.connection.output_takes(100));
}

TEST_F(BlockPressureTest, who_has_nothing_pending_gets_a_block_however_few_there_are) {
  TestSession& idle = connect();
  for (const std::size_t left : {15u, 4u, 1u}) {
    leave_free(left);
    EXPECT_TRUE(idle.connection.output_takes(400)) << left;
    EXPECT_FALSE(idle.connection.output_takes(4000)) << left;
  }
}

TEST_F(BlockPressureTest, below_the_reserve_a_source_is_asked_for_one_block_until_one_is_pending) {
  TestSession& idle = connect();
  leave_free(15);
  EXPECT_EQ(idle.connection.output_mark(), idle.connection.outbox().reserve_bytes_max());
  ASSERT_TRUE(idle.connection.outbox().write("x"));
  EXPECT_EQ(idle.connection.output_mark(), 0u);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
