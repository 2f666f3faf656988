// AuditFile: the lines of an audit log on a disk. FILE is only appended to. FILE.NUMBER are its
// earlier files, by the number of their last line. FILE.head holds the present head of the chain.
//
// Owns       the descriptors; a lock (flock) while it appends or flushes: several processes may
//            write one log, as during a zero-downtime restart.
// Thread     one at a time.
// Allocates  a buffer for each append.
// Fails      with an Error that names the file and the remedy. An append that fails has written
//            nothing. When that is uncertain, all later writes fail (Code::data_loss).
// Invariant  FILE.head is never ahead of the durable part of FILE. A new line continues the last
//            line of FILE, which another process may have written. A line that was cut off by a
//            crash was not acknowledged: the next process removes it, and records the removal in
//            the log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/observe/audit/chain.hpp"

namespace katana::audit {

class AuditFile {
 public:
  // The use of the file; the rest of AuditOptions concerns its events.
  struct Options {
    std::uint64_t file_bytes_max = 0;  // the size at which it is rotated
    Duration lock_wait = {};           // for the lock of another process; 0: one attempt
  };
  // Continues an existing file, or begins one that only its owner can read (0600).
  static Result<std::unique_ptr<AuditFile>> open(std::string path, Bytes key, Options options);
  ~AuditFile();
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

  // Appends a line for each, in the form of render(): all of them, or none. `is_synced`: calls
  // sync(), too.
  Result<void> append(std::span<const std::string> members, bool is_synced);
  // Makes appended records durable, and then FILE.head.
  Result<void> sync();
  // The head behind the last line that this process has read or written.
  const AuditHead& head() const noexcept { return head_; }

 private:
  AuditFile(std::string path, Bytes key, Options options)
      : path_(std::move(path)), chain_(key), options_(options) {}
  Result<void> open_file();
  Result<void> open_head();
  // Takes the lock; after a failure it does not hold it. After success size_ and head_ are those of
  // FILE as it is now.
  Result<void> lock();
  Result<void> wait_for_lock(int file, Duration& left) const;
  Result<void> leave_rotated();
  void close_file() noexcept;
  // The functions below need the lock.
  Result<void> catch_up(std::uint64_t size);
  Result<void> read_new_lines(std::uint64_t size);
  Result<void> cut_off(std::uint64_t size);
  Result<void> tell_removed(std::string_view action);
  Result<void> resume(std::uint64_t size);
  Result<void> resume_behind(const AuditHead& before, std::uint64_t size);
  Result<void> resume_behind_rotated();
  Result<void> read_lines(std::uint64_t from, std::uint64_t size, std::optional<AuditHead>& head);
  Result<void> read_line(Bytes text, std::optional<AuditHead>& head) const;
  Result<void> check_head() const;
  Result<void> begin_file();
  Result<void> rotate();
  Result<void> write(const std::string& lines);
  Result<void> append_own(std::string_view action, std::string_view name, std::string_view value);
  Result<void> flush();
  std::unexpected<Error> failed(std::string_view what) const;
  std::unexpected<Error> lost(std::string_view what) const;

  const std::string path_;
  const AuditChain chain_;
  const Options options_;
  int file_ = -1;
  int head_file_ = -1;
  std::uint64_t size_ = 0;   // of file_, up to the last line that was read or written
  std::uint64_t inode_ = 0;  // of file_
  std::uint64_t device_ = 0;
  bool is_read_ = false;  // size_ belongs to file_
  AuditHead head_;
  std::uint64_t removed_bytes_ = 0;  // of a cut-off line, until the log records it
  bool broken_ = false;              // the state of the disk is unknown
};

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
