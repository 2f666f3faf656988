// AuditFile: the lines of an audit log on a disk: FILE, which is only appended to, the files that
// it was before (FILE.NUMBER, by the number of their last line), and FILE.head, where the chain
// has come to.
//
// Owns       the descriptors, and a lock: one process writes.
// Thread     one at a time.
// Allocates  a buffer for each append.
// Fails      with an Error that names the file and the remedy. An append that fails has written
//            nothing; when that cannot be said, nothing is written any more (Code::data_loss).
// Invariant  FILE.head is never ahead of what is durable in FILE. A line that was cut off by a
//            crash was not acknowledged: open() removes it, and says so in the log.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "katana/audit/chain.hpp"
#include "katana/base/result.hpp"
#include "katana/base/timestamp.hpp"

namespace katana::audit {

class AuditFile {
 public:
  // Goes on where the file ends, or begins one, readable by its owner alone (0600).
  static Result<std::unique_ptr<AuditFile>> open(std::string path, Bytes key,
                                                 std::uint64_t file_bytes_max);
  ~AuditFile();
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

  // A line for each, as render() makes them: all of them, or none.
  Result<void> append(std::span<const std::string> members);
  // What was appended is on the disk, and FILE.head says so.
  Result<void> sync();
  const AuditHead& head() const noexcept { return head_; }

 private:
  AuditFile(std::string path, Bytes key, std::uint64_t file_bytes_max)
      : path_(std::move(path)), chain_(key), file_bytes_max_(file_bytes_max) {}
  Result<void> open_file();
  Result<void> open_head();
  Result<void> resume();
  Result<void> resume_behind_rotated();
  Result<void> check_head() const;
  Result<void> begin_file();
  Result<void> rotate();
  Result<void> write(const std::string& lines);
  Result<void> append_own(std::string_view action, std::string_view name, std::string_view value);
  std::unexpected<Error> failed(std::string_view what) const;

  const std::string path_;
  const AuditChain chain_;
  const std::uint64_t file_bytes_max_;
  int file_ = -1;
  int head_file_ = -1;
  std::uint64_t size_ = 0;
  AuditHead head_;
  bool broken_ = false;  // what the disk has is not known
};

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
