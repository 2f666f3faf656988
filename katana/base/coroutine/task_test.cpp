#include "katana/base/coroutine/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/compiler_test.hpp"

namespace katana {
namespace {

// An awaitable that is resumed by hand, and that withdraws when its coroutine is destroyed.
struct Gate {
  std::coroutine_handle<> waiting;
  int withdrawn = 0;

  void open() { std::exchange(waiting, nullptr).resume(); }

  struct Awaiter {
    Gate& gate;
    bool suspended = false;
    explicit Awaiter(Gate& given) : gate(given) {}
    Awaiter(const Awaiter&) = delete;
    ~Awaiter() {
      if (!suspended || !gate.waiting) return;
      gate.waiting = nullptr;
      ++gate.withdrawn;
    }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) noexcept {
      suspended = true;
      gate.waiting = handle;
    }
    void await_resume() const noexcept {}
  };
  Awaiter operator co_await() { return Awaiter(*this); }
};

// Counts how many there are.
struct Local {
  explicit Local(int& count) : alive(&count) { ++*alive; }
  Local(const Local& other) : alive(other.alive) { ++*alive; }
  Local& operator=(const Local&) = delete;
  ~Local() { --*alive; }
  int* alive;
};

Task<int> value(int number) { co_return number; }
Task<void> nothing() { co_return; }
Task<int> thrower() {
  throw std::runtime_error("thrown");
  co_return 0;
}
Task<int> after(Gate& gate, int number) {
  co_await gate;
  co_return number;
}
Task<int> thrower_after(Gate& gate) {
  co_await gate;
  throw std::runtime_error("thrown late");
}

TEST(Task, does_nothing_until_it_is_started) {
  bool ran = false;
  const auto note = [](bool& done) -> Task<void> {
    done = true;
    co_return;
  };
  Task<void> task = note(ran);
  EXPECT_FALSE(ran);
  EXPECT_TRUE(task.start());
  EXPECT_TRUE(ran);
}

TEST(Task, yields_its_value) {
  Task<int> task = value(7);
  ASSERT_TRUE(task.start());
  EXPECT_TRUE(task.done());
  EXPECT_EQ(task.result(), 7);
}

TEST(Task, yields_a_value_that_can_only_be_moved) {
  const auto make = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); };
  Task<std::unique_ptr<int>> task = make();
  ASSERT_TRUE(task.start());
  EXPECT_EQ(*task.result(), 5);
}

TEST(Task, yields_a_value_written_as_braces) {
  struct Pair {
    int first = 0;
    int second = 0;
  };
  const auto make = []() -> Task<Pair> { co_return {3, 4}; };
  Task<Pair> task = make();
  ASSERT_TRUE(task.start());
  EXPECT_EQ(task.result().second, 4);
}

TEST(Task, an_exception_before_the_first_suspension_comes_out_of_result) {
  Task<int> task = thrower();
  ASSERT_TRUE(task.start());
  EXPECT_THROW(task.result(), std::runtime_error);
}

TEST(Task, an_exception_after_a_suspension_comes_out_of_result) {
  Gate gate;
  Task<int> task = thrower_after(gate);
  ASSERT_FALSE(task.start());
  gate.open();
  ASSERT_TRUE(task.done());
  EXPECT_THROW(task.result(), std::runtime_error);
}

TEST(Task, suspends_and_goes_on_where_it_waited) {
  Gate gate;
  Task<int> task = after(gate, 9);
  EXPECT_FALSE(task.start());
  EXPECT_FALSE(task.done());
  gate.open();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.result(), 9);
}

TEST(Task, awaits_other_tasks_that_end_at_once_or_later) {
  Gate gate;
  const auto sum = [](Gate& given) -> Task<int> {
    const int first = co_await value(1);
    const int second = co_await after(given, 10);
    co_await nothing();
    co_return first + second + co_await value(100);
  };
  Task<int> task = sum(gate);
  ASSERT_FALSE(task.start());
  gate.open();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.result(), 111);
}

TEST(Task, an_exception_of_an_awaited_task_can_be_caught) {
  const auto careful = []() -> Task<std::string> {
    try {
      co_await thrower();
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
    co_return "nothing was thrown";
  };
  Task<std::string> task = careful();
  ASSERT_TRUE(task.start());
  EXPECT_EQ(task.result(), "thrown");
}

TEST(Task, an_exception_passes_through_every_task_that_awaits) {
  Gate gate;
  const auto inner = [](Gate& given) -> Task<int> { co_return co_await thrower_after(given); };
  const auto outer = [&inner](Gate& given) -> Task<int> { co_return co_await inner(given); };
  Task<int> task = outer(gate);
  ASSERT_FALSE(task.start());
  gate.open();
  ASSERT_TRUE(task.done());
  EXPECT_THROW(task.result(), std::runtime_error);
}

Task<int> countdown(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await countdown(depth - 1);
}

TEST(Task, nests_deeply) {
  Task<int> task = countdown(500);
  ASSERT_TRUE(task.start());
  EXPECT_EQ(task.result(), 500);
}

TEST(Task, a_condition_may_await) {
  const auto choose = [](int number) -> Task<std::string> {
    if (const int got = co_await value(number); got > 10) co_return "large";
    for (int left = co_await value(3); left > co_await value(1);) left = co_await value(left - 1);
    co_return co_await value(number) > 5 ? "middle" : "small";
  };
  for (const auto& [number, expected] :
       {std::pair{20, "large"}, std::pair{7, "middle"}, std::pair{1, "small"}}) {
    Task<std::string> task = choose(number);
    ASSERT_TRUE(task.start());
    EXPECT_EQ(task.result(), expected);
  }
}

// ---- cancellation ----

Task<void> inner_steps(Gate& gate, int& alive) {
  const Local local(alive);
  co_await gate;
  const Local later(alive);
  co_await gate;
}

Task<void> outer_steps(Gate& gate, int& alive, Local parameter) {
  const Local local(alive);
  co_await gate;
  {
    const Local scoped(alive);
    co_await gate;
  }
  co_await inner_steps(gate, alive);
  const auto owned = std::make_unique<Local>(alive);
  co_await gate;
  (void)parameter;
}

constexpr int suspensions = 5;

TEST(Task, destroyed_at_any_suspension_it_destroys_every_local_and_withdraws_what_it_awaited) {
  for (int stop = 0; stop <= suspensions; ++stop) {
    Gate gate;
    int alive = 0;
    {
      Task<void> task = outer_steps(gate, alive, Local(alive));
      EXPECT_EQ(alive, 1);  // the parameter, in the frame
      bool done = task.start();
      for (int step = 0; step < stop; ++step) {
        ASSERT_FALSE(done);
        gate.open();
        done = task.done();
      }
      EXPECT_EQ(done, stop == suspensions);
    }
    EXPECT_EQ(alive, 0) << "destroyed at suspension " << stop;
    EXPECT_EQ(gate.withdrawn, stop == suspensions ? 0 : 1);
    EXPECT_FALSE(gate.waiting);
  }
}

TEST(Task, destroyed_before_it_is_started_it_destroys_its_parameters) {
  Gate gate;
  int alive = 0;
  {
    const Task<void> task = outer_steps(gate, alive, Local(alive));
  }
  EXPECT_EQ(alive, 0);
}

TEST(Task, an_exception_destroys_the_locals_of_every_frame_it_passes) {
  Gate gate;
  int alive = 0;
  const auto inner = [](Gate& given, int& count) -> Task<int> {
    const Local local(count);
    co_return co_await thrower_after(given);
  };
  Task<int> task = inner(gate, alive);
  ASSERT_FALSE(task.start());
  EXPECT_EQ(alive, 1);
  gate.open();
  EXPECT_EQ(alive, 0);
  EXPECT_THROW(task.result(), std::runtime_error);
}

// ---- moves, and the call at the end ----

TEST(Task, may_be_moved_while_it_is_suspended) {
  Gate gate;
  Task<int> task = after(gate, 3);
  ASSERT_FALSE(task.start());
  Task<int> moved = std::move(task);
  Task<int> assigned = value(0);
  assigned = std::move(moved);
  gate.open();
  ASSERT_TRUE(assigned.done());
  EXPECT_EQ(assigned.result(), 3);
}

struct Owner {
  std::optional<Task<int>> task;
  int calls = 0;
  int result = 0;
  bool destroys = false;

  static void on_done(void* self) noexcept {
    Owner& owner = *static_cast<Owner*>(self);
    ++owner.calls;
    owner.result = owner.task->result();
    if (owner.destroys) owner.task.reset();
  }
};

TEST(Task, tells_its_owner_when_it_ends) {
  Gate gate;
  Owner owner;
  owner.task.emplace(after(gate, 12));
  ASSERT_FALSE(owner.task->start());
  owner.task->on_done(&Owner::on_done, &owner);
  EXPECT_EQ(owner.calls, 0);
  gate.open();
  EXPECT_EQ(owner.calls, 1);
  EXPECT_EQ(owner.result, 12);
  EXPECT_TRUE(owner.task->done());
}

TEST(Task, may_be_destroyed_by_the_owner_that_it_tells) {
  Gate gate;
  Owner owner{.task = after(gate, 13), .destroys = true};
  ASSERT_FALSE(owner.task->start());
  owner.task->on_done(&Owner::on_done, &owner);
  gate.open();
  EXPECT_EQ(owner.result, 13);
  EXPECT_FALSE(owner.task.has_value());
}

TEST(Task, may_be_destroyed_by_its_owner_when_a_nested_task_ended_it) {
  Gate gate;
  const auto nested = [](Gate& given) -> Task<int> { co_return 1 + co_await after(given, 13); };
  Owner owner{.task = nested(gate), .destroys = true};
  ASSERT_FALSE(owner.task->start());
  owner.task->on_done(&Owner::on_done, &owner);
  gate.open();
  EXPECT_EQ(owner.result, 14);
  EXPECT_FALSE(owner.task.has_value());
}

TEST(TaskDeathTest, asking_for_the_result_of_a_task_that_is_not_done_is_the_callers_mistake) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Gate gate;
  Task<int> task = after(gate, 1);
  ASSERT_FALSE(task.start());
  EXPECT_DEATH((void)task.result(), "REQUIRE failed");
}

TEST(TaskDeathTest, a_task_is_started_once) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Task<int> task = value(1);
  ASSERT_TRUE(task.start());
  EXPECT_DEATH(task.start(), "REQUIRE failed");
}

// ---- what must not compile ----

Compiled compile_coroutine(const std::string& parameters) {
  return compile(
      "#include <string>\n#include <vector>\n#include \"katana/base/coroutine/task.hpp\"\n"
      "katana::Task<int> coroutine(" +
      parameters + ") { co_return 0; }\n");
}

TEST(Task, a_result_that_was_not_awaited_is_told_with_the_remedy) {
  if (compiler().empty()) GTEST_SKIP() << "no compiler is installed here";
  const auto compile_use = [](const std::string& use) {
    return compile(
        "#include <expected>\n#include <string>\n#include \"katana/base/coroutine/task.hpp\"\n"
        "struct User { int id; };\n"
        "katana::Task<std::expected<User, std::string>> find();\n"
        "katana::Task<int> use() { auto user = " +
        use + " co_return 0; }\n");
  };
  EXPECT_TRUE(compile_use("co_await find(); if (!user || user->id == 0) co_return 1;").good);
  for (const char* const use :
       {"if (!user) co_return 1;", "if (user) co_return 1;", "co_return user->id;", "(void)*user;",
        "(void)user.value();", "(void)user.error();"}) {
    const Compiled refused = compile_use(std::string("find(); ") + use);
    EXPECT_FALSE(refused.good) << use;
    EXPECT_NE(refused.output.find("write co_await before the call"), std::string::npos)
        << refused.output;
  }
}

TEST(Task, a_coroutine_that_takes_a_borrowed_view_does_not_compile) {
  if (compiler().empty()) GTEST_SKIP() << "no compiler is installed here";
  // The same source with owned parameters compiles: the borrowed ones are the reason of the
  // failure.
  const Compiled owned = compile_coroutine("std::string, std::vector<int>&");
  EXPECT_TRUE(owned.good) << owned.output;
  for (const char* const borrowed :
       {"std::string_view", "const std::string_view&", "int, std::span<const int>"}) {
    const Compiled refused = compile_coroutine(borrowed);
    EXPECT_FALSE(refused.good) << borrowed;
    EXPECT_NE(refused.output.find("a coroutine may not take a borrowed view"), std::string::npos)
        << refused.output;
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
