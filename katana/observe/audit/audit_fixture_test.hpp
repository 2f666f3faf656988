// AuditTest: an audit log in a temporary folder. AnotherProcess: one that writes the same log.
//
// Owns       the folder, until the test ends.
// Thread     one.
// Fails      by failing the test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/thread/loop.hpp"
#include "katana/observe/audit/audit_log.hpp"
#include "katana/observe/audit/verify.hpp"

namespace katana::audit {

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
  std::string refused_event() {
    const auto kept = record("refused");
    return kept ? "recorded" : kept.error().describe();
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
  // In their order, oldest first.
  std::vector<std::string> all_files() const {
    std::vector<std::pair<std::uint64_t, std::string>> parts;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      const std::string number = name.substr(std::string("audit.jsonl").size());
      if (number.starts_with(".") && number != ".head") {
        parts.emplace_back(std::stoull(number.substr(1)), entry.path());
      }
    }
    std::ranges::sort(parts);
    std::vector<std::string> files;
    for (const auto& [number, name] : parts) files.push_back(name);
    files.push_back(path());
    return files;
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

// Another process: the bytes that it appends, and its lock, which end() releases.
class AnotherProcess {
 public:
  explicit AnotherProcess(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)) {}
  ~AnotherProcess() { end(); }
  AnotherProcess(const AnotherProcess&) = delete;
  AnotherProcess& operator=(const AnotherProcess&) = delete;
  bool lock() const { return ::flock(file_, LOCK_EX | LOCK_NB) == 0; }
  void write(const std::string& text) const {
    EXPECT_EQ(::write(file_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

 private:
  int file_;
};

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
