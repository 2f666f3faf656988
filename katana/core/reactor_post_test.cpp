#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "katana/core/reactor_fixture_test.hpp"

namespace katana::core {
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

}  // namespace
}  // namespace katana::core
