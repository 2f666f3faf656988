#include "katana/net/reactor/sleep.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/compiler_test.hpp"
#include "katana/net/reactor/clock_fixture_test.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/net/reactor/timeout.hpp"

namespace katana::net {
namespace {

Task<void> note_after(Duration duration, int name, std::vector<int>& notes) {
  co_await sleep_for(duration);
  notes.push_back(name);
}

TEST(Sleep, a_coroutine_goes_on_at_its_time_and_not_before) {
  Clock clock;
  std::vector<int> notes;
  auto task = note_after(milliseconds(250), 1, notes);
  EXPECT_FALSE(task.start());
  clock.turn(milliseconds(249));
  EXPECT_FALSE(task.done());
  clock.turn(milliseconds(1));
  EXPECT_TRUE(task.done());
  EXPECT_EQ(notes, std::vector{1});
}

TEST(Sleep, a_pause_begins_when_it_is_awaited_and_not_when_the_turn_began) {
  Clock clock;
  clock.busy = milliseconds(5);
  std::vector<int> notes;
  auto task = note_after(milliseconds(10), 1, notes);
  EXPECT_FALSE(task.start());
  clock.turn(milliseconds(14));
  EXPECT_FALSE(task.done());
  clock.turn(milliseconds(1));
  EXPECT_TRUE(task.done());
}

TEST(Sleep, a_pause_of_nothing_does_not_suspend) {
  Clock clock;
  std::vector<int> notes;
  EXPECT_TRUE(note_after(Duration{}, 1, notes).start());
  EXPECT_TRUE(note_after(milliseconds(-1), 2, notes).start());
  EXPECT_EQ(notes, (std::vector{1, 2}));
}

TEST(Sleep, many_go_on_in_the_order_of_their_times) {
  Clock clock;
  std::vector<int> notes;
  std::vector<Task<void>> tasks;
  for (const int ms : {300, 20, 1'000, 7}) {
    tasks.push_back(note_after(milliseconds(ms), ms, notes));
    EXPECT_FALSE(tasks.back().start());
  }
  clock.turn(seconds(2));
  EXPECT_EQ(notes, (std::vector{7, 20, 300, 1'000}));
}

TEST(Sleep, destroying_the_coroutine_cancels_its_pause) {
  Clock clock;
  std::vector<int> notes;
  {
    auto task = note_after(milliseconds(10), 1, notes);
    EXPECT_FALSE(task.start());
    EXPECT_NE(clock.timers().next(), never);
  }
  EXPECT_EQ(clock.timers().next(), never);
  clock.turn(seconds(1));
  EXPECT_TRUE(notes.empty());
}

TEST(Sleep, a_pause_beyond_the_end_of_time_lasts_for_ever) {
  Clock clock;
  std::vector<int> notes;
  auto task = note_after(Duration{INT64_MAX}, 1, notes);
  EXPECT_FALSE(task.start());
  clock.turn(seconds(std::int64_t{100} * 366 * 24 * 3600));
  EXPECT_FALSE(task.done());
}

TEST(Sleep, its_reactor_is_nobody_s_current_one_once_it_is_gone) {
  {
    Clock clock;
    EXPECT_EQ(Reactor::current(), &clock);
  }
  EXPECT_EQ(Reactor::current(), nullptr);
}

TEST(SleepMisuse, without_a_reactor_it_is_an_exception_that_says_what_to_do) {
  auto task = []() -> Task<void> { co_await sleep_for(seconds(1)); }();
  ASSERT_TRUE(task.start());
  try {
    task.result();
    FAIL();
  } catch (const std::logic_error& thrown) {
    EXPECT_NE(std::string(thrown.what()).find("sleep_for() was awaited on a thread without a"),
              std::string::npos);
  }
}

TEST(SleepMisuse, a_pause_that_is_not_awaited_warns) {
  if (compiler().empty()) GTEST_SKIP() << "no compiler is installed here";
  const auto body = [](const char* line) {
    return compile(std::string("#include \"katana/base/coroutine/task.hpp\"\n"
                               "#include \"katana/net/reactor/sleep.hpp\"\n"
                               "#pragma GCC diagnostic error \"-Wunused-result\"\n"
                               "katana::Task<void> nap() { ") +
                   line + "katana::net::sleep_for(katana::seconds(1)); }\n");
  };
  const Compiled awaited = body("co_await ");
  EXPECT_TRUE(awaited.good) << awaited.output;
  const Compiled forgotten = body("co_await katana::net::sleep_for(katana::seconds(1)); ");
  EXPECT_FALSE(forgotten.good);
  EXPECT_NE(forgotten.output.find("nodiscard"), std::string::npos) << forgotten.output;
}

Task<int> after(Duration duration, int value) {
  co_await sleep_for(duration);
  if (value < 0) throw std::runtime_error("negative");
  co_return value;
}
Task<Result<int>> refused() { co_return fail(Code::not_found, "none"); }

TEST(WithTimeout, gives_the_value_of_what_ends_in_time) {
  Clock clock;
  auto task = with_timeout(after(milliseconds(10), 7), milliseconds(50));
  EXPECT_FALSE(task.start());
  clock.turn(milliseconds(10));
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.result(), 7);
  EXPECT_EQ(clock.timers().next(), never);  // nothing is left behind
}

TEST(WithTimeout, cancels_what_does_not_and_says_how_long_it_had) {
  Clock clock;
  auto task = with_timeout(after(milliseconds(100), 7), milliseconds(50));
  EXPECT_FALSE(task.start());
  clock.turn(milliseconds(50));
  ASSERT_TRUE(task.done());
  const auto result = task.result();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::deadline_exceeded);
  EXPECT_EQ(result.error().message(), "not done within 50 ms");
  EXPECT_EQ(clock.timers().next(), never);
}

// The time that is left for a coroutine, before and after a pause.
Task<void> look(Duration pause, std::vector<Duration>& left) {
  left.push_back(remaining_time().value_or(Duration{-1}));
  co_await sleep_for(pause);
  left.push_back(remaining_time().value_or(Duration{-1}));
}

TEST(Deadline, travels_with_a_coroutine_and_the_earliest_holds) {
  Clock clock;
  std::vector<Duration> left;
  auto inner = [&left]() -> Task<void> {
    (void)co_await with_timeout(look(milliseconds(10), left), seconds(60));  // the outer is earlier
    left.push_back(remaining_time().value_or(Duration{-1}));
  };
  auto task = with_timeout(inner(), milliseconds(50));
  EXPECT_FALSE(task.start());
  EXPECT_FALSE(remaining_time());  // of the thread, once the coroutine waits
  clock.turn(milliseconds(10));
  EXPECT_TRUE(task.done());
  EXPECT_EQ(left, (std::vector{milliseconds(50), milliseconds(40), milliseconds(40)}));
  EXPECT_FALSE(remaining_time());
}

TEST(Deadline, of_interleaved_coroutines_is_their_own) {
  Clock clock;
  std::vector<Duration> first, second, third;
  auto one = with_timeout(look(milliseconds(10), first), milliseconds(50));
  auto two = with_timeout(look(milliseconds(10), second), milliseconds(30));
  auto three = look(milliseconds(10), third);
  one.start();
  two.start();
  three.start();
  clock.turn(milliseconds(10));
  EXPECT_EQ(first, (std::vector{milliseconds(50), milliseconds(40)}));
  EXPECT_EQ(second, (std::vector{milliseconds(30), milliseconds(20)}));
  EXPECT_EQ(third, (std::vector{Duration{-1}, Duration{-1}}));
}

TEST(Deadline, a_spawned_task_has_none_of_the_task_that_spawned_it) {
  Clock clock;
  std::vector<Duration> left;
  auto spawner = [&]() -> Task<Result<void>> { co_return spawn(look(milliseconds(10), left)); };
  auto task = with_timeout(spawner(), milliseconds(50));
  EXPECT_TRUE(task.start());
  EXPECT_TRUE(task.result());
  clock.turn(milliseconds(10));
  EXPECT_EQ(left, (std::vector{Duration{-1}, Duration{-1}}));
}

TEST(Deadline, time_left_is_never_zero_and_no_more_than_the_own_limit) {
  const DeadlineScope time(Instant{milliseconds(50).ns});
  const Instant now{milliseconds(20).ns}, late{milliseconds(90).ns};
  EXPECT_EQ(time_left(now, seconds(1)), milliseconds(30));
  EXPECT_EQ(time_left(now, milliseconds(5)), milliseconds(5));
  EXPECT_EQ(time_left(now, {}), milliseconds(30));  // no separate limit
  EXPECT_EQ(time_left(late, seconds(1)), nanoseconds(1));
  const DeadlineScope none(never);
  EXPECT_EQ(time_left(now, seconds(1)), seconds(1));
  EXPECT_EQ(time_left(now, {}), Duration{});
}

TEST(WithTimeout, errors_and_exceptions_of_the_task_are_given) {
  Clock clock;
  auto task = with_timeout(refused(), milliseconds(50));
  EXPECT_TRUE(task.start());
  EXPECT_EQ(task.result().error().code(), Code::not_found);
  auto thrower = with_timeout(after(milliseconds(1), -1), milliseconds(50));
  EXPECT_FALSE(thrower.start());
  clock.turn(milliseconds(1));
  ASSERT_TRUE(thrower.done());
  EXPECT_THROW((void)thrower.result(), std::runtime_error);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
