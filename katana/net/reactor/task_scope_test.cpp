// Tasks in their own scope, and those of a reactor, in virtual time.
#include "katana/net/reactor/task_scope.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "katana/net/reactor/reactor_fixture_test.hpp"
#include "katana/net/reactor/spawn.hpp"

namespace katana::net {
namespace {

struct KeptFailures final : FailureObserver {
  void on_failure(const Failure& failure) noexcept override {
    lines.push_back(describe(failure));
    ids.emplace_back(failure.request_id);
  }
  std::vector<std::string> lines, ids;
};

Task<void> note_then(std::vector<std::string>& notes, std::string name, Duration pause) {
  notes.push_back(name + " began");
  co_await sleep_for(pause);
  notes.push_back(name + " ended");
}
Task<void> throw_after(Duration pause) {
  co_await sleep_for(pause);
  throw std::runtime_error("no disk");
}
Task<Result<void>> fail_after(Duration pause) {
  co_await sleep_for(pause);
  co_return fail(Code::unavailable, "no mail server");
}
Task<void> join_then(TaskScope& scope, bool& joined) {
  co_await scope.join();
  joined = true;
}

class TaskScopeTest : public ReactorTest {
 protected:
  void turn_for(Duration time) { turn(time); }
  void drain() {
    world_.accepting = false;
    reactor().request_drain(seconds(10));
  }
  KeptFailures failures;
  std::vector<std::string> notes;
};

TEST_F(TaskScopeTest, tasks_run_side_by_side_and_join_waits_for_all_of_them) {
  turn();
  TaskScope scope;
  bool joined = false;
  ASSERT_TRUE(scope.spawn(note_then(notes, "a", milliseconds(20))));
  ASSERT_TRUE(scope.spawn(note_then(notes, "b", milliseconds(10))));
  auto waiting = join_then(scope, joined);
  waiting.start();
  EXPECT_EQ(scope.size(), 2u);
  turn_for(milliseconds(10));
  EXPECT_FALSE(joined);
  turn_for(milliseconds(10));
  EXPECT_TRUE(joined);
  EXPECT_EQ(notes, (std::vector<std::string>{"a began", "b began", "b ended", "a ended"}));
  EXPECT_EQ(scope.counts().spawned, 2u);
}

TEST_F(TaskScopeTest, a_scope_without_tasks_is_joined_at_once) {
  turn();
  TaskScope scope;
  bool joined = false;
  join_then(scope, joined).start();
  EXPECT_TRUE(joined);
}

TEST_F(TaskScopeTest, what_leaves_a_task_is_told_with_its_name_and_its_request_and_counted) {
  turn();
  TaskScope scope({.failures = &failures});
  {
    const Activity request{.name = "r-17"};
    const ActivityScope as(&request);
    ASSERT_TRUE(scope.spawn(throw_after(milliseconds(1)), "audit"));
  }
  ASSERT_TRUE(scope.spawn(fail_after(Duration{}), "notify"));  // ends within the call
  turn_for(milliseconds(1));
  EXPECT_EQ(failures.lines,
            (std::vector<std::string>{"notify: it failed: no mail server",
                                      "audit: it threw: std::runtime_error: no disk"}));
  EXPECT_EQ(failures.ids, (std::vector<std::string>{"", "r-17"}));
  EXPECT_EQ(scope.counts().failed, 2u);
  EXPECT_EQ(scope.size(), 0u);
}

TEST_F(TaskScopeTest, a_full_scope_says_its_limit_and_takes_more_when_one_has_ended) {
  turn();
  TaskScope scope({.tasks_max = 1});
  ASSERT_TRUE(scope.spawn(note_then(notes, "a", milliseconds(1))));
  const auto refused = scope.spawn(note_then(notes, "b", milliseconds(1)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::resource_exhausted);
  EXPECT_EQ(refused.error().message(),
            "1 spawned tasks are running, which is the limit (tasks_max)");
  EXPECT_EQ(notes.size(), 1u);  // b did not begin
  turn_for(milliseconds(1));
  EXPECT_TRUE(scope.spawn(note_then(notes, "c", milliseconds(1))));
  EXPECT_EQ(scope.counts().refused, 1u);
}

TEST_F(TaskScopeTest, a_scope_that_is_destroyed_cancels_its_tasks_and_their_pauses) {
  turn();
  {
    TaskScope scope;
    ASSERT_TRUE(scope.spawn(note_then(notes, "a", milliseconds(10))));
  }
  turn_for(milliseconds(10));
  EXPECT_EQ(notes, (std::vector<std::string>{"a began"}));
}

struct SpawnsAtItsEnd {
  TaskScope& scope;
  std::vector<std::string>& notes;
  ~SpawnsAtItsEnd() {
    if (!scope.spawn(note_then(notes, "late", Duration{}))) notes.push_back("refused");
  }
};
Task<void> hold_one(TaskScope& scope, std::vector<std::string>& notes) {
  const SpawnsAtItsEnd held{scope, notes};
  co_await sleep_for(seconds(1));
}

TEST_F(TaskScopeTest, what_a_cancelled_task_spawns_is_refused) {
  turn();
  TaskScope scope;
  ASSERT_TRUE(scope.spawn(hold_one(scope, notes)));
  EXPECT_EQ(scope.cancel(), 1u);
  EXPECT_EQ(notes, (std::vector<std::string>{"refused"}));
  EXPECT_TRUE(scope.spawn(note_then(notes, "a", Duration{})));  // it was cancelled, not closed
}

TEST_F(TaskScopeTest, a_reactor_that_drains_waits_for_what_was_spawned_on_it) {
  turn();
  ASSERT_TRUE(spawn(note_then(notes, "a", milliseconds(50))));
  drain();
  turn();
  EXPECT_FALSE(reactor().stopped());
  ASSERT_TRUE(spawn(note_then(notes, "b", milliseconds(60))));  // requests in flight may still
  turn_for(milliseconds(50));
  EXPECT_FALSE(reactor().stopped());
  turn_for(milliseconds(10));
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(reactor().tasks().counts().cancelled, 0u);
}

TEST_F(TaskScopeTest, what_has_not_ended_at_the_drain_deadline_is_cancelled_and_counted) {
  turn();
  ASSERT_TRUE(spawn(note_then(notes, "a", seconds(60))));
  drain();
  turn();
  turn_for(seconds(10));
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(reactor().tasks().counts().cancelled, 1u);
  EXPECT_EQ(notes, (std::vector<std::string>{"a began"}));
}

Task<void> poll(std::vector<std::string>& notes) {
  while (co_await sleep_unless_draining(seconds(30))) notes.push_back("looked");
}

TEST_F(TaskScopeTest, a_loop_that_pauses_unless_draining_ends_with_the_reactor) {
  turn();
  ASSERT_TRUE(spawn(poll(notes)));
  turn_for(seconds(30));
  turn_for(seconds(30));
  drain();
  turn();
  turn();
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(notes, (std::vector<std::string>{"looked", "looked"}));
  EXPECT_EQ(reactor().tasks().counts().cancelled, 0u);
}

TEST_F(TaskScopeTest, a_stop_cancels_at_once) {
  turn();
  ASSERT_TRUE(spawn(note_then(notes, "a", seconds(60))));
  reactor().request_stop();
  turn();
  EXPECT_TRUE(reactor().stopped());
  EXPECT_EQ(reactor().tasks().counts().cancelled, 1u);
}

TEST(TaskScopeMisuse, spawn_without_a_reactor_says_what_to_do) {
  std::vector<std::string> notes;
  try {
    (void)spawn(note_then(notes, "a", Duration{}));
    FAIL();
  } catch (const std::logic_error& thrown) {
    EXPECT_NE(std::string(thrown.what()).find("Application::spawn()"), std::string::npos);
  }
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
