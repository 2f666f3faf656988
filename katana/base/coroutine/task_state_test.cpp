#include "katana/base/coroutine/task_state.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/coroutine/when.hpp"

namespace katana {
namespace {

// The functions and awaitables of a task and of all that it awaits, a line for each, indented by
// their depth.
class Shown final : public TaskVisitor {
 public:
  static std::vector<std::string> of(const TaskState& state) {
    Shown shown;
    shown.visit(state);
    return shown.lines_;
  }
  bool visit(const TaskState& state) override {
    if (!state.is_suspended()) return true;
    std::string line(depth_, ' ');
    line += state.awaits().empty() ? "task" : std::string(state.awaits());
    line += " at " + std::to_string(state.where().line());
    lines_.push_back(line);
    ++depth_;
    state.visit(*this);
    --depth_;
    return true;
  }

 private:
  std::vector<std::string> lines_;
  std::size_t depth_ = 0;
};

class TaskStateTest : public testing::Test, private Executor {
 protected:
  TaskStateTest() : outer_(enter(this)) {}
  ~TaskStateTest() override { enter(outer_); }
  void post(Message&) noexcept override {}
  void set(AsyncEvent& event) {
    event.set();
    end_turn();
  }

 private:
  Executor* const outer_;
};

std::string awaits_event(unsigned line) {
  return "katana::AsyncEvent::Waiter at " + std::to_string(line);
}
std::string task_at(unsigned line) { return "task at " + std::to_string(line); }

constexpr unsigned leaf_line = __LINE__ + 2;
Task<int> leaf(AsyncEvent& event) {
  co_await event.wait();
  co_return 1;
}
constexpr unsigned inner_line = __LINE__ + 2;
Task<int> inner(AsyncEvent& event) {
  const int first = co_await leaf(event);
  co_return first + 1;
}

TEST_F(TaskStateTest, tells_where_each_task_of_a_chain_waits) {
  AsyncEvent event;
  Task<int> task = inner(event);
  EXPECT_FALSE(task.state().is_suspended());
  task.start();
  EXPECT_EQ(Shown::of(task.state()),
            (std::vector<std::string>{task_at(inner_line), " " + awaits_event(leaf_line)}));
  EXPECT_NE(std::string(task.state().where().file_name()).find("task_state_test"),
            std::string::npos);
  EXPECT_NE(std::string(task.state().where().function_name()).find("inner"), std::string::npos);
  set(event);
  EXPECT_TRUE(task.done());
  EXPECT_FALSE(task.state().is_suspended());
  EXPECT_EQ(task.result(), 2);
}

constexpr unsigned ready_line = __LINE__ + 3;
Task<void> passes_one(AsyncEvent& first, AsyncEvent& second) {
  co_await first.wait();
  co_await second.wait();
}

TEST_F(TaskStateTest, a_wait_that_does_not_suspend_is_not_noted) {
  AsyncEvent first;
  AsyncEvent second;
  set(first);
  Task<void> task = passes_one(first, second);
  task.start();
  EXPECT_EQ(Shown::of(task.state()), (std::vector<std::string>{awaits_event(ready_line)}));
  set(second);
  EXPECT_TRUE(task.done());
}

constexpr unsigned all_line = __LINE__ + 2;
Task<void> several(AsyncEvent& one, AsyncEvent& other) {
  co_await when_all(leaf(one), inner(other));
}

TEST_F(TaskStateTest, tells_the_tasks_that_run_at_once) {
  AsyncEvent one;
  AsyncEvent other;
  Task<void> task = several(one, other);
  task.start();
  const std::vector<std::string> both = Shown::of(task.state());
  ASSERT_EQ(both.size(), 4u);
  EXPECT_NE(both[0].find("AllOfTuple"), std::string::npos) << both[0];
  EXPECT_TRUE(both[0].ends_with(" at " + std::to_string(all_line))) << both[0];
  EXPECT_EQ(both[1], " " + awaits_event(leaf_line));
  EXPECT_EQ(both[2], " " + task_at(inner_line));
  EXPECT_EQ(both[3], "  " + awaits_event(leaf_line));
  set(one);
  EXPECT_EQ(Shown::of(task.state()).size(), 3u);  // the first has ended
  set(other);
  EXPECT_TRUE(task.done());
}

TEST_F(TaskStateTest, tells_the_turn_in_which_it_was_suspended) {
  AsyncEvent event;
  current_turn_began = Instant{7};
  Task<int> task = leaf(event);
  task.start();
  current_turn_began = Instant{9};
  EXPECT_EQ(task.state().since(), Instant{7});
  current_turn_began = {};
}

TEST_F(TaskStateTest, a_started_task_is_listed_until_it_ends) {
  AsyncEvent event;
  Task<int> task = leaf(event);
  task.start();
  auto& list = *ThreadLists<StartedTask>::own();
  const auto count = [&] {
    int listed = 0;
    list.for_each(
        [&](const StartedTask& each) { return listed += &each.state() == &task.state(), true; });
    return listed;
  };
  EXPECT_EQ(count(), 0);
  const Activity activity{.name = "42"};
  {
    const StartedTask started(task.state(), &activity);
    EXPECT_EQ(count(), 1);
    EXPECT_EQ(started.activity(), &activity);
  }
  EXPECT_EQ(count(), 0);
  StartedTask ended(task.state(), nullptr);
  ended.end();
  EXPECT_EQ(count(), 0);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
