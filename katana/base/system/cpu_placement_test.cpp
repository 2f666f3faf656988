#include "katana/base/system/cpu_placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace katana {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CpuList, is_numbers_and_ranges) {
  EXPECT_THAT(parse_cpu_list("0-3,8-11\n").value(), ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
  EXPECT_THAT(parse_cpu_list("5").value(), ElementsAre(5));
  EXPECT_THAT(parse_cpu_list("7,2-2,1-3").value(), ElementsAre(1, 2, 3, 7));
  EXPECT_THAT(parse_cpu_list("\n").value(), IsEmpty());  // a node of memory alone
}

TEST(CpuList, is_none_where_something_else_stands) {
  for (const char* const text : {",", "1,", ",1", "3-1", "1-", "-1", "1-2-3", "a", "0x1", "1 2",
                                 "0-99999999999", "4096", "0,,1", "0-3:1/2"}) {
    EXPECT_FALSE(parse_cpu_list(text)) << text;
  }
}

// A machine of files, as Linux shows it in /sys/devices/system.
class PlacementTest : public testing::Test {
 protected:
  PlacementTest() { std::filesystem::create_directories(root_); }
  ~PlacementTest() override { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text << "\n";
  }
  void node(int number, const std::string& cpus) const {
    write("node/node" + std::to_string(number) + "/cpulist", cpus);
  }
  void siblings(int cpu, const std::string& cpus) const {
    write("cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", cpus);
  }
  std::vector<int> place(unsigned count, const std::string& allowed) const {
    return place_reactors(count, parse_cpu_list(allowed).value(), read_numa_nodes(root_));
  }

  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) /
      ("placement_test_" +
       std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(PlacementTest, of_one_node_reactor_n_gets_the_nth_allowed_cpu) {
  node(0, "0-3");
  siblings(0, "0-1");
  siblings(1, "0-1");
  EXPECT_THAT(place(3, "0-3"), ElementsAre(0, 1, 2));
  EXPECT_THAT(place(5, "1,3"), ElementsAre(1, 3, 1, 3, 1));
  EXPECT_THAT(place(0, "0-3"), IsEmpty());
  EXPECT_THAT(place(2, ""), IsEmpty());
}

TEST_F(PlacementTest, without_sysfs_it_is_the_same) {
  EXPECT_THAT(read_numa_nodes(root_), IsEmpty());
  EXPECT_THAT(place(3, "2-5"), ElementsAre(2, 3, 4));
}

TEST_F(PlacementTest, reactors_that_fit_on_a_node_stay_together) {
  node(0, "0-3");
  node(1, "4-7");
  EXPECT_THAT(place(2, "0-7"), ElementsAre(0, 1));
  EXPECT_THAT(place(4, "0-7"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(place(2, "2-7"), ElementsAre(4, 5));  // where more are allowed
}

TEST_F(PlacementTest, more_are_dealt_over_the_nodes) {
  node(0, "0-3");
  node(1, "4-7");
  EXPECT_THAT(place(5, "0-7"), ElementsAre(0, 4, 1, 5, 2));
  EXPECT_THAT(place(8, "0-7"), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(place(10, "0-7"), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7, 0, 4));
}

TEST_F(PlacementTest, of_uneven_nodes_no_cpu_has_two_while_another_has_none) {
  node(0, "0-1");
  node(2, "2-6");
  node(3, "");  // of memory alone
  EXPECT_THAT(place(5, "0-6"), ElementsAre(2, 3, 4, 5, 6));
  EXPECT_THAT(place(7, "0-6"), ElementsAre(0, 2, 1, 3, 4, 5, 6));
}

TEST_F(PlacementTest, numbers_that_alternate_between_nodes_are_seen) {
  node(0, "0,2,4,6");
  node(1, "1,3,5,7");
  EXPECT_THAT(place(3, "0-7"), ElementsAre(0, 2, 4));
}

TEST_F(PlacementTest, a_node_that_the_affinity_excludes_is_left_alone) {
  node(0, "0-3");
  node(1, "4-7");
  EXPECT_THAT(place(3, "4-7"), ElementsAre(4, 5, 6));
  EXPECT_THAT(place(6, "4-7"), ElementsAre(4, 5, 6, 7, 4, 5));
}

TEST_F(PlacementTest, those_that_share_a_core_come_last_within_a_node) {
  node(0, "0-1,4-5");
  node(1, "2-3,6-7");
  for (const int cpu : {0, 1, 2, 3}) {
    const std::string both = std::to_string(cpu) + "," + std::to_string(cpu + 4);
    siblings(cpu, both);
    siblings(cpu + 4, both);
  }
  EXPECT_THAT(place(3, "0-7"), ElementsAre(0, 1, 4));
  EXPECT_THAT(place(8, "0-7"), ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  // The second of a core is its first where the first may not be used.
  EXPECT_THAT(place(5, "1-7"), ElementsAre(1, 2, 4, 3, 5));
}

TEST_F(PlacementTest, what_cannot_be_understood_is_no_topology) {
  node(0, "0-3");
  node(1, "four");
  EXPECT_THAT(place(6, "0-7"), ElementsAre(0, 1, 2, 3, 4, 5));
  node(1, "3-7");  // 3 is on both
  EXPECT_THAT(place(6, "0-7"), ElementsAre(0, 1, 2, 3, 4, 5));
  node(1, "4-6");  // 7 is on none
  EXPECT_THAT(place(6, "0-7"), ElementsAre(0, 1, 2, 3, 4, 5));
  std::filesystem::remove(root_ / "node/node1/cpulist");
  EXPECT_THAT(place(6, "0-7"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(PlacementTest, siblings_that_cannot_be_understood_and_other_files_are_passed_over) {
  node(0, "0-1");
  node(1, "2-3");
  siblings(0, "x");
  siblings(2, "0-1");  // not of itself
  write("node/possible", "0-1");
  write("node/nodes/cpulist", "9");
  EXPECT_THAT(place(4, "0-3"), ElementsAre(0, 2, 1, 3));
}

TEST_F(PlacementTest, it_is_told_by_cpu_and_node) {
  node(0, "0-3");
  node(1, "4-7");
  EXPECT_EQ(describe_placement({0, 4, 9}, read_numa_nodes(root_)), "0 (node 0), 4 (node 1), 9");
  EXPECT_EQ(describe_placement({0, 1}, {}), "0, 1");
  EXPECT_EQ(describe_placement({}, {}), "");
}

TEST(CpuBindingTest, lasts_as_long_as_it_lives_and_not_longer_when_something_throws) {
  std::thread([] {
    const std::vector<int> before = allowed_cpus();
    ASSERT_FALSE(before.empty());
    {
      const CpuBinding none(std::nullopt);
      EXPECT_EQ(allowed_cpus(), before);
      const CpuBinding refused(CPU_SETSIZE);
      EXPECT_EQ(allowed_cpus(), before);
    }
    try {
      const CpuBinding bound(before.back());
      EXPECT_THAT(allowed_cpus(), ElementsAre(before.back()));
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
      EXPECT_EQ(allowed_cpus(), before);
    }
    bind_to_cpus({});
    EXPECT_EQ(allowed_cpus(), before);
    bind_to_cpus({&before.front(), 1});
    EXPECT_THAT(allowed_cpus(), ElementsAre(before.front()));
  }).join();
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
