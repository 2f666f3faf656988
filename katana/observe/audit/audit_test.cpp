#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/when.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/observe/audit/audit_fixture_test.hpp"

namespace katana::audit {
namespace {

TEST_F(AuditTest, what_was_recorded_is_there_in_its_order_and_verified) {
  write_three();
  const auto all = lines();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_NE(all[0].find(R"("action":"audit.file_begun")"), std::string::npos);
  EXPECT_NE(all[1].find(R"("action":"audit.opened")"), std::string::npos);
  EXPECT_TRUE(all[2].starts_with(R"({"seq":2,"at":")")) << all[2];
  EXPECT_NE(all[2].find(R"("action":"user.delete","outcome":"succeeded","actor":"ann",)"
                        R"("object":"user/1","chain":")"),
            std::string::npos)
      << all[2];
  EXPECT_EQ(verified(anchor_), "right");
  struct stat found{};
  ASSERT_EQ(::stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(AuditTest, whatever_is_changed_taken_out_added_or_moved_is_found) {
  write_three();
  const auto all = lines();
  auto changed = all;
  changed[3].replace(changed[3].find("user/2"), 6, "user/9");
  put(changed);
  EXPECT_NE(verified().find("line 4: its chain"), std::string::npos) << verified();
  auto missing = all;
  missing.erase(missing.begin() + 3);
  put(missing);
  EXPECT_NE(verified().find("lines are missing"), std::string::npos);
  auto moved = all;
  std::swap(moved[2], moved[3]);
  put(moved);
  EXPECT_NE(verified().find("line 3"), std::string::npos);
  auto added = all;
  added.insert(added.begin() + 3, all[2]);
  put(added);
  EXPECT_NE(verified().find("line 4"), std::string::npos);
  auto headless = all;
  headless.erase(headless.begin());
  put(headless);
  EXPECT_NE(verified().find("does not begin"), std::string::npos);
  put(all);
  EXPECT_EQ(verified(), "right");
}

TEST_F(AuditTest, an_end_that_was_cut_off_is_found_by_the_anchor_and_by_the_head) {
  write_three();
  auto all = lines();
  all.pop_back();
  put(all);
  EXPECT_EQ(verified(), "right");
  EXPECT_NE(verified(anchor_).find("cut off"), std::string::npos);
  EXPECT_NE(refusal().find("move both away"), std::string::npos) << refusal();
}

TEST_F(AuditTest, who_has_no_key_cannot_write_the_chain_anew) {
  write_three();
  AuditHead head;
  std::string forged;
  const AuditChain keyless("");
  for (const std::string& line : lines()) {
    const auto parsed = parse_line(line);
    const Bytes members = parsed->text.substr(parsed->text.find(',') + 1);
    keyless.append_line(forged, members, head);
  }
  std::ofstream(path(), std::ios::trunc) << forged;
  EXPECT_NE(verified().find("the key is another one"), std::string::npos);
  options_.key.clear();
  EXPECT_EQ(verified(), "right");
  EXPECT_NE(verified(anchor_).find("written anew"), std::string::npos);
}

TEST_F(AuditTest, it_goes_on_where_it_ended_and_after_a_line_that_was_torn) {
  write_three();
  {
    std::ofstream file(path(), std::ios::app);
    file << R"({"seq":5,"at":"2026)";
  }
  EXPECT_NE(verified().find("cut off"), std::string::npos);
  open();
  ASSERT_TRUE(record("user/4"));
  log_.reset();
  EXPECT_EQ(verified(anchor_), "right");
  EXPECT_NE(lines()[5].find(R"("removed_bytes":"19")"), std::string::npos) << lines()[5];
}

TEST_F(AuditTest, rotated_files_are_one_chain) {
  options_.file_bytes_max = 1000;
  open();
  for (int count = 0; count < 20; ++count) ASSERT_TRUE(record(std::to_string(count)));
  const AuditHead head = log_->head();
  log_.reset();
  std::vector<std::string> files = all_files();
  ASSERT_GT(files.size(), 3u);
  const auto all = verify_audit(files, options_.key, head);
  ASSERT_TRUE(all) << all.error().describe();
  EXPECT_EQ(all->first, 0u);
  EXPECT_EQ(all->head, head);
  files.erase(files.begin() + 1);
  EXPECT_FALSE(verify_audit(files, options_.key, head));
  EXPECT_TRUE(verify_audit(std::vector{path()}, options_.key, head));
  // The process ended between the two steps of a rotation.
  fs::rename(path(), path() + "." + std::to_string(head.next - 1));
  open();
  ASSERT_TRUE(record("after"));
  EXPECT_EQ(log_->head().next, head.next + 3);
}

TEST_F(AuditTest, what_cannot_be_written_is_refused_and_nothing_is_left_of_it) {
  open();
  ASSERT_TRUE(record("before"));
  const std::uint64_t size = fs::file_size(path());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit full{size + 10, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const auto refused = record("refused");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unavailable);
  EXPECT_EQ(fs::file_size(path()), size);
  EXPECT_FALSE(log_->health());
  ASSERT_TRUE(record("after"));
  EXPECT_TRUE(log_->health());
  const AuditHead head = log_->head();
  EXPECT_EQ(log_->statistics().failed, 1u);
  log_.reset();
  EXPECT_EQ(verified(head), "right");
}

Task<int> record_many(AuditLog& log, int count) {
  std::vector<Task<Result<void>>> tasks;
  for (int each = 0; each < count; ++each) {
    const AuditEvent event{.action = "many", .actor = "ann"};
    tasks.push_back(log.record(event));
  }
  const auto results = co_await when_all(std::move(tasks));
  int kept = 0;
  for (const auto& result : results) kept += result ? 1 : 0;
  co_return kept;
}

TEST_F(AuditTest, of_many_at_once_each_is_written_or_refused) {
  options_.waiting_max = 50;
  open();
  thread::Loop loop;
  const int kept = loop.run(record_many(*log_, 300));
  const std::uint64_t failed = log_->statistics().failed;
  const AuditHead head = log_->head();
  log_.reset();
  EXPECT_GE(kept, 50);
  EXPECT_EQ(failed, 300u - static_cast<unsigned>(kept));
  EXPECT_EQ(lines().size(), static_cast<std::size_t>(kept) + 2);
  EXPECT_EQ(verified(head), "right");
}

TEST_F(AuditTest, lines_of_two_processes_that_write_in_turn_are_one_chain) {
  open();
  auto other = AuditLog::open(options_);
  ASSERT_TRUE(other) << other.error().describe();
  for (int turn = 0; turn < 4; ++turn) {
    ASSERT_TRUE(record("old"));
    log_.swap(*other);
    ASSERT_TRUE(record("new")) << turn;
    log_.swap(*other);
  }
  const AuditHead newest = (*other)->head();
  EXPECT_EQ(newest.next, 11u);
  log_.reset();  // the earlier log ends, and the other one goes on
  log_ = *std::move(other);
  ASSERT_TRUE(record("last"));
  const AuditHead head = log_->head();
  log_.reset();
  EXPECT_EQ(lines().size(), 12u);
  EXPECT_EQ(verified(newest), "right");
  EXPECT_EQ(verified(head), "right");
  open();
  ASSERT_TRUE(record("restarted"));
}

Task<int> record_many(AuditLog& log, int count);

TEST_F(AuditTest, of_two_processes_that_write_and_rotate_at_once_each_line_is_in_one_chain) {
  options_.file_bytes_max = 2000;
  options_.sync = Sync::never;
  constexpr int rounds = 50;
  constexpr int at_once = 5;
  std::vector<std::unique_ptr<AuditLog>> logs;
  for (int each = 0; each < 2; ++each) {
    auto log = AuditLog::open(options_);
    ASSERT_TRUE(log) << log.error().describe();
    logs.push_back(*std::move(log));
  }
  std::vector<int> kept(logs.size(), 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t each = 0; each < logs.size(); ++each) {
      threads.emplace_back([&log = *logs[each], &count = kept[each]] {
        thread::Loop loop;
        for (int round = 0; round < rounds; ++round) count += loop.run(record_many(log, at_once));
      });
    }
  }
  for (const auto& log : logs) EXPECT_TRUE(log->health()) << log->health().error().describe();
  EXPECT_EQ(kept, std::vector<int>(logs.size(), rounds * at_once));
  logs.clear();
  const auto files = all_files();
  ASSERT_GT(files.size(), 10u);
  const auto all = verify_audit(files, options_.key, {});
  ASSERT_TRUE(all) << all.error().describe();
  EXPECT_EQ(all->first, 0u);
  // Each file has a line that begins it, and each log one that opens it.
  EXPECT_EQ(all->head.next, logs.size() + 2 + 2 * rounds * at_once + files.size());
}

TEST_F(AuditTest, a_line_that_a_killed_process_left_in_the_middle_is_removed_and_told) {
  open();
  ASSERT_TRUE(record("before"));
  {
    AnotherProcess killed(path());
    ASSERT_TRUE(killed.lock());
    killed.write(R"({"seq":3,"at":"2026)");
  }
  ASSERT_TRUE(record("after"));
  const AuditHead head = log_->head();
  log_.reset();
  ASSERT_EQ(lines().size(), 5u);
  EXPECT_NE(lines()[3].find(R"("action":"audit.repaired")"), std::string::npos) << lines()[3];
  EXPECT_NE(lines()[3].find(R"("removed_bytes":"19")"), std::string::npos) << lines()[3];
  EXPECT_EQ(verified(head), "right");
}

TEST_F(AuditTest, a_process_that_is_killed_before_it_flushes_leaves_whole_lines_in_the_chain) {
  open();
  ASSERT_TRUE(record("before"));
  const std::string whole = [this] {
    AuditHead head = log_->head();
    std::string line;
    AuditChain(options_.key).append_line(line, R"("at":"x","action":"killed")", head);
    return line;
  }();
  AnotherProcess(path()).write(whole);
  ASSERT_TRUE(record("after"));
  const AuditHead head = log_->head();
  EXPECT_EQ(head.next, 5u);
  log_.reset();
  EXPECT_EQ(verified(head), "right");
}

TEST_F(AuditTest, a_lock_that_another_process_holds_for_ever_fails_events_and_no_others) {
  options_.lock_wait = {};
  open();
  AnotherProcess other(path());
  ASSERT_TRUE(other.lock());
  const auto refused = record("refused");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unavailable);
  EXPECT_NE(refused.error().describe().find("another process holds the lock"), std::string::npos);
  EXPECT_FALSE(log_->health());
  EXPECT_NE(refusal().find("another process holds the lock"), std::string::npos);
  other.end();
  ASSERT_TRUE(record("after"));
  EXPECT_TRUE(log_->health());
  const AuditHead head = log_->head();
  log_.reset();
  EXPECT_EQ(lines().size(), 3u);
  EXPECT_EQ(verified(head), "right");
}

TEST_F(AuditTest, a_process_with_another_key_cannot_join_a_log) {
  open();
  ASSERT_TRUE(record("before"));
  options_.key = std::string(32, 'o');
  EXPECT_NE(refusal().find("the key is another one"), std::string::npos) << refusal();
  options_.key.clear();
  EXPECT_NE(refusal().find("the key is another one"), std::string::npos) << refusal();
  options_.key = std::string(32, 'k');
  ASSERT_TRUE(record("after"));
  const AuditHead head = log_->head();
  log_.reset();
  EXPECT_EQ(verified(head), "right");
}

TEST_F(AuditTest, a_file_that_is_cut_replaced_or_forged_while_it_is_written_gets_no_line) {
  open();
  ASSERT_TRUE(record("first"));
  ASSERT_TRUE(record("second"));
  const auto all = lines();
  auto fewer = all;
  fewer.pop_back();
  put(fewer);
  EXPECT_NE(refused_event().find("shorter"), std::string::npos);
  auto forged = all;
  forged.push_back(all.back());
  put(forged);
  EXPECT_NE(refused_event().find("does not go on"), std::string::npos);
  put(all);
  const std::string aside = folder_ / "aside";
  fs::rename(path(), aside);
  EXPECT_NE(refused_event().find("moved, deleted or replaced"), std::string::npos);
  EXPECT_FALSE(fs::exists(path()));
  fs::copy_file(aside, path());
  EXPECT_NE(refused_event().find("moved, deleted or replaced"), std::string::npos);
  // Like a rotated log with fewer lines.
  const std::string rotated = path() + "." + std::to_string(all.size() - 1);
  fs::rename(aside, rotated);
  put(fewer);
  ASSERT_EQ(::chmod(path().c_str(), 0600), 0);
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_NE(refused_event().find("has not the lines"), std::string::npos);
  }
  fs::rename(rotated, aside);
  fs::rename(aside, path());
  ASSERT_TRUE(record("third"));
  const AuditHead head = log_->head();
  log_.reset();
  EXPECT_EQ(lines().size(), all.size() + 1);
  EXPECT_EQ(verified(head), "right");
}

TEST_F(AuditTest, a_process_goes_on_behind_files_that_another_one_has_rotated_and_left) {
  options_.file_bytes_max = 600;
  open();
  auto other = AuditLog::open(options_);
  ASSERT_TRUE(other);
  ASSERT_TRUE(record("old"));
  log_.swap(*other);
  for (int count = 0; count < 10; ++count) ASSERT_TRUE(record(std::to_string(count)));
  const AuditHead head = log_->head();
  log_.swap(*other);
  other->reset();
  // The other one ended between the two steps of a rotation.
  fs::rename(path(), path() + "." + std::to_string(head.next - 1));
  ASSERT_TRUE(record("old"));
  const AuditHead last = log_->head();
  log_.reset();
  const auto all = verify_audit(all_files(), options_.key, last);
  ASSERT_TRUE(all) << all.error().describe();
  EXPECT_EQ(all->first, 0u);
  EXPECT_EQ(all->head, last);
}

TEST_F(AuditTest, a_file_that_others_can_read_or_that_is_no_log_is_refused) {
  write_three();
  ASSERT_EQ(::chmod(path().c_str(), 0640), 0);
  EXPECT_NE(refusal().find("chmod 600"), std::string::npos);
  ASSERT_EQ(::chmod(path().c_str(), 0600), 0);
  put({"hello"});
  EXPECT_NE(refusal().find("no line of an audit log"), std::string::npos);
  options_.key = "short";
  EXPECT_NE(refusal().find("32"), std::string::npos);
}

TEST_F(AuditTest, values_cannot_end_a_line_and_the_request_is_named) {
  open();
  Activity activity;
  activity.name = "request-1";
  thread::Loop loop;
  {
    const ActivityScope scope(&activity);
    const AuditEvent event{
        .action = "a\"}\n{", .actor = "x", .details = {{"key", "line\nend\",\"chain\":\"A"}}};
    ASSERT_TRUE(loop.run(log_->record(event)));
  }
  const AuditEvent long_event{
      .action = "a", .actor = "x", .object = std::string(line_bytes_max, 'x')};
  const auto too_long = loop.run(log_->record(long_event));
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code(), Code::out_of_range);
  const AuditHead head = log_->head();
  log_.reset();
  EXPECT_EQ(lines().size(), 3u);
  EXPECT_NE(lines()[2].find(R"("request":"request-1")"), std::string::npos) << lines()[2];
  EXPECT_EQ(verified(head), "right");
}

TEST(AuditHeads, are_written_and_read) {
  const AuditHead head{18, crypto::sha256("x")};
  EXPECT_EQ(parse_head(write_head(head)), head);
  EXPECT_EQ(parse_head(""), AuditHead());
  EXPECT_EQ(write_head({}), "");
  const std::string digest = write_digest(crypto::sha256("x"));
  for (const std::string& text :
       {std::string("17"), std::string("17:"), std::string(":abc"), "x:" + digest, "017:" + digest,
        "18446744073709551615:" + digest, "18446744073709551616:" + digest, "17:" + digest + "A"}) {
    EXPECT_FALSE(parse_head(text)) << text;
  }
  EXPECT_EQ(parse_head("18446744073709551614:" + digest)->next, UINT64_MAX);
}

}  // namespace
}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
