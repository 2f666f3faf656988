#include "katana/http/server/wait_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/coroutine/when.hpp"

namespace katana::server {
namespace {

class WaitSamplesTest : public testing::Test, private Executor {
 protected:
  WaitSamplesTest() : outer_(enter(this)) {}
  ~WaitSamplesTest() override { enter(outer_); }
  void post(Message&) noexcept override {}

  Task<void> leaf() { co_await never_set.wait(); }
  Task<void> below(std::size_t depth) {
    if (depth == 0) {
      co_await never_set.wait();
    } else {
      co_await below(depth - 1);
    }
  }
  Task<void> three() { co_await when_all(leaf(), leaf(), below(1)); }
  static Task<void> gather(std::vector<Task<void>> tasks) { co_await when_all(std::move(tasks)); }
  // Takes `times` samples of the task.
  void sample(Task<void> task, int times) {
    task.start();
    const StartedTask started(task.state(), current_activity);
    for (int time = 0; time < times; ++time) samples.add(started);
  }
  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const WaitSamples::Node& each : samples.nodes()) sum += each.count;
    return sum;
  }

  AsyncEvent never_set;
  WaitSamples samples;

 private:
  Executor* const outer_;
};

TEST_F(WaitSamplesTest, count_each_co_await_that_waits_for_no_task) {
  sample(below(2), 5);
  ASSERT_EQ(samples.nodes().size(), 3u);
  EXPECT_EQ(samples.nodes()[0].parent, WaitSamples::no_parent);
  EXPECT_EQ(samples.nodes()[1].parent, 0u);
  EXPECT_EQ(samples.nodes()[2].parent, 1u);
  EXPECT_EQ(samples.nodes()[0].count, 0);
  EXPECT_EQ(samples.nodes()[1].count, 0);
  EXPECT_EQ(samples.nodes()[2].count, 5);
  EXPECT_EQ(samples.nodes()[2].awaits, "katana::AsyncEvent::Waiter");
}

TEST_F(WaitSamplesTest, tasks_that_run_at_once_are_one_sample_each) {
  sample(three(), 2);
  EXPECT_EQ(total(), 6);
  // Two of the three have the same stack.
  std::int64_t most = 0;
  for (const auto& each : samples.nodes()) most = std::max(most, each.count);
  EXPECT_EQ(most, 4);
}

TEST_F(WaitSamplesTest, are_apart_for_each_route) {
  const std::string one = "GET /one";
  const std::string other = "GET /other";
  for (const std::string* const route : {&one, &other, &one}) {
    const Activity activity{.site = route};
    const ActivityScope as(&activity);
    sample(leaf(), 1);
  }
  ASSERT_EQ(samples.nodes().size(), 2u);
  EXPECT_EQ(samples.nodes()[0].route, &one);
  EXPECT_EQ(samples.nodes()[0].count, 2);
  EXPECT_EQ(samples.nodes()[1].count, 1);
}

TEST_F(WaitSamplesTest, a_deep_stack_counts_for_its_last_co_await_within_the_bound) {
  sample(below(2 * WaitSamples::depth_max), 3);
  EXPECT_EQ(samples.nodes().size(), WaitSamples::depth_max);
  EXPECT_EQ(samples.nodes().back().count, 3);
  EXPECT_EQ(total(), 3);
}

TEST_F(WaitSamplesTest, many_tasks_at_once_are_visited_up_to_a_bound) {
  std::vector<Task<void>> tasks;
  for (std::size_t number = 0; number < 3 * WaitSamples::visited_max; ++number) {
    tasks.push_back(leaf());
  }
  sample(gather(std::move(tasks)), 1);
  EXPECT_LT(total(), static_cast<std::int64_t>(WaitSamples::visited_max));
  EXPECT_GT(total(), 0);
  EXPECT_EQ(samples.lost(), 1u);
}

TEST_F(WaitSamplesTest, a_task_that_is_over_is_no_sample) {
  never_set.set();
  sample(leaf(), 1);
  EXPECT_EQ(total(), 0);
  EXPECT_EQ(samples.lost(), 0u);
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
