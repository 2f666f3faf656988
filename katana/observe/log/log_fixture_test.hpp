// Shared by the tests of this module: an output that keeps its input, and a temporary folder.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "katana/observe/log/log.hpp"
#include "katana/observe/log/writer.hpp"

namespace katana::log {

class MemoryOutput final : public Output {
 public:
  const std::string& name() const noexcept override { return name_; }
  Result<void> open(const Layout&) override {
    ++opened;
    if (refuses_open) return fail(Code::permission_denied, "open: refused by the test");
    return {};
  }
  Result<void> write(Bytes records) override {
    if (refuses_write) return fail(Code::resource_exhausted, "write: refused by the test");
    const std::scoped_lock lock(mutex_);
    text_ += records;
    ++writes;
    return {};
  }
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

  std::atomic<bool> refuses_open{false};
  std::atomic<bool> refuses_write{false};
  std::atomic<int> opened{0};
  std::atomic<int> writes{0};

 private:
  const std::string name_ = "memory";
  mutable std::mutex mutex_;
  std::string text_;
};

// An output whose write() does not return while it is held, like an unread pipe.
class HeldOutput final : public Output {
 public:
  const std::string& name() const noexcept override { return name_; }
  Result<void> open(const Layout&) override { return {}; }
  Result<void> write(Bytes records) override {
    std::unique_lock lock(mutex_);
    ++entered_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_; });
    text_ += records;
    return {};
  }
  void hold() {
    const std::scoped_lock lock(mutex_);
    held_ = true;
  }
  void release() {
    const std::scoped_lock lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  // Waits until so many calls of write() have begun.
  void wait_entered(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return entered_ >= count; });
  }
  std::string text() {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

 private:
  const std::string name_ = "held";
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = true;
  int entered_ = 0;
  std::string text_;
};

// A runner whose jobs are done when the test asks for it; its time is that of the calls.
class HeldRunner final : public OutputRunner {
 public:
  HeldRunner(std::shared_ptr<Output> output, LayoutKind layout)
      : inner_(inline_runner(std::move(output), layout)) {}
  void give(OutputJob job) override { jobs.push_back(std::move(job)); }
  std::optional<OutputDone> take() override { return inner_->take(); }
  Instant wait(Instant now, Duration wait_max) override {
    waited.push_back(wait_max);
    if (moves_when_waited_for) run();
    return now + wait_max;
  }
  void run(std::size_t count = 1) {
    for (; count > 0 && !jobs.empty(); --count) {
      inner_->give(std::move(jobs.front()));
      jobs.pop_front();
    }
  }
  void run_all() { run(jobs.size()); }

  std::deque<OutputJob> jobs;
  std::vector<Duration> waited;
  bool moves_when_waited_for = false;

 private:
  const std::unique_ptr<OutputRunner> inner_;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

// A text line without its time.
inline std::string without_time(const std::string& line) {
  return line.size() > 28 ? line.substr(28) : line;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "katana_log_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A Log whose one sink is memory.
struct MemoryLog {
  explicit MemoryLog(LayoutKind layout = LayoutKind::text, Options options = {}) {
    SinkOptions sink;
    sink.output = output;
    sink.layout = layout;
    sink.retry_after = milliseconds(1);
    options.sinks = {sink};
    options.report = [this](Bytes line) {
      const std::scoped_lock lock(mutex);
      reports.emplace_back(line);
    };
    auto started = Log::start(options);
    if (!started) throw std::runtime_error(started.error().describe());
    log = *std::move(started);
  }
  Log& operator*() const { return *log; }
  Log* operator->() const { return log.get(); }

  // All lines without their times, once the writer has written everything.
  std::vector<std::string> lines() const {
    log->flush();
    std::vector<std::string> lines = lines_of(output->text());
    std::ranges::transform(lines, lines.begin(), without_time);
    return lines;
  }
  // The only line.
  std::string line() const {
    const auto all = lines();
    EXPECT_EQ(all.size(), 1u) << output->text();
    return all.empty() ? "" : all.back();
  }

  std::shared_ptr<MemoryOutput> output = std::make_shared<MemoryOutput>();
  std::mutex mutex;
  std::vector<std::string> reports;
  std::unique_ptr<Log> log;  // destroyed first: it uses all of the above
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
