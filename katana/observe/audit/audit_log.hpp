// AuditLog: records who did what, in a file from which no line can be removed unnoticed.
//
//   auto log = audit::AuditLog::open({.file = "var/audit.jsonl", .key = key});
//   audit::AuditEvent event{.action = "user.delete", .actor = who->id(), .object = "user/17"};
//   const Result<void> kept = co_await (*log)->record(event);
//   if (!kept) co_return std::unexpected(kept.error());     // 503: then it is not done either
//
// Record an action before it is done, or in one transaction with it, and its outcome when it is
// known. An action that cannot be recorded must not happen: record() reports every failure, and
// drops nothing.
//
// Owns       the file, and one writing thread.
// Thread     record(): coroutines of any executor. The destructor: any but its writing thread.
// Allocates  for each event.
// Fails      Code::unavailable or Code::resource_exhausted (503) when the event is not, or not
//            known to be, in the file; Code::out_of_range for an event that is too long.
// Invariant  events are in the file in the order in which they were recorded; waiting events share
//            one write and one flush. Acknowledged records are on the disk (Sync::each), or will be
//            within sync_interval. Several logs on one file, in one or several processes, make one
//            chain.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/audit/audit_event.hpp"
#include "katana/observe/audit/audit_options.hpp"
#include "katana/observe/audit/chain.hpp"

namespace katana::audit {

class AuditFile;

class AuditLog {
 public:
  // Continues an existing file, or begins one. An Error names the mistake in the options or the
  // file.
  static Result<std::unique_ptr<AuditLog>> open(AuditOptions options);
  // Writes waiting records first.
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Returns when the event is written, and with Sync::each on the disk.
  // The argument must be a variable: g++ 12 destroys an aggregate that a co_await expression makes
  // twice (decision 0018).
  Task<Result<void>> record(const AuditEvent& event) { return write(event); }
  void record(const AuditEvent&& event) = delete;

  // An anchor for `katana audit verify --anchor`: keep it where writers of the file have no access.
  AuditHead head() const;
  // Counts of events since the log was opened; `waiting` is the present number.
  struct Statistics {
    std::uint64_t recorded = 0;  // written
    std::uint64_t failed = 0;    // refused, or not written
    std::uint64_t waiting = 0;   // not written yet
  };
  Statistics statistics() const noexcept;
  // An Error says why the last event could not be written or flushed. Any thread.
  Result<void> health() const;

 private:
  struct Entry {
    std::string members;
    std::optional<Result<void>> outcome = {};  // set once the writing thread has handled the entry
  };

  explicit AuditLog(AuditOptions options);
  Task<Result<void>> write(AuditEvent event);
  // Runs on the writing thread: writes all waiting entries.
  void write_waiting() noexcept;
  void sync_now() noexcept;
  bool admit(const std::shared_ptr<Entry>& entry);

  const AuditOptions options_;
  mutable std::mutex mutex_;  // guards waiting_, is_write_posted_, head_ and last_
  std::vector<std::shared_ptr<Entry>> waiting_;
  bool is_write_posted_ = false;  // a writing job is in the pool's queue
  AuditHead head_;
  Result<void> last_ = {};           // result of the last write or flush
  std::unique_ptr<AuditFile> file_;  // used by the writing thread
  bool is_dirty_ = false;            // used by the writing thread
  std::atomic<std::uint64_t> recorded_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::unique_ptr<thread::Pool> pool_;
  std::optional<thread::TimedJob> flushing_;  // with Sync::interval
};

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
