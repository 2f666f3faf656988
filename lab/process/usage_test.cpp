#include "lab/process/usage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace katana::lab {
namespace {

void work_for(std::int64_t cpu_ns) {
  const std::int64_t end_ns = thread_cpu_ns() + cpu_ns;
  while (thread_cpu_ns() < end_ns) {
  }
}

TEST(Usage, work_shows_in_the_time_of_thread_and_process_alike) {
  const std::int64_t own_before = own_cpu_ns();
  const double before_s = process_cpu_s(::getpid());
  work_for(20'000'000);
  EXPECT_GE(own_cpu_ns() - own_before, 20'000'000);
  EXPECT_GE(process_cpu_s(::getpid()) - before_s, 0.02);
  EXPECT_GE(machine_busy_s(), 0.02);
  EXPECT_GE(thread_run_delay_ns(), 0);
}

TEST(Usage, memory_and_descriptors_are_those_of_the_process) {
  const Usage before = usage_of(::getpid());
  const std::vector<char> touched(32u << 20, 'x');
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Usage after = usage_of(::getpid());
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(touched.back(), 'x');
  EXPECT_GE(after.rss_mib, before.rss_mib + 30);
  EXPECT_GE(after.anonymous_mib, before.anonymous_mib + 30);
  EXPECT_GE(after.rss_mib_max, after.rss_mib);
  EXPECT_EQ(after.descriptors, before.descriptors + 2);
}

TEST(Usage, a_process_that_is_gone_has_used_nothing) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(process_cpu_s(child), 0);
  EXPECT_EQ(usage_of(child).rss_mib, 0);
  EXPECT_EQ(usage_of(child).descriptors, 0u);
  EXPECT_FALSE(ProcessCounters(child).read_counts());
}

TEST(Usage, sums_are_of_every_figure) {
  Usage sum{1, 2, 3, 1, 4, 5};
  sum.add({10, 20, 30, 10, 40, 50});
  EXPECT_EQ(sum.cpu_s, 11);
  EXPECT_EQ(sum.rss_mib, 22);
  EXPECT_EQ(sum.rss_mib_max, 33);
  EXPECT_EQ(sum.anonymous_mib, 11);
  EXPECT_EQ(sum.written_bytes, 44u);
  EXPECT_EQ(sum.descriptors, 55u);
}

TEST(HardwareCounter, a_machine_that_counts_counts_more_for_more_work) {
  const HardwareCounter counter(Event::instructions);
  const auto before = counter.read_count();
  work_for(1'000'000);
  const auto counted = counted_between(before, counter.read_count());
  if (!counted) GTEST_SKIP() << "this machine does not count instructions, or does not show us";
  EXPECT_GT(*counted, 1000);
}

TEST(HardwareCounter, a_counter_that_stood_still_has_counted_nothing) {
  EXPECT_FALSE(counted_between(std::nullopt, 1.0));
  EXPECT_FALSE(counted_between(0.0, 0.0));
  EXPECT_EQ(counted_between(1.0, 3.0), 2.0);
}

}  // namespace
}  // namespace katana::lab

// SPDX-License-Identifier: Apache-2.0
