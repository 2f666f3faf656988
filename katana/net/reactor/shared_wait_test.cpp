// Waits across threads and executors: an event that happens once.
#include "katana/net/reactor/shared_wait.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task.hpp"

namespace katana::net {
namespace {

// An executor that runs its messages when the test asks for it.
class Home final : public Executor {
 public:
  Home() : outer_(enter(this)) {}
  ~Home() { enter(outer_); }
  void post(Message& message) noexcept override {
    const std::lock_guard lock(mutex_);
    posted_.push_back(&message);
  }
  void turn() {
    std::vector<Message*> messages;
    {
      const std::lock_guard lock(mutex_);
      messages = std::exchange(posted_, {});
    }
    for (Message* const each : messages) each->run(*each);
    end_turn();
  }

 private:
  Executor* const outer_;
  std::mutex mutex_;
  std::vector<Message*> posted_;
};

Task<void> await_event(std::shared_ptr<SharedEvent> event, int& woken) {
  const bool in_time = co_await event->wait();
  if (in_time) ++woken;
}

TEST(SharedEvent, lets_all_on_who_wait_and_who_come_later) {
  Home home;
  const auto event = std::make_shared<SharedEvent>();
  int woken = 0;
  auto first = await_event(event, woken), second = await_event(event, woken);
  EXPECT_FALSE(first.start());
  EXPECT_FALSE(second.start());
  EXPECT_EQ(home.expected(), 2u) << "its executor does not end before";
  event->set();
  EXPECT_EQ(woken, 0) << "nobody is resumed within the call";
  home.turn();
  EXPECT_EQ(woken, 2);
  EXPECT_EQ(home.expected(), 0u);
  auto late = await_event(event, woken);
  EXPECT_TRUE(late.start());
  EXPECT_EQ(woken, 3);
}

TEST(SharedEvent, is_set_by_another_thread) {
  Home home;
  const auto event = std::make_shared<SharedEvent>();
  int woken = 0;
  auto task = await_event(event, woken);
  EXPECT_FALSE(task.start());
  std::thread([event] { event->set(); }).join();
  home.turn();
  EXPECT_EQ(woken, 1);
}

TEST(SharedEvent, forgets_a_coroutine_that_is_destroyed_before_or_after_it_was_set) {
  Home home;
  const auto event = std::make_shared<SharedEvent>();
  int woken = 0;
  {
    auto before = await_event(event, woken);
    EXPECT_FALSE(before.start());
  }
  auto after = std::make_unique<Task<void>>(await_event(event, woken));
  EXPECT_FALSE(after->start());
  std::thread([event] { event->set(); }).join();
  after.reset();
  home.turn();
  EXPECT_EQ(woken, 0);
  EXPECT_EQ(home.expected(), 0u);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
