// Watch: whether the file is usable, why not, and since which generation of connections.
//
// Owns       the reason.
// Thread     any.
// Allocates  the reason.
// Fails      never.
// Invariant  connections of an older generation are closed before they are used again.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "katana/base/result.hpp"
#include "katana/database/error.hpp"

namespace katana::database::sqlite {

// Counts that one thread writes at a time, and any reads.
class Count {
 public:
  void add(std::uint64_t count = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

class Watch {
 public:
  explicit Watch(std::string path) : path_(std::move(path)) {}

  bool usable() const noexcept { return usable_.load(std::memory_order_acquire); }
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  // How many commits have become durable: a snapshot that was taken at another count is stale.
  std::uint64_t commits() const noexcept { return commits_.load(std::memory_order_acquire); }
  void note_commit() noexcept { commits_.fetch_add(1, std::memory_order_acq_rel); }
  // The log is to be written back and begun anew, for which no snapshot may be open: none is kept
  // for longer than a turn meanwhile. Relaxed: a turn more or less does not matter.
  bool log_is_long() const noexcept { return log_is_long_.load(std::memory_order_relaxed); }
  void set_log_is_long(bool is_long) noexcept {
    if (is_long != log_is_long()) log_is_long_.store(is_long, std::memory_order_relaxed);
  }

  // It is not usable. Only the first reason of an outage is kept.
  void report(std::string_view why, bool corrupt = false) {
    const std::lock_guard lock(mutex_);
    corrupt_ = corrupt_ || corrupt;
    if (!usable()) return;
    reason_ = why;
    ++outages_;
    usable_.store(false, std::memory_order_release);
  }
  // It is usable again, by connections that are opened from now on.
  void recover() {
    const std::lock_guard lock(mutex_);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    corrupt_ = false;
    usable_.store(true, std::memory_order_release);
  }
  bool corrupt() const {
    const std::lock_guard lock(mutex_);
    return corrupt_;
  }

  std::uint64_t outages() const {
    const std::lock_guard lock(mutex_);
    return outages_;
  }
  katana::Result<void> health() const {
    if (usable()) return {};
    return std::unexpected(katana::Error(error()));
  }
  Error error() const { return Error::unusable(reason()); }

 private:
  std::string reason() const {
    const std::lock_guard lock(mutex_);
    return "'" + path_ + "': " + reason_;
  }

  const std::string path_;
  std::atomic<bool> usable_ = true;
  std::atomic<std::uint64_t> generation_ = 1;
  std::atomic<std::uint64_t> commits_ = 1;
  std::atomic<bool> log_is_long_ = false;
  mutable std::mutex mutex_;  // what follows
  std::string reason_;
  bool corrupt_ = false;
  std::uint64_t outages_ = 0;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
