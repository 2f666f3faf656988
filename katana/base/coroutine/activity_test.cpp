#include "katana/base/coroutine/activity.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"

namespace katana {
namespace {

// An awaitable: a coroutine waits until the test calls open().
class Door {
 public:
  void open() { std::exchange(waiting_, {}).resume(); }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiting_ = handle; }
  void await_resume() const noexcept {}

 private:
  Waiting waiting_;
};

class ActivityTest : public testing::Test {
 protected:
  // Notes the activity before and after each of two doors.
  Task<void> walk(Door& first, Door& second, std::vector<const Activity*>& seen) {
    seen.push_back(current_activity);
    co_await first;
    seen.push_back(current_activity);
    co_await inner(second, seen);
    seen.push_back(current_activity);
  }
  Task<void> inner(Door& door, std::vector<const Activity*>& seen) {
    co_await door;
    seen.push_back(current_activity);
  }
  static bool start(Task<void>& task, const Activity& activity) {
    const ActivityScope scope(&activity);
    return task.start();
  }

  const std::string route_ = "GET /a";
  Activity a_{nullptr, &route_, {}}, b_;
  Door a1_, a2_, b1_, b2_;
  std::vector<const Activity*> seen_a_, seen_b_;
};

TEST_F(ActivityTest, interleaved_coroutines_see_their_own_and_the_caller_sees_his) {
  Task<void> a = walk(a1_, a2_, seen_a_), b = walk(b1_, b2_, seen_b_);
  EXPECT_FALSE(start(a, a_));
  EXPECT_FALSE(start(b, b_));
  EXPECT_EQ(current_activity, nullptr);
  b1_.open();
  a1_.open();
  a2_.open();
  EXPECT_EQ(current_activity, nullptr);
  b2_.open();
  EXPECT_TRUE(a.done() && b.done());
  EXPECT_EQ(seen_a_, std::vector<const Activity*>(4, &a_));
  EXPECT_EQ(seen_b_, std::vector<const Activity*>(4, &b_));
}

TEST_F(ActivityTest, one_that_resumes_another_keeps_its_own) {
  Task<void> a = walk(a1_, a2_, seen_a_), without = walk(b1_, b2_, seen_b_);
  EXPECT_FALSE(start(a, a_));
  EXPECT_FALSE(without.start());
  const ActivityScope scope(&b_);
  a1_.open();
  EXPECT_EQ(current_activity, &b_);
  b1_.open();
  b2_.open();
  EXPECT_EQ(current_activity, &b_);
  EXPECT_EQ(seen_b_, std::vector<const Activity*>(4, nullptr));
}

class Here final : public Executor {
 public:
  Here() : before_(enter(this)) {}
  ~Here() { enter(before_); }
  void post(Message&) noexcept override {}

 private:
  Executor* before_;
};

TEST_F(ActivityTest, the_executor_is_at_the_site_of_the_activity_that_goes_on) {
  Here here;
  std::vector<const std::string*> sites;
  const auto look = [](Door& door, Executor& executor,
                       std::vector<const std::string*>& into) -> Task<void> {
    co_await door;
    into.push_back(executor.site());
  };
  Task<void> task = look(a1_, here, sites);
  EXPECT_FALSE(start(task, a_));
  EXPECT_EQ(here.site(), nullptr);
  a1_.open();
  EXPECT_EQ(sites, std::vector<const std::string*>{&route_});
  EXPECT_EQ(here.site(), nullptr);
  const SiteScope outer(&route_);
  EXPECT_EQ(here.site(), &route_);
}

TEST_F(ActivityTest,
       a_coroutine_that_waits_in_an_activity_which_it_entered_leaves_its_caller_none) {
  const auto enter = [this]() -> Task<void> {
    const ActivityScope scope(&a_);
    co_await a1_;
    EXPECT_EQ(current_activity, &a_);
  };
  Task<void> task = enter();
  EXPECT_FALSE(task.start());
  EXPECT_EQ(current_activity, nullptr);
  a1_.open();
  EXPECT_TRUE(task.done());
  EXPECT_EQ(current_activity, nullptr);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
