#include "katana/observe/metrics/process.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "exposition_reader_test.hpp"
#include "katana/observe/metrics/exposition.hpp"

namespace katana::metrics {
namespace {

// A proc of the test, whose figures are known.
class ProcessTest : public testing::Test {
 protected:
  ProcessTest() {
    std::filesystem::create_directories(root + "/self/fd");
    write("stat", "cpu 1 2 3\nintr btime 5\nbtime 1700000000\nprocesses 9\n");
    write("self/stat",
          "42 (odd) name (x) S 1 42 42 0 -1 4194560 10 0 0 0 150 50 0 0 20 0 7 0 1000 "
          "1048576 25 18446744073709551615 1 1\n");
    write("self/limits",
          "Limit                     Soft Limit           Hard Limit           Units\n"
          "Max open files            1024                 524288               files\n");
    for (const char* fd : {"0", "1", "2", "3"}) write(std::string("self/fd/") + fd, "x");
  }
  ~ProcessTest() override { std::filesystem::remove_all(root); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(root + "/" + name) << text;
  }
  std::string refusal() {
    const auto read = read_process(root, {100, 4096});
    return read ? "accepted" : read.error().describe();
  }
  const std::string root =
      testing::TempDir() + "katana_process_test_" +
      std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
};

TEST_F(ProcessTest, figures_are_those_of_proc_even_when_the_name_has_parentheses) {
  const auto statistics = read_process(root, {100, 4096});
  ASSERT_TRUE(statistics) << statistics.error().describe();
  EXPECT_EQ(statistics->cpu_seconds, 2.0);
  EXPECT_EQ(statistics->start_time_seconds, 1'700'000'010.0);
  EXPECT_EQ(statistics->virtual_bytes, 1'048'576.0);
  EXPECT_EQ(statistics->resident_bytes, 25.0 * 4096);
  EXPECT_EQ(statistics->threads, 7.0);
  EXPECT_EQ(statistics->open_fds, 3.0);
  EXPECT_EQ(statistics->max_fds, 1024.0);
}

TEST_F(ProcessTest, an_unlimited_number_of_descriptors_is_infinite) {
  write("self/limits",
        "Max open files            unlimited            unlimited            files\n");
  EXPECT_EQ(read_process(root, {100, 4096})->max_fds, HUGE_VAL);
}

TEST_F(ProcessTest, a_file_that_is_missing_or_malformed_is_named) {
  write("self/limits", "Max open files   many\n");
  EXPECT_NE(refusal().find("self/limits' does not have the format"), std::string::npos)
      << refusal();
  std::filesystem::remove(root + "/self/limits");
  EXPECT_NE(refusal().find("cannot read '" + root + "/self/limits'"), std::string::npos);
  write("self/stat", "42 (x) S 1 2\n");
  EXPECT_NE(refusal().find("self/stat' does not have the format"), std::string::npos);
  write("stat", "cpu 1\n");
  write("self/stat", "1 (x) S 1 42 42 0 -1 4 10 0 0 0 150 50 0 0 20 0 7 0 1000 1048576 25\n");
  EXPECT_NE(refusal().find(root + "/stat' does not have the format"), std::string::npos)
      << refusal();
}

TEST_F(ProcessTest, without_proc_registering_is_an_error) {
  Registry registry;
  const auto added = add_process_metrics(registry, root + "/nowhere");
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().describe().find("process metrics: cannot read"), std::string::npos);
}

TEST_F(ProcessTest, is_read_anew_at_each_scrape_and_keeps_the_last_value_when_it_cannot_be) {
  Registry registry;
  ASSERT_TRUE(add_process_metrics(registry, root));
  const auto descriptors = [&] {
    std::string text;
    write_exposition(registry, Format::open_metrics, text);
    const ExpositionReader reader(text, Format::open_metrics);
    EXPECT_EQ(reader.errors, "");
    return reader.value("process_open_fds");
  };
  EXPECT_EQ(descriptors(), 3);
  write("self/fd/4", "x");
  EXPECT_EQ(descriptors(), 4);
  std::filesystem::remove(root + "/self/stat");
  EXPECT_EQ(descriptors(), 4);
}

TEST(Process, of_this_machine_has_sensible_figures) {
  const auto statistics = read_process();
  ASSERT_TRUE(statistics) << statistics.error().describe();
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_GT(statistics->resident_bytes, 1e6);
  EXPECT_GT(statistics->virtual_bytes, statistics->resident_bytes);
  EXPECT_GE(statistics->threads, 1);
  EXPECT_GE(statistics->open_fds, 1);
  EXPECT_GE(statistics->max_fds, statistics->open_fds);
  EXPECT_NEAR(statistics->start_time_seconds, now, 3600);
}

}  // namespace
}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
