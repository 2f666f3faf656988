#include "katana/base/coroutine/when.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/synchronization.hpp"

namespace katana {
namespace {

class WhenTest : public testing::Test, private Executor {
 protected:
  WhenTest() : outer_(enter(this)) {}
  ~WhenTest() override { enter(outer_); }
  void post(Message&) noexcept override {}
  void turn() { end_turn(); }

  // Says when its frame is gone.
  struct Local {
    std::string& said;
    char name;
    ~Local() { said += name; }
  };
  Task<int> number(AsyncEvent& when, int value, char name) {
    const Local local{said, name};
    co_await when.wait();
    if (value < 0) throw std::runtime_error(std::to_string(value));
    co_return value;
  }
  Task<void> nothing(AsyncEvent& when) { co_await when.wait(); }

  AsyncEvent one, two;
  std::string said;

 private:
  Executor* outer_;
};

TEST_F(WhenTest, all_gives_the_values_of_all_in_their_order) {
  const auto both = [this]() -> Task<std::string> {
    auto [first, second, third] =
        co_await when_all(number(one, 1, 'a'), nothing(two), number(two, 3, 'c'));
    static_assert(std::is_same_v<decltype(second), std::monostate>);
    co_return std::to_string(first) + std::to_string(third);
  };
  auto task = both();
  task.start();
  two.set();
  turn();
  EXPECT_FALSE(task.done());
  one.set();
  turn();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.result(), "13");
}

TEST_F(WhenTest, all_of_what_is_ready_does_not_suspend) {
  one.set();
  const auto both = [this]() -> Task<int> {
    auto [first, second] = co_await when_all(number(one, 1, 'a'), number(one, 2, 'b'));
    co_return first + second;
  };
  auto task = both();
  EXPECT_TRUE(task.start());
  EXPECT_EQ(task.result(), 3);
}

TEST_F(WhenTest, all_of_none_is_ready) {
  const auto none = []() -> Task<std::size_t> {
    co_await when_all();
    co_return (co_await when_all(std::vector<Task<int>>())).size();
  };
  auto task = none();
  EXPECT_TRUE(task.start());
  EXPECT_EQ(task.result(), 0u);
}

TEST_F(WhenTest, the_first_failure_of_all_cancels_the_others_and_is_thrown) {
  const auto both = [this]() -> Task<std::string> {
    try {
      co_await when_all(number(one, 1, 'a'), number(two, -2, 'b'), number(one, 3, 'c'));
    } catch (const std::runtime_error& failure) {
      co_return said + failure.what();
    }
    co_return "";
  };
  auto task = both();
  task.start();
  two.set();
  turn();
  ASSERT_TRUE(task.done());
  const std::string text = task.result();
  EXPECT_TRUE(text.ends_with("-2") && text.contains('a') && text.contains('c')) << text;
  one.set();
  turn();  // no coroutine is left to go on
}

TEST_F(WhenTest, what_follows_a_failure_at_the_start_is_not_begun) {
  two.set();
  const auto both = [this]() -> Task<void> {
    co_await when_all(number(two, -1, 'a'), number(one, 2, 'b'));
  };
  auto task = both();
  EXPECT_TRUE(task.start());
  EXPECT_THROW(task.result(), std::runtime_error);
  EXPECT_EQ(said, "a");
}

TEST_F(WhenTest, all_of_a_vector_are_in_its_order) {
  const auto all = [this]() -> Task<std::vector<int>> {
    std::vector<Task<int>> tasks;
    for (int value = 0; value < 5; ++value) {
      tasks.push_back(number(value % 2 == 0 ? one : two, value, 'x'));
    }
    co_return co_await when_all(std::move(tasks));
  };
  auto task = all();
  task.start();
  two.set();
  turn();
  one.set();
  turn();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.result(), (std::vector{0, 1, 2, 3, 4}));
}

TEST_F(WhenTest, any_gives_the_first_and_cancels_the_others) {
  const auto any = [this]() -> Task<std::string> {
    const auto first = co_await when_any(number(one, 1, 'a'), number(two, 2, 'b'));
    co_return said + std::to_string(first.index()) + std::to_string(std::get<1>(first));
  };
  auto task = any();
  task.start();
  two.set();
  turn();
  ASSERT_TRUE(task.done());
  const std::string text = task.result();
  EXPECT_TRUE(text.ends_with("12")) << text;
  EXPECT_EQ(said.size(), 2u);
}

TEST_F(WhenTest, any_of_a_vector_says_which) {
  const auto any = [this]() -> Task<int> {
    std::vector<Task<int>> tasks;
    tasks.push_back(number(one, 10, 'a'));
    tasks.push_back(number(two, 20, 'b'));
    const auto [index, value] = co_await when_any(std::move(tasks));
    co_return static_cast<int>(index) + value;
  };
  auto task = any();
  task.start();
  two.set();
  turn();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.result(), 21);
}

TEST_F(WhenTest, a_failure_that_is_the_first_of_any_is_thrown) {
  const auto any = [this]() -> Task<void> {
    co_await when_any(number(one, 1, 'a'), number(two, -2, 'b'));
  };
  auto task = any();
  task.start();
  two.set();
  turn();
  ASSERT_TRUE(task.done());
  EXPECT_THROW(task.result(), std::runtime_error);
}

TEST_F(WhenTest, who_is_destroyed_takes_its_tasks_along) {
  const auto both = [this]() -> Task<void> {
    co_await when_all(number(one, 1, 'a'), number(two, 2, 'b'));
  };
  {
    auto task = both();
    task.start();
    one.set();
    turn();
    EXPECT_EQ(said, "a");
  }
  EXPECT_EQ(said, "ab");
  two.set();
  turn();
}

TEST_F(WhenTest, a_task_begins_in_the_activity_of_who_awaits_and_not_in_one_that_another_entered) {
  const Activity own, entered;
  std::vector<const Activity*> begun_in;
  const auto enter = [&]() -> Task<void> {
    begun_in.push_back(current_activity);
    const ActivityScope scope(&entered);
    co_await one.wait();
  };
  const auto both = [&]() -> Task<void> {
    co_await when_all(enter(), enter());
    begun_in.push_back(current_activity);
  };
  Task<void> task = both();
  {
    const ActivityScope scope(&own);
    EXPECT_FALSE(task.start());
    EXPECT_EQ(current_activity, &own);
  }
  one.set();
  turn();
  EXPECT_TRUE(task.done());
  EXPECT_EQ(begun_in, (std::vector<const Activity*>{&own, &own, &own}));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
