// Sinks on real files: rotation, full disks, files that cannot be opened, and remains of a killed
// process.
#include "katana/observe/log/sink.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "katana/observe/log/log_fixture_test.hpp"

namespace katana::log {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t second_ns = 1'000'000'000;

// Gives a sink entries of "m N", without rings.
class SinkTest : public testing::Test {
 protected:
  SinkTest() {
    site.plan = Plan("m {}");
    site.logger = "s";
    site.pattern = "m {}";
    site.slots = slots;
    site.positional_slots = 1;
  }
  std::unique_ptr<Sink> open(SinkOptions options) {
    return std::make_unique<Sink>(std::move(options),
                                  [this](Bytes line) { reports.emplace_back(line); });
  }
  void write(Sink& sink, std::int64_t number, std::int64_t wall_ns = 0, Instant now = {}) {
    value.signed_integer = number;
    Entry entry;
    entry.site = &site;
    entry.wall_ns = wall_ns;
    entry.arguments = {&value, 1};
    entry.raw_arguments = {reinterpret_cast<const char*>(&value.signed_integer), 8};
    Bytes text;
    sink.write(entry, now, text);
  }
  static std::vector<std::string> messages(const std::string& path) {
    auto lines = lines_of(read_file(path));
    std::ranges::transform(lines, lines.begin(), without_time);
    return lines;
  }

  const Folder folder;
  const std::array<Slot, 1> slots = {{{Kind::signed_integer, {}}}};
  Site site;
  Value value{Kind::signed_integer};
  std::vector<std::string> reports;
};

TEST_F(SinkTest, a_file_gets_whole_lines_when_it_is_pushed) {
  const auto sink = open(file(folder / "a.log"));
  write(*sink, 1);
  EXPECT_EQ(read_file(folder / "a.log"), "");
  sink->push({});
  EXPECT_THAT(messages(folder / "a.log"), ElementsAre("info  s: m 1"));
  EXPECT_EQ(sink->written(), 1u);
}

TEST_F(SinkTest, a_file_is_for_its_owner_and_group_only) {
  const auto sink = open(file(folder / "a.log"));
  write(*sink, 1);
  sink->push({});
  struct stat facts{};
  ASSERT_EQ(stat((folder / "a.log").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07, 0u);
}

TEST_F(SinkTest, records_below_the_level_of_the_sink_are_not_for_it) {
  SinkOptions options = file(folder / "a.log");
  options.level = Level::warn;
  const auto sink = open(options);
  write(*sink, 1);
  site.level = Level::warn;
  write(*sink, 2);
  sink->push({});
  EXPECT_THAT(messages(folder / "a.log"), ElementsAre("warn  s: m 2"));
}

TEST_F(SinkTest, rotation_by_size_keeps_so_many_old_files_and_no_more) {
  Rotation rotation;
  rotation.bytes_max = 100;  // two lines of 41
  rotation.keep = 2;
  const auto sink = open(file(folder / "a.log", rotation));
  for (int number = 10; number < 20; ++number) write(*sink, number);
  sink->push({});
  EXPECT_THAT(messages(folder / "a.log"), ElementsAre("info  s: m 19"));
  EXPECT_THAT(messages(folder / "a.log.1"),
              ElementsAre("info  s: m 16", "info  s: m 17", "info  s: m 18"));
  EXPECT_THAT(messages(folder / "a.log.2"),
              ElementsAre("info  s: m 13", "info  s: m 14", "info  s: m 15"));
  EXPECT_EQ(read_file(folder / "a.log.3"), "");
  EXPECT_EQ(sink->written(), 10u);
}

TEST_F(SinkTest, rotation_by_time_begins_a_file_with_the_first_record_of_a_period) {
  Rotation rotation;
  rotation.period = seconds(60);
  const auto sink = open(file(folder / "a.log", rotation));
  write(*sink, 1, 59 * second_ns);
  write(*sink, 2, 60 * second_ns - 1);
  write(*sink, 3, 60 * second_ns);
  write(*sink, 4, 59 * second_ns);  // late: it does not go back
  write(*sink, 5, 600 * second_ns);
  sink->push({});
  EXPECT_THAT(messages(folder / "a.log"), ElementsAre("info  s: m 5"));
  EXPECT_THAT(messages(folder / "a.log.1"), ElementsAre("info  s: m 3", "info  s: m 4"));
  EXPECT_THAT(messages(folder / "a.log.2"), ElementsAre("info  s: m 1", "info  s: m 2"));
}

TEST_F(SinkTest, a_file_of_an_earlier_period_is_rotated_after_a_restart) {
  std::ofstream(folder / "a.log") << "old\n";
  const timespec times[2] = {{30, 0}, {30, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, (folder / "a.log").c_str(), times, 0), 0);
  Rotation rotation;
  rotation.period = seconds(60);
  const auto sink = open(file(folder / "a.log", rotation));
  write(*sink, 1, 61 * second_ns);
  sink->push({});
  EXPECT_EQ(read_file(folder / "a.log.1"), "old\n");
  EXPECT_THAT(messages(folder / "a.log"), ElementsAre("info  s: m 1"));
}

TEST_F(SinkTest, that_cannot_rotate_says_so_once_and_goes_on_in_its_file) {
  std::filesystem::create_directories(folder / "a.log.1/not empty");
  Rotation rotation;
  rotation.bytes_max = 1;
  rotation.keep = 1;
  const auto sink = open(file(folder / "a.log", rotation));
  for (int number = 0; number < 5; ++number) write(*sink, number);
  sink->push({});
  EXPECT_EQ(messages(folder / "a.log").size(), 5u);
  EXPECT_THAT(reports, ElementsAre(HasSubstr("not rotated: rename to")));
}

TEST_F(SinkTest, a_full_disk_is_reported_once_and_what_is_lost_is_counted) {
  const auto sink = open(file("/dev/full"));
  for (int number = 0; number < 5; ++number) {
    write(*sink, number, 0, {number * second_ns});
    sink->push({number * second_ns});
  }
  EXPECT_THAT(reports, ElementsAre(StartsWith("katana log: /dev/full: write: No space left")));
  EXPECT_EQ(sink->lost(), 5u);
  EXPECT_EQ(sink->written(), 0u);
  EXPECT_FALSE(sink->take_recovery());
}

TEST_F(SinkTest, a_path_that_becomes_writable_is_found_and_the_loss_is_told) {
  const auto sink = open(file(folder / "later/a.log"));
  write(*sink, 1, 0, {0});
  write(*sink, 2, 0, {second_ns / 2});
  EXPECT_THAT(reports, ElementsAre(HasSubstr("later/a.log: open: No such file or directory")));
  std::filesystem::create_directory(folder / "later");
  write(*sink, 3, 0, {second_ns / 2});  // too early to try again
  EXPECT_FALSE(std::filesystem::exists(folder / "later/a.log"));
  write(*sink, 4, 0, {second_ns});
  sink->push({second_ns});
  EXPECT_THAT(messages(folder / "later/a.log"), ElementsAre("info  s: m 4"));
  const auto recovery = sink->take_recovery();
  ASSERT_TRUE(recovery);
  EXPECT_EQ(recovery->lost, 3u);
  EXPECT_EQ(recovery->reason, "open: No such file or directory");
  EXPECT_FALSE(sink->take_recovery());
  EXPECT_EQ(reports.size(), 1u);
}

TEST_F(SinkTest, failing_again_is_reported_again) {
  auto output = std::make_shared<MemoryOutput>();
  SinkOptions options;
  options.output = output;
  const auto sink = open(options);
  for (int failure = 0; failure < 2; ++failure) {
    const Instant now = {failure * 10 * second_ns};
    output->refuses_write = true;
    write(*sink, 1, 0, now);
    sink->push(now);
    output->refuses_write = false;
    write(*sink, 2, 0, now + seconds(2));
    sink->push(now + seconds(2));
    EXPECT_TRUE(sink->take_recovery());
  }
  EXPECT_EQ(reports.size(), 2u);
  EXPECT_EQ(lines_of(output->text()).size(), 2u);
}

TEST_F(SinkTest, half_a_batch_that_reached_a_full_disk_is_taken_back) {
  struct Limited {  // the process may write no file longer than this
    explicit Limited(rlim_t bytes) {
      getrlimit(RLIMIT_FSIZE, &before);
      const rlimit limit = {bytes, before.rlim_max};
      signal(SIGXFSZ, SIG_IGN);
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~Limited() { setrlimit(RLIMIT_FSIZE, &before); }
    rlimit before{};
  };
  const auto sink = open(file(folder / "a.log"));
  write(*sink, 1);
  sink->push({});
  {
    const Limited limited(100);
    for (int number = 2; number < 6; ++number) write(*sink, number);
    sink->push({});
  }
  EXPECT_EQ(sink->lost(), 4u);
  EXPECT_THAT(reports, ElementsAre(HasSubstr("File too large")));
  write(*sink, 6, 0, {2 * second_ns});
  sink->push({2 * second_ns});
  EXPECT_THAT(messages(folder / "a.log"), ElementsAre("info  s: m 1", "info  s: m 6"));
}

TEST_F(SinkTest, a_text_file_that_ends_inside_a_line_is_gone_on_with_in_a_new_one) {
  std::ofstream(folder / "a.log") << "whole\nhal";
  const auto sink = open(file(folder / "a.log"));
  write(*sink, 1);
  sink->push({});
  const auto lines = lines_of(read_file(folder / "a.log"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "hal");
}

TEST_F(SinkTest, a_json_file_that_ends_inside_a_record_loses_that_half) {
  std::ofstream(folder / "a.json") << "{\"time\":\"1\"}\n{\"time\":\"2";
  const auto sink = open(json_file(folder / "a.json"));
  write(*sink, 1);
  sink->push({});
  EXPECT_THAT(lines_of(read_file(folder / "a.json")),
              ElementsAre("{\"time\":\"1\"}", HasSubstr("\"message\":\"m 1\"")));
}

TEST_F(SinkTest, a_file_that_somebody_moved_is_made_again_by_reopen) {
  const auto sink = open(file(folder / "a.log"));
  write(*sink, 1);
  sink->push({});
  std::filesystem::rename(folder / "a.log", folder / "moved.log");
  write(*sink, 2);
  sink->reopen({});
  write(*sink, 3);
  sink->push({});
  EXPECT_THAT(messages(folder / "moved.log"), ElementsAre("info  s: m 1", "info  s: m 2"));
  EXPECT_THAT(messages(folder / "a.log"), ElementsAre("info  s: m 3"));
}

// Slow and stalled outputs: their runner does a job when the test asks for it.
class SlowSinkTest : public SinkTest {
 protected:
  std::unique_ptr<Sink> open_held(SinkOptions options) {
    auto made = std::make_unique<HeldRunner>(options.output, options.layout);
    runner = made.get();
    return std::make_unique<Sink>(
        std::move(options), [this](Bytes line) { reports.emplace_back(line); }, std::move(made));
  }
  SinkOptions small() {
    SinkOptions options;
    options.output = output;
    options.buffer_bytes = 82;  // two lines of 41
    options.queue_bytes_max = 820;
    options.when_slow = WhenSlow::drop;
    return options;
  }
  std::size_t lines() const { return lines_of(output->text()).size(); }

  std::shared_ptr<MemoryOutput> output = std::make_shared<MemoryOutput>();
  HeldRunner* runner = nullptr;
};

TEST_F(SlowSinkTest, an_output_that_takes_nothing_costs_its_queue_and_never_waits) {
  const auto sink = open_held(small());
  for (int number = 10; number < 60; ++number) write(*sink, number);
  // Seven eighths of 820 bytes are 18 lines of 41.
  EXPECT_EQ(sink->dropped(), 32u);
  EXPECT_EQ(sink->waiting(), 18u);
  EXPECT_THAT(runner->waited, testing::IsEmpty());
  EXPECT_THAT(reports, ElementsAre(HasSubstr("memory: it is slower than the log")));
  runner->run_all();
  sink->push({});
  EXPECT_EQ(lines(), 18u);
  EXPECT_EQ(sink->written(), 18u);
}

TEST_F(SlowSinkTest, what_is_not_taken_when_the_log_ends_counts_as_lost) {
  const auto sink = open_held(small());
  for (int number = 10; number < 20; ++number) write(*sink, number);
  EXPECT_EQ(sink->lost(), 0u);
  sink->abandon();
  EXPECT_EQ(sink->lost(), 10u);
  EXPECT_EQ(sink->waiting(), 0u);
}

TEST_F(SlowSinkTest, the_last_eighth_of_the_queue_is_for_warnings) {
  const auto sink = open_held(small());
  for (int number = 10; number < 60; ++number) write(*sink, number);
  site.level = Level::error;
  write(*sink, 60);
  EXPECT_EQ(sink->dropped(), 32u);
  for (int number = 61; number < 99; ++number) write(*sink, number);
  EXPECT_EQ(sink->waiting(), 20u);
  EXPECT_EQ(sink->dropped(), 32u + 37u);
}

TEST_F(SlowSinkTest, what_was_dropped_is_told_once_half_of_the_queue_is_free) {
  const auto sink = open_held(small());
  for (int number = 10; number < 60; ++number) write(*sink, number);
  const auto slowness = sink->take_slowness();
  ASSERT_TRUE(slowness);
  EXPECT_EQ(slowness->reason, "it is slower than the log");
  EXPECT_FALSE(sink->take_slowness());
  runner->run(2);  // the opening, and two lines
  sink->push({});
  EXPECT_FALSE(sink->take_recovery());
  write(*sink, 60);
  EXPECT_EQ(sink->dropped(), 33u) << "lines that are there are in one piece";
  runner->run(4);
  sink->push({});
  const auto recovery = sink->take_recovery();
  ASSERT_TRUE(recovery);
  EXPECT_EQ(recovery->lost, 33u);
  EXPECT_FALSE(recovery->failed);
  write(*sink, 61);
  EXPECT_EQ(sink->dropped(), 33u);
  EXPECT_EQ(reports.size(), 1u);
}

TEST_F(SlowSinkTest, a_stall_without_a_loss_is_told_when_it_begins_and_when_it_is_over) {
  const auto sink = open_held(small());
  write(*sink, 1, 0, {0});
  sink->push({second_ns - 1});
  EXPECT_FALSE(sink->take_slowness());
  sink->mark();
  EXPECT_FALSE(sink->is_settled());
  sink->push({second_ns});
  EXPECT_EQ(sink->take_slowness()->reason, "it has taken nothing for 1000 ms");
  EXPECT_TRUE(sink->is_settled()) << "it is not waited for";
  runner->run_all();
  sink->push({2 * second_ns});
  runner->run_all();
  sink->push({2 * second_ns});
  EXPECT_EQ(sink->take_recovery()->lost, 0u);
  EXPECT_EQ(lines(), 1u);
}

TEST_F(SlowSinkTest, a_sink_that_waits_does_so_for_as_long_as_its_output_moves) {
  SinkOptions options = small();
  options.when_slow = WhenSlow::wait;
  const auto sink = open_held(options);
  runner->moves_when_waited_for = true;
  for (int number = 10; number < 60; ++number) write(*sink, number);
  EXPECT_EQ(sink->dropped(), 0u);
  EXPECT_GT(runner->waited.size(), 10u);
  EXPECT_THAT(reports, testing::IsEmpty());
}

TEST_F(SlowSinkTest, a_stalled_output_is_waited_for_once_until_it_moves_again) {
  SinkOptions options = small();
  options.when_slow = WhenSlow::wait;
  const auto sink = open_held(options);
  for (int number = 10; number < 60; ++number) write(*sink, number);
  EXPECT_THAT(runner->waited, ElementsAre(seconds(1)));
  EXPECT_EQ(sink->dropped(), 32u);
}

TEST_F(SlowSinkTest, records_that_come_while_the_file_is_opened_rotate_it_if_it_is_old) {
  std::ofstream(folder / "a.log") << "old\n";
  const timespec times[2] = {{30, 0}, {30, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, (folder / "a.log").c_str(), times, 0), 0);
  Rotation rotation;
  rotation.period = seconds(60);
  const auto sink = open_held(file(folder / "a.log", rotation));
  write(*sink, 1, 61 * second_ns);
  write(*sink, 2, 62 * second_ns);
  for (int round = 0; round < 3; ++round) {
    runner->run_all();
    sink->push({});
  }
  EXPECT_EQ(read_file(folder / "a.log.1"), "old\n");
  EXPECT_THAT(messages(folder / "a.log"), ElementsAre("info  s: m 1", "info  s: m 2"));
  EXPECT_EQ(read_file(folder / "a.log.2"), "");
}

TEST_F(SlowSinkTest, rotation_by_size_counts_what_the_output_has_yet_to_take) {
  Rotation rotation;
  rotation.bytes_max = 100;  // two lines of 41
  rotation.keep = 3;
  SinkOptions options = file(folder / "a.log", rotation);
  options.buffer_bytes = 41;
  const auto sink = open_held(options);
  write(*sink, 10);
  runner->run_all();
  sink->push({});
  for (int number = 11; number < 17; ++number) write(*sink, number);
  runner->run_all();
  sink->push({});
  EXPECT_EQ(messages(folder / "a.log.1").size(), 3u);
  EXPECT_EQ(messages(folder / "a.log.2").size(), 3u);
  EXPECT_THAT(messages(folder / "a.log"), ElementsAre("info  s: m 16"));
}

TEST_F(SlowSinkTest, what_waits_behind_a_write_that_fails_is_lost_and_counted_until_it_is_opened) {
  const auto sink = open_held(small());
  output->refuses_write = true;
  for (int number = 10; number < 20; ++number) write(*sink, number);
  runner->run_all();
  sink->push({});
  EXPECT_EQ(sink->lost(), 10u);
  EXPECT_EQ(sink->waiting(), 0u);
  EXPECT_EQ(output->opened, 1);
  output->refuses_write = false;
  write(*sink, 20, 0, {second_ns});
  runner->run_all();
  sink->push({second_ns});
  runner->run_all();
  sink->push({second_ns});
  EXPECT_EQ(lines(), 1u);
  EXPECT_EQ(sink->take_recovery()->lost, 10u);
  EXPECT_EQ(reports.size(), 1u);
}

TEST_F(SlowSinkTest, a_file_that_is_opened_again_while_it_is_slow_keeps_the_order_of_its_records) {
  const auto sink = open_held(file(folder / "a.log"));
  write(*sink, 1);
  sink->reopen({});
  write(*sink, 2);
  sink->reopen({});
  write(*sink, 3);
  for (int round = 0; round < 4; ++round) {
    runner->run_all();
    sink->push({});
  }
  EXPECT_THAT(messages(folder / "a.log"),
              ElementsAre("info  s: m 1", "info  s: m 2", "info  s: m 3"));
}

}  // namespace
}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
