#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

struct Letter : Message {
  explicit Letter(Executor& to) : Message(&Letter::open), home(to) {}
  static void open(Message& message) noexcept {
    auto& letter = static_cast<Letter&>(message);
    letter.home.unexpect();
    letter.opened_by = std::this_thread::get_id();
  }
  Executor& home;
  std::thread::id opened_by;
};

TEST_F(ReactorTest, a_thread_that_turns_a_reactor_is_that_executor_s_until_it_is_gone) {
  turn();
  EXPECT_EQ(Executor::current(), &reactor());
  reactor_.reset();
  EXPECT_EQ(Executor::current(), nullptr);
}

TEST_F(ReactorTest, a_message_from_another_thread_runs_on_the_reactor_s) {
  Letter letter(reactor());
  reactor().expect();
  std::thread([&] { reactor().post(letter); }).join();
  EXPECT_TRUE(world_.woken);
  turn();
  EXPECT_EQ(letter.opened_by, std::this_thread::get_id());
  EXPECT_EQ(reactor().expected(), 0u);
}

TEST_F(ReactorTest, a_reactor_that_ends_first_receives_what_it_was_told_to_expect) {
  Letter first(reactor()), second(reactor());
  reactor().expect();
  reactor().expect();
  std::atomic<bool> ending = false;
  std::thread sender([&, to = &reactor()] {
    to->post(first);
    while (!ending) std::this_thread::yield();
    to->post(second);
  });
  ending = true;
  reactor_.reset();  // in the midst of it
  EXPECT_EQ(first.opened_by, std::this_thread::get_id());
  EXPECT_EQ(second.opened_by, std::this_thread::get_id());
  sender.join();
}

// Records that it ran, and asks for another if it was given one.
struct AtEnd : Message {
  AtEnd(Executor& on, std::string& order, char mark, AtEnd* more = nullptr)
      : Message(&AtEnd::act), executor(on), notes(order), name(mark), next_one(more) {}
  static void act(Message& message) noexcept {
    auto& self = static_cast<AtEnd&>(message);
    self.notes.push_back(self.name);
    if (self.next_one != nullptr) self.executor.at_turn_end(*self.next_one);
  }
  Executor& executor;
  std::string& notes;
  char name;
  AtEnd* next_one;
};

TEST_F(ReactorTest, what_is_due_at_the_end_of_a_turn_runs_after_the_rest_of_it_and_in_order) {
  std::string notes;
  AtEnd third(reactor(), notes, '3'), first(reactor(), notes, '1', &third);
  AtEnd second(reactor(), notes, '2'), never(reactor(), notes, 'x');
  world_.events.push_back([&] {
    for (AtEnd* each : {&first, &never, &second}) reactor().at_turn_end(*each);
    reactor().forget_at_turn_end(never);
    notes.push_back('0');
  });
  turn();
  EXPECT_EQ(notes, "0123");
  turn();
  EXPECT_EQ(notes, "0123") << "once";
}

TEST_F(ReactorTest, a_message_forgotten_last_leaves_room_for_the_next) {
  std::string notes;
  AtEnd first(reactor(), notes, '1'), last(reactor(), notes, 'x'), next(reactor(), notes, '2');
  reactor().at_turn_end(first);
  reactor().at_turn_end(last);
  reactor().forget_at_turn_end(last);
  reactor().at_turn_end(next);
  turn();
  EXPECT_EQ(notes, "12");
}

TEST_F(ReactorTest, what_is_kept_while_bytes_come_goes_before_the_reactor_waits) {
  connect();
  std::string notes;
  AtEnd kept(reactor(), notes, 'k');
  world_.events.push_back([&] { reactor().before_wait(kept); });
  bytes(0, "a");
  reactor().turn(milliseconds(50));
  for (int count = 0; count < 3; ++count) {
    bytes(0, "a");
    reactor().turn(milliseconds(50));
    EXPECT_EQ(world_.waited, Duration{}) << "it looks before it waits";
    EXPECT_EQ(notes, "");
  }
  reactor().turn(milliseconds(50));
  EXPECT_EQ(world_.waited, Duration{});
  EXPECT_EQ(notes, "k");
  reactor().turn(milliseconds(50));
  EXPECT_EQ(world_.waited, milliseconds(50));
  EXPECT_EQ(notes, "k") << "once";
}

TEST_F(ReactorTest, what_is_kept_goes_after_so_many_turns_even_if_bytes_never_end) {
  connect();
  std::string notes;
  AtEnd kept(reactor(), notes, 'k'), taken_back(reactor(), notes, 'x');
  world_.events.push_back([&] {
    reactor().before_wait(taken_back);
    reactor().before_wait(kept);
    reactor().forget_before_wait(taken_back);
  });
  for (unsigned count = 1; count < Executor::kept_turns_max; ++count) {
    bytes(0, "a");
    turn();
  }
  EXPECT_EQ(notes, "");
  bytes(0, "a");
  turn();
  EXPECT_EQ(notes, "k");
}

struct Later : Message {
  explicit Later(std::function<void()> what)
      : Message([](Message& message) noexcept { static_cast<Later&>(message).action(); }),
        action(std::move(what)) {}
  std::function<void()> action;
};

TEST_F(ReactorTest, what_is_deferred_runs_behind_all_input_of_the_turn_and_before_its_output) {
  TestSession& first = connect();
  TestSession& second = connect();
  std::string order;
  Later later([&] {
    order += "deferred ";
    EXPECT_TRUE(first.connection.outbox().write("to the first"));
    first.connection.wake();
    EXPECT_EQ(sent(0), "");
  });
  first.take = [&](Bytes input) {
    order += "first ";
    reactor().defer(later);
    return input.size();
  };
  second.take = [&](Bytes input) {
    order += "second ";
    return input.size();
  };
  bytes(0, "a");
  bytes(1, "b");
  turn();
  EXPECT_EQ(order, "first second deferred ");
  EXPECT_EQ(sent(0), "to the first");
}

TEST_F(ReactorTest, what_is_deferred_meanwhile_runs_in_the_next_turn_which_does_not_wait) {
  int runs = 0;
  Later again([&] { ++runs; });
  Later later([&] { reactor().defer(again); });
  reactor().defer(later);
  turn();
  EXPECT_EQ(runs, 0);
  turn();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(world_.waited, Duration{});
  turn();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(world_.waited, milliseconds(50));
}

class LookoutTest : public ReactorTest {
 protected:
  static ReactorOptions options() {
    ReactorOptions options = small_options();
    options.spin_max = microseconds(100);
    return options;
  }
  LookoutTest() : ReactorTest(options()) {}

  bool sleeps(Duration later) {
    turn(later);
    return world_.waited > Duration{};
  }
  void receive(Letter& letter) {
    reactor().post(letter);
    turn();
  }
};

TEST_F(LookoutTest, a_reactor_stays_awake_for_what_was_promised_and_no_longer_than_it_is_told) {
  EXPECT_TRUE(sleeps({})) << "nobody promised anything";
  Letter letter(reactor());
  reactor().expect();
  EXPECT_FALSE(sleeps({}));
  EXPECT_FALSE(sleeps(microseconds(60)));
  EXPECT_FALSE(sleeps(microseconds(60))) << "it learns the time in this turn";
  EXPECT_TRUE(sleeps({}));
  receive(letter);
}

TEST_F(LookoutTest, in_vain_it_is_not_kept_again_for_a_while) {
  Letter late(reactor()), soon(reactor()), again(reactor());
  reactor().expect();
  EXPECT_FALSE(sleeps({}));
  EXPECT_FALSE(sleeps(milliseconds(1)));
  EXPECT_TRUE(sleeps({}));
  receive(late);
  reactor().expect();
  EXPECT_TRUE(sleeps({}));
  receive(soon);
  turn(milliseconds(60));
  reactor().expect();
  EXPECT_FALSE(sleeps({}));
  receive(again);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
