// Audit logs on disks that are damaged, full, large, or that people have touched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/coroutine/when.hpp"
#include "katana/observe/audit/audit_event.hpp"
#include "katana/observe/audit/audit_file.hpp"
#include "katana/observe/audit/audit_fixture_test.hpp"

namespace katana::audit {
namespace {

using ::testing::HasSubstr;

// Waits for work of other threads; false: it did not come in a minute.
template <class Condition>
bool eventually(Condition condition) {
  for (int round = 0; round < 60'000 && !condition(); ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

class DamageTest : public AuditTest {
 protected:
  std::string head_path() const { return path() + ".head"; }
  static std::string text_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void write(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::trunc | std::ios::binary) << text;
    EXPECT_EQ(::chmod(file.c_str(), 0600), 0);
  }
  Result<std::unique_ptr<AuditFile>> open_file() const {
    return AuditFile::open(path(), options_.key, {.file_bytes_max = 1 << 20, .lock_wait = {}});
  }
  // A log that is larger than what is read of its end.
  void write_large() {
    open();
    for (int count = 0; count < 40; ++count) {
      ASSERT_TRUE(record(std::string(4000, 'x')));
    }
    anchor_ = log_->head();
    log_.reset();
    ASSERT_GT(fs::file_size(path()), 8 * line_bytes_max);
  }
};

TEST_F(DamageTest, an_event_whose_json_is_too_long_is_refused_though_its_texts_are_not) {
  open();
  EXPECT_FALSE(record(std::string(line_bytes_max - 100, '"')));
  EXPECT_TRUE(record(std::string(line_bytes_max - 400, 'x')));
}

TEST_F(DamageTest, options_without_which_nothing_can_be_kept_are_refused) {
  const AuditOptions usual = options_;
  options_.file.clear();
  EXPECT_THAT(refusal(), HasSubstr("are needed"));
  options_ = usual;
  options_.waiting_max = 0;
  EXPECT_THAT(refusal(), HasSubstr("are needed"));
  options_ = usual;
  options_.sync_interval = {};
  EXPECT_THAT(refusal(), HasSubstr("are needed"));
}

TEST_F(DamageTest, the_head_of_a_log_is_known_before_its_first_event) {
  open();
  EXPECT_EQ(log_->head().next, 2u);  // the file was begun, and opened
  EXPECT_EQ(text_of(head_path()), write_head(log_->head()) + "\n");
}

TEST_F(DamageTest, a_large_log_is_continued_by_its_end) {
  write_large();
  open();
  EXPECT_EQ(log_->head().next, anchor_.next + 1);
  ASSERT_TRUE(record("after"));
  const AuditHead head = log_->head();
  log_.reset();
  EXPECT_EQ(verified(head), "right");
}

TEST_F(DamageTest, a_last_line_that_was_changed_is_refused_at_the_start) {
  write_large();
  const std::string whole = text_of(path());
  std::string changed = whole;
  changed[changed.size() - 100] = 'y';
  write(path(), changed);
  EXPECT_THAT(refusal(), HasSubstr("does not go on"));
  write(path(), whole);
  EXPECT_EQ(refusal(), "opened");
}

TEST_F(DamageTest, a_large_file_without_lines_is_no_audit_log) {
  write(path(), std::string(8 * line_bytes_max, 'x'));
  EXPECT_THAT(refusal(), HasSubstr("is no audit log"));
}

TEST_F(DamageTest, a_file_that_begins_with_an_empty_line_is_no_audit_log) {
  write_three();
  fs::remove(head_path());
  const std::string line = lines().front();
  write(path(), "\n" + line + "\n");
  EXPECT_THAT(refusal(), HasSubstr("no line of an audit log"));
}

TEST_F(DamageTest, a_line_that_was_cut_off_beyond_any_length_is_refused) {
  write_three();
  std::ofstream(path(), std::ios::app) << std::string(2 * line_bytes_max, 'x');
  EXPECT_THAT(refusal(), HasSubstr("a line that is too long"));
}

// A process that was killed behind the first line of a file.
TEST_F(DamageTest, a_file_that_was_only_begun_is_continued) {
  write_three();
  fs::remove(head_path());
  write(path(), lines().front() + "\n");
  open();
  EXPECT_EQ(log_->head().next, 2u);
  log_.reset();
  EXPECT_EQ(verified(), "right");
}

TEST_F(DamageTest, a_file_that_was_only_begun_and_then_rotated_has_a_successor) {
  write_three();
  const std::string first = lines().front();
  fs::remove(path());
  write(path() + ".0", first + "\n");
  write(head_path(), write_head({1, parse_line(first)->chain}) + "\n");
  open();
  const AuditHead head = log_->head();
  log_.reset();
  EXPECT_EQ(head.next, 3u);
  const auto all = verify_audit(all_files(), options_.key, head);
  ASSERT_TRUE(all) << all.error().describe();
  EXPECT_EQ(all->first, 0u);
}

TEST_F(DamageTest, a_broken_head_file_is_refused) {
  write_three();
  const std::string whole = text_of(head_path());
  for (const std::string& text : {std::string("garbage\n"), "x" + whole, std::string(300, '1')}) {
    write(head_path(), text);
    EXPECT_THAT(refusal(), HasSubstr("it is broken")) << text;
  }
  fs::remove(head_path());
  ASSERT_EQ(::mkfifo(head_path().c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("cannot read"));
  fs::remove(head_path());
  fs::create_directory(head_path());
  EXPECT_THAT(refusal(), HasSubstr("cannot open the .head of"));
  fs::remove(head_path());
  write(head_path(), whole);
  EXPECT_EQ(refusal(), "opened");
}

TEST_F(DamageTest, the_head_file_has_the_head_alone) {
  write_three();
  std::ofstream(head_path(), std::ios::app) << "\n\n\n";
  open();
  EXPECT_EQ(text_of(head_path()), write_head(log_->head()) + "\n");
}

TEST_F(DamageTest, an_error_of_an_earlier_call_has_no_effect) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit small{100'000, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  errno = EINTR;
  const auto file = open_file();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  ASSERT_TRUE(file) << file.error().describe();
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(DamageTest, a_log_that_is_refused_leaves_no_lock) {
  open();
  ASSERT_TRUE(record("first"));
  const auto all = lines();
  put({all[0], all[1]});
  EXPECT_THAT(refused_event(), HasSubstr("shorter"));
  EXPECT_TRUE(AnotherProcess(path()).lock());
}

TEST_F(DamageTest, a_copy_of_the_file_in_the_place_of_a_rotated_one_is_no_rotation) {
  open();
  ASSERT_TRUE(record("first"));
  fs::rename(path(), folder_ / "aside");
  fs::copy_file(folder_ / "aside", path() + ".2");
  ASSERT_EQ(::chmod((path() + ".2").c_str(), 0600), 0);
  EXPECT_THAT(refused_event(), HasSubstr("moved, deleted or replaced"));
}

TEST_F(DamageTest, rotations_leave_no_descriptor_open) {
  options_.file_bytes_max = 400;
  open();
  ASSERT_TRUE(record("first"));
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = descriptors();
  for (int count = 0; count < 20; ++count) ASSERT_TRUE(record("more"));
  EXPECT_EQ(descriptors(), before);
}

// The line about the removal is longer than that of the event, which alone would fit.
TEST_F(DamageTest, no_event_is_written_before_a_removal_that_cannot_be_told) {
  open();
  ASSERT_TRUE(record("before"));
  const std::uint64_t size = fs::file_size(path());
  AnotherProcess(path()).write(R"({"seq":3,"at":"2026)");
  const auto record_short = [this] {
    thread::Loop loop;
    const AuditEvent event{.action = "a", .actor = ""};
    return loop.run(log_->record(event));
  };
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit full{size + 150, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const auto refused = record_short();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  EXPECT_FALSE(refused);
  ASSERT_TRUE(record_short());
  const AuditHead head = log_->head();
  log_.reset();
  const auto all = lines();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_THAT(all[3], HasSubstr(R"("removed_bytes":"19")"));
  EXPECT_LT(all[4].size(), 150u) << "the event would have fitted";
  EXPECT_GT(all[3].size(), 150u);
  EXPECT_EQ(verified(head), "right");
}

TEST_F(DamageTest, what_cannot_be_locked_is_not_said_to_be_durable) {
  auto file = open_file();
  ASSERT_TRUE(file) << file.error().describe();
  EXPECT_TRUE((*file)->sync());
  const AnotherProcess other(path());
  ASSERT_TRUE(other.lock());
  EXPECT_FALSE((*file)->sync());
}

// ---- events that wait --------------------------------------------------------------------------

Task<Result<void>> end(AnotherProcess& process) {
  process.end();
  co_return {};
}

// Records so many events, and ends the other process when all of them wait or are refused.
Task<int> record_all(AuditLog& log, int count, AnotherProcess& other) {
  std::vector<Task<Result<void>>> tasks;
  for (int each = 0; each < count; ++each) {
    const AuditEvent event{.action = "many", .actor = ""};
    tasks.push_back(log.record(event));
  }
  tasks.push_back(end(other));  // when_all() starts them in this order
  const auto results = co_await when_all(std::move(tasks));
  int kept = -1;
  for (const auto& result : results) kept += result ? 1 : 0;
  co_return kept;
}

TEST_F(DamageTest, as_many_events_wait_for_the_lock_as_waiting_max_says) {
  constexpr int count = 3000;
  options_.waiting_max = count;
  options_.lock_wait = seconds(600);
  options_.sync = Sync::never;
  open();
  AnotherProcess other(path());
  ASSERT_TRUE(other.lock());
  thread::Loop loop;
  EXPECT_EQ(loop.run(record_all(*log_, count, other)), count);
}

TEST_F(DamageTest, events_are_flushed_at_intervals_without_further_events) {
  options_.sync = Sync::interval;
  options_.sync_interval = milliseconds(1);
  open();
  for (const char* const object : {"first", "second"}) {
    ASSERT_TRUE(record(object));
    const std::string head = write_head(log_->head()) + "\n";
    EXPECT_TRUE(eventually([&] { return text_of(head_path()) == head; })) << object;
  }
}

Task<void> begin_and_leave(AuditLog& log, std::string action) {
  const AuditEvent event{.action = std::move(action), .actor = ""};
  Task<Result<void>> recording = log.record(event);
  recording.start();
  co_return;
}

TEST_F(DamageTest, an_event_whose_caller_leaves_is_written) {
  open();
  ASSERT_TRUE(record("first"));
  thread::Loop loop;
  loop.run(begin_and_leave(*log_, "left"));
  EXPECT_TRUE(eventually([&] { return log_->statistics().recorded == 2; }));
}

// ---- verification ------------------------------------------------------------------------------

TEST_F(DamageTest, lines_that_are_none_are_told_from_lines) {
  write_three();
  const std::string line = lines()[2];
  ASSERT_TRUE(parse_line(line));
  const auto with = [&](std::size_t at, std::size_t size, const std::string& text) {
    std::string changed = line;
    return changed.replace(at, size, text);
  };
  const std::size_t chain = line.size() - 45;
  for (const std::string& text :
       {std::string(), std::string("{"), with(0, 7, R"({"sEq":)"), with(1, 0, " "),
        with(line.size() - 1, 1, "]"), with(line.size() - 2, 1, "'"), line + " ",
        with(chain, 1, "*"), with(chain + 42, 1, "="), with(7, 1, "x"), with(7, 1, "02"),
        with(7, 1, "-2"), with(7, 1, ""), with(7, 1, "18446744073709551616"),
        line.substr(0, 7) + line.substr(chain - 10)}) {
    EXPECT_FALSE(parse_line(text)) << text;
  }
}

TEST_F(DamageTest, files_that_cannot_be_a_log_are_named_with_the_reason) {
  write_three();
  fs::remove(head_path());
  const auto verified_of = [&](const std::string& file) {
    const auto done = verify_audit(std::vector{file}, options_.key, {});
    return done ? "right" : done.error().describe();
  };
  EXPECT_THAT(verified_of(folder_), HasSubstr("it cannot be read"));
  EXPECT_THAT(verified_of(folder_ / "none"), HasSubstr("No such file"));
  write(folder_ / "empty", "");
  EXPECT_THAT(verified_of(folder_ / "empty"), HasSubstr("it is empty"));
  EXPECT_FALSE(verify_audit({}, options_.key, {}));
}

TEST_F(DamageTest, a_first_line_that_begins_no_file_is_none_whatever_it_names) {
  const std::string zeros = write_digest({});
  const AuditChain chain(options_.key);
  for (const std::string& members :
       {R"("at":"x","action":"other","details":{"previous":")" + zeros + "\"}",
        std::string(R"("at":"x","action":"audit.file_begun","details":{"earlier":"x"})"),
        std::string(R"("at":"x","action":"audit.file_begun","details":{"previous":"x"})")}) {
    AuditHead head;
    std::string line;
    chain.append_line(line, members, head);
    write(path(), line);
    EXPECT_THAT(verified(), HasSubstr("does not begin as a file")) << members;
  }
}

TEST_F(DamageTest, an_anchor_before_the_first_file_asks_for_earlier_files) {
  options_.file_bytes_max = 400;
  open();
  ASSERT_TRUE(record("first"));
  const AuditHead early = log_->head();
  for (int count = 0; count < 5; ++count) ASSERT_TRUE(record("more"));
  const AuditHead last = log_->head();
  log_.reset();
  const auto one = verify_audit(std::vector{path()}, options_.key, last);
  ASSERT_TRUE(one) << one.error().describe();
  // The anchors of the line before the first one of the file, and of that one.
  EXPECT_THAT(verified(early), HasSubstr("add the files before"));
  const auto first = parse_line(lines().front());
  ASSERT_TRUE(first);
  EXPECT_THAT(verified(AuditHead{first->number, last.chain}), HasSubstr("add the files before"));
  EXPECT_EQ(verified(AuditHead{first->number + 1, first->chain}), "right");
  EXPECT_EQ(verified(AuditHead{}), "right") << "there is no anchor";
}

}  // namespace
}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
