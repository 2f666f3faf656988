// Sink: an output with a layout, a threshold and a plan for the day when it fails.
//
//   options.sinks = {log::console(), log::file("app.log"), log::json_file("app.json")};
//
// A failing output is reported once on standard error. Until it works again it is tried once in
// every retry_after, what cannot be written is counted, and when it works again the log itself says
// how much was lost and why.
//
// Owns       its buffer: octets on their way to the output.
// Thread     one at a time: the Log's writer.
// Allocates  as its layout does. The buffer is reserved when the sink is made.
// Fails      never: failures are counted and reported.
// Invariant  memory stays within buffer_bytes and one record. Records enter a file whole.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "katana/base/instant.hpp"
#include "katana/log/output.hpp"

namespace katana::log {

struct Rotation {
  std::uint64_t bytes_max = 0;  // with so many a new file is begun; 0: never
  Duration period = {};         // a file is of one period of UTC, as seconds(86'400); 0: any
  unsigned keep = 8;            // old files
};

struct SinkOptions {
  std::shared_ptr<Output> output = nullptr;
  LayoutKind layout = LayoutKind::text;
  Level level = Level::trace;
  Rotation rotation = {};
  std::uint32_t buffer_bytes = 64 * 1024;
  Duration retry_after = seconds(1);
};

// Standard error; in colours when it is a terminal and NO_COLOR is not set.
SinkOptions console();
SinkOptions file(std::string path, Rotation rotation = {});
SinkOptions json_file(std::string path, Rotation rotation = {});
SinkOptions binary_file(std::string path, Rotation rotation = {});

// Where a sink says that it fails. By default standard error.
using Report = std::function<void(Bytes line)>;
void report_to_standard_error(Bytes line);

class Sink {
 public:
  Sink(SinkOptions options, Report report);

  Level level() const noexcept { return options_.level; }
  bool is_binary() const noexcept { return options_.layout == LayoutKind::binary; }
  // `text` is the entry as plain text, once a sink has made it, so that several share the work. It
  // lies in the buffer of that sink, until its next record.
  void write(const Entry& entry, Instant now, Bytes& text);
  // Hands what is buffered to the output.
  void push(Instant now);
  // Opens the file again: somebody has moved it.
  void reopen(Instant now);

  std::uint64_t written() const noexcept { return written_; }
  std::uint64_t lost() const noexcept { return lost_; }
  struct Recovery {
    std::string sink;
    std::string reason;
    std::uint64_t lost;
  };
  // Once after each failure that is over.
  std::optional<Recovery> take_recovery();

 private:
  bool ready(Instant now);
  void add(const Entry& entry, Bytes& text);
  void lose(std::uint64_t records, const Error& error, Instant now);
  bool wants_rotation(const Entry& entry, Instant now) const noexcept;
  void rotate(Instant now);
  void tell(Bytes what);

  const SinkOptions options_;
  const Report report_;
  const std::unique_ptr<Layout> layout_;
  Buffer buffer_;
  std::uint64_t buffered_records_ = 0;
  bool open_ = false;
  bool rotation_failed_ = false;
  Instant retry_at_ = {INT64_MIN};
  std::int64_t period_ = -1;  // of the file's records
  std::string reason_;        // not empty: failing
  bool recovered_ = false;    // written again since the failure; a full disk can be opened
  std::uint64_t lost_in_failure_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
