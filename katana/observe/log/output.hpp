// Output: the destination of a sink's bytes: a file, a terminal, or a class of a user.
//
// Thread     one at a time: that of its sink (output_runner.hpp), which it may hold up for ever;
//            the Log's writer if may_block() is false.
// Allocates  without limits: never on the threads that log.
// Fails      values: the sink reports them once, counts lost records, and opens the output again.
// Invariant  write() keeps records whole: when it fails, nothing of `records` stays, as far as the
//            output can take bytes back.
#pragma once

#include <cstdint>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/observe/log/layout.hpp"

namespace katana::log {

class Output {
 public:
  virtual ~Output() = default;
  virtual const std::string& name() const noexcept = 0;  // of the file or device, for reports
  // False: it writes to memory, and needs no thread.
  virtual bool may_block() const noexcept { return true; }
  // Called again after a failure, and when another program has moved the file.
  virtual Result<void> open(const Layout& layout) = 0;
  virtual Result<void> write(Bytes records) = 0;
  // The number of bytes in the file; 0 without a file.
  virtual std::uint64_t size() const noexcept { return 0; }
  // The time when the present bytes began, in nanoseconds since 1970; 0 when there are none.
  virtual std::int64_t begun_wall_ns() const noexcept { return 0; }
  // Begins a new file and keeps `keep` of the old ones. Leaves it open.
  virtual Result<void> rotate(unsigned, const Layout&) { return {}; }
};

// A descriptor that its user opened and will close: standard error or standard output.
class DescriptorOutput final : public Output {
 public:
  DescriptorOutput(int descriptor, std::string name)
      : descriptor_(descriptor), name_(std::move(name)) {}
  const std::string& name() const noexcept override { return name_; }
  Result<void> open(const Layout&) override { return {}; }
  Result<void> write(Bytes records) override;

 private:
  const int descriptor_;
  const std::string name_;
};

// A file to which records are appended. Old files are path.1 (the youngest), path.2 and so on.
class FileOutput final : public Output {
 public:
  explicit FileOutput(std::string path) : path_(std::move(path)) {}
  ~FileOutput() override { close(); }
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;

  const std::string& name() const noexcept override { return path_; }
  Result<void> open(const Layout& layout) override;
  Result<void> write(Bytes records) override;
  std::uint64_t size() const noexcept override { return size_; }
  std::int64_t begun_wall_ns() const noexcept override { return begun_wall_ns_; }
  Result<void> rotate(unsigned keep, const Layout& layout) override;

 private:
  void close() noexcept;
  Result<void> continue_behind(const Layout& layout);

  const std::string path_;
  int descriptor_ = -1;
  bool regular_ = false;
  std::uint64_t size_ = 0;
  std::int64_t begun_wall_ns_ = 0;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
