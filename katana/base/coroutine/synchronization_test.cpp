#include "katana/base/coroutine/synchronization.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"

namespace katana {
namespace {

class SynchronizationTest : public testing::Test, private Executor {
 protected:
  SynchronizationTest() : outer_(enter(this)) {}
  ~SynchronizationTest() override { enter(outer_); }
  void post(Message&) noexcept override {}
  void turn() { end_turn(); }

  Task<void> pass(AsyncEvent& event, char name) {
    co_await event.wait();
    said += name;
  }
  Task<void> hold(AsyncSemaphore& semaphore, AsyncEvent& until, char name) {
    const auto permit = co_await semaphore.acquire();
    said += name;
    co_await until.wait();
  }
  Task<void> put(AsyncChannel<int>& channel, int value) {
    said += co_await channel.send(value) ? '+' : '!';
  }
  Task<void> get(AsyncChannel<int>& channel) {
    const auto value = co_await channel.receive();
    said += value ? std::to_string(*value) : "-";
  }
  template <class T>
  static std::optional<Task<T>> begun(Task<T> task) {
    task.start();
    return task;
  }

  std::string said;

 private:
  Executor* outer_;
};

TEST_F(SynchronizationTest, an_event_lets_on_who_waits_at_the_end_of_the_turn) {
  AsyncEvent event;
  auto first = begun(pass(event, 'a')), second = begun(pass(event, 'b'));
  event.set();
  EXPECT_EQ(said, "");  // no call runs code of others
  turn();
  EXPECT_EQ(said, "ab");
  auto third = begun(pass(event, 'c'));
  EXPECT_EQ(said, "abc");  // it is set
  event.reset();
  auto fourth = begun(pass(event, 'd'));
  turn();
  EXPECT_EQ(said, "abc");
  fourth.reset();
  event.set();
  turn();
  EXPECT_EQ(said, "abc");
}

TEST_F(SynchronizationTest, who_is_destroyed_after_it_was_let_on_does_not_go_on) {
  AsyncEvent event;
  auto first = begun(pass(event, 'a')), second = begun(pass(event, 'b'));
  event.set();
  first.reset();
  turn();
  EXPECT_EQ(said, "b");
}

TEST_F(SynchronizationTest, a_semaphore_serves_in_the_order_of_the_calls) {
  AsyncEvent end;
  AsyncSemaphore semaphore(1);
  auto a = begun(hold(semaphore, end, 'a')), b = begun(hold(semaphore, end, 'b'));
  auto c = begun(hold(semaphore, end, 'c'));
  EXPECT_EQ(said, "a");
  EXPECT_EQ(semaphore.waiting(), 2u);
  EXPECT_FALSE(semaphore.try_acquire());
  a.reset();
  EXPECT_FALSE(semaphore.try_acquire());  // it is b's already
  turn();
  EXPECT_EQ(said, "ab");
  end.set();
  turn();
  EXPECT_EQ(said, "abc");
  EXPECT_EQ(semaphore.permits(), 1u);
}

TEST_F(SynchronizationTest, a_permit_of_who_is_destroyed_before_it_used_it_goes_to_the_next) {
  AsyncEvent end;
  AsyncSemaphore semaphore(1);
  auto a = begun(hold(semaphore, end, 'a')), b = begun(hold(semaphore, end, 'b'));
  auto c = begun(hold(semaphore, end, 'c'));
  a.reset();
  b.reset();  // let on, and gone
  turn();
  EXPECT_EQ(said, "ac");
  c.reset();
  EXPECT_EQ(semaphore.permits(), 1u);
}

TEST_F(SynchronizationTest, a_mutex_has_one_holder) {
  AsyncMutex mutex;
  auto lock = mutex.try_lock();
  EXPECT_TRUE(lock);
  EXPECT_FALSE(mutex.try_lock());
  lock.reset();
  EXPECT_TRUE(mutex.try_lock());
}

TEST_F(SynchronizationTest, a_channel_gives_values_in_order_and_makes_senders_wait) {
  AsyncChannel<int> channel(2);
  std::vector<std::optional<Task<void>>> tasks;
  for (int value = 1; value <= 4; ++value) tasks.push_back(begun(put(channel, value)));
  turn();
  EXPECT_EQ(said, "++");
  EXPECT_EQ(channel.size(), 2u);
  for (int count = 0; count < 5; ++count) {
    tasks.push_back(begun(get(channel)));
    turn();
    turn();
  }
  EXPECT_EQ(said, "++1+2+34");  // and one waits
  tasks.push_back(begun(put(channel, 5)));
  turn();
  turn();
  EXPECT_EQ(said, "++1+2+34+5");
}

TEST_F(SynchronizationTest, a_closed_channel_gives_what_it_took_and_takes_no_more) {
  AsyncChannel<int> channel(1);
  std::vector<std::optional<Task<void>>> tasks;
  for (int value = 1; value <= 3; ++value) tasks.push_back(begun(put(channel, value)));
  channel.close();
  for (int count = 0; count < 4; ++count) turn();
  EXPECT_EQ(said, "+!!");
  for (int count = 0; count < 3; ++count) tasks.push_back(begun(get(channel)));
  for (int count = 0; count < 4; ++count) turn();
  EXPECT_EQ(said, "+!!1--");
  tasks.push_back(begun(put(channel, 4)));
  EXPECT_EQ(said, "+!!1--!");
}

TEST_F(SynchronizationTest, closing_lets_on_all_who_wait_for_values) {
  AsyncChannel<int> channel(1);
  auto first = begun(get(channel)), second = begun(get(channel));
  channel.close();
  for (int count = 0; count < 3; ++count) turn();
  EXPECT_EQ(said, "--");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
