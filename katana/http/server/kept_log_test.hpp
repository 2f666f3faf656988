// KeptLog: a log that gives a test its records, as lines of JSON, as soon as they are made.
//
// Owns       the log, and its text.
// Thread     any.
// Allocates  yes.
// Fails      by failing the test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "katana/observe/log/log.hpp"

namespace katana::server {

class KeptLog {
 public:
  KeptLog() {
    log::Options options;
    options.mode = log::Mode::synchronous;
    options.sinks = {log::SinkOptions{.output = kept_, .layout = log::LayoutKind::json}};
    auto started = log::Log::start(std::move(options));
    EXPECT_TRUE(started);
    log_ = std::move(*started);
  }
  log::Logger logger(const char* name) { return log_->logger(name); }
  std::string text() const {
    const std::lock_guard lock(kept_->mutex);
    return kept_->text;
  }
  // The records that have all of these parts.
  std::vector<std::string> lines(std::initializer_list<const char*> parts = {}) const {
    std::vector<std::string> found;
    std::istringstream all(text());
    for (std::string line; std::getline(all, line);) {
      bool whole = true;
      for (const char* part : parts) whole = whole && line.find(part) != std::string::npos;
      if (whole) found.push_back(line);
    }
    return found;
  }

 private:
  struct Kept final : log::Output {
    const std::string& name() const noexcept override { return called; }
    bool may_block() const noexcept override { return false; }
    Result<void> open(const log::Layout&) override { return {}; }
    Result<void> write(Bytes records) override {
      const std::lock_guard lock(mutex);
      text.append(records);
      return {};
    }
    const std::string called = "kept";
    mutable std::mutex mutex;
    std::string text;
  };

  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
  std::unique_ptr<log::Log> log_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
