#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "katana/audit/audit_log.hpp"
#include "katana/audit/verify.hpp"
#include "katana/base/activity.hpp"
#include "katana/base/when.hpp"
#include "katana/thread/loop.hpp"

namespace katana::audit {
namespace {

namespace fs = std::filesystem;

class AuditTest : public ::testing::Test {
 protected:
  AuditTest() {
    std::string name = fs::temp_directory_path() / "katana-audit-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    options_.file = folder_ / "audit.jsonl";
    options_.key = std::string(32, 'k');
  }
  ~AuditTest() override { fs::remove_all(folder_); }

  void open() {
    auto log = AuditLog::open(options_);
    ASSERT_TRUE(log) << log.error().describe();
    log_ = *std::move(log);
  }
  std::string refusal() const {
    const auto log = AuditLog::open(options_);
    return log ? "opened" : log.error().describe();
  }
  Result<void> record(const std::string& object) {
    thread::Loop loop;
    const AuditEvent event{.action = "user.delete", .actor = "ann", .object = object};
    return loop.run(log_->record(event));
  }
  // After three events and the end of the log.
  void write_three() {
    open();
    for (const char* object : {"user/1", "user/2", "user/3"}) {
      const auto kept = record(object);
      ASSERT_TRUE(kept) << kept.error().describe();
    }
    anchor_ = log_->head();
    log_.reset();
  }
  std::string path() const { return options_.file; }
  std::vector<std::string> lines() const {
    std::ifstream file(path());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void put(const std::vector<std::string>& lines) const {
    std::ofstream file(path(), std::ios::trunc);
    for (const std::string& line : lines) file << line << '\n';
  }
  std::string verified(const std::optional<AuditHead>& anchor = {}) const {
    const auto done = verify_audit(std::vector{path()}, options_.key, anchor);
    return done ? "right" : done.error().describe();
  }

  fs::path folder_;
  AuditOptions options_;
  std::unique_ptr<AuditLog> log_;
  AuditHead anchor_;
};

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
  std::vector<std::pair<std::uint64_t, std::string>> parts;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename();
    const std::string number = name.substr(std::string("audit.jsonl").size());
    if (number.starts_with(".") && number != ".head") {
      parts.emplace_back(std::stoull(number.substr(1)), entry.path());
    }
  }
  ASSERT_GT(parts.size(), 2u);
  std::ranges::sort(parts);
  std::vector<std::string> files;
  for (const auto& [number, name] : parts) files.push_back(name);
  files.push_back(path());
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
  EXPECT_EQ(log_->figures().failed, 1u);
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
  const AuditHead head = log_->head();
  log_.reset();
  EXPECT_GE(kept, 50);
  EXPECT_EQ(lines().size(), static_cast<std::size_t>(kept) + 2);
  EXPECT_EQ(verified(head), "right");
}

TEST_F(AuditTest, a_file_that_others_can_read_or_that_another_writes_is_refused) {
  open();
  EXPECT_NE(refusal().find("another process"), std::string::npos);
  log_.reset();
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
  for (const char* text : {"17", "17:", ":abc", "x:LXEWQrcmsEQBYnyp-6wy9ch7XymGSSc6", "017:a"}) {
    EXPECT_FALSE(parse_head(text)) << text;
  }
}

}  // namespace
}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
