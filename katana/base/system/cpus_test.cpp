#include "katana/base/system/cpus.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace katana {
namespace {

class QuotaTest : public testing::Test {
 protected:
  QuotaTest() { std::filesystem::create_directories(root_ / "a/b"); }
  ~QuotaTest() override { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name) << text << "\n";
  }
  unsigned quota() const { return detail::quota_cpus(root_ / "membership", root_); }

  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) /
      ("quota_test_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(QuotaTest, the_smallest_limit_of_all_groups_around_counts) {
  write("membership", "12:cpuset:/old\n0::/a/b");
  EXPECT_EQ(quota(), 0u);
  write("a/b/cpu.max", "max 100000");
  EXPECT_EQ(quota(), 0u);
  write("a/cpu.max", "400000 100000");
  EXPECT_EQ(quota(), 4u);
  write("a/b/cpu.max", "150000 100000");
  EXPECT_EQ(quota(), 2u);
  write("cpu.max", "50000 100000");
  EXPECT_EQ(quota(), 1u);
}

TEST_F(QuotaTest, a_container_sees_its_own_group_as_the_root) {
  write("membership", "0::/");
  write("cpu.max", "300000 100000");
  EXPECT_EQ(quota(), 3u);
}

TEST_F(QuotaTest, what_cannot_be_understood_is_no_limit) {
  write("cpu.max", "300000 100000");
  EXPECT_EQ(quota(), 3u);  // without a membership the root alone
  for (const char* const text :
       {"", "max", "-1 100000", "0 100000", "100000 0", "100000 -5", "many few"}) {
    write("cpu.max", text);
    EXPECT_EQ(quota(), 0u) << text;
  }
  write("cpu.max", "9223372036854775807 1");
  EXPECT_EQ(quota(), static_cast<unsigned>(CPU_SETSIZE));
}

TEST(Cpus, a_thread_that_may_run_on_one_has_one) {
  EXPECT_GE(usable_cpus(), 1u);
  unsigned counted = 0;
  std::thread([&] {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    CPU_ZERO(&allowed);
    CPU_SET(first, &allowed);
    ASSERT_EQ(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    counted = usable_cpus();
  }).join();
  EXPECT_EQ(counted, 1u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
