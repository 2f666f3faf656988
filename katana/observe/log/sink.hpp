// Sink: an output with a layout, a threshold, a bounded queue and a plan for the day when it fails.
//
//   options.sinks = {log::console(), log::file("app.log"), log::json_file("app.json")};
//
// A failing output is reported once on standard error. Until it works again it is tried once in
// every retry_after, what cannot be written is counted, and when it works again the log itself says
// how much was lost and why.
//
// An output that is slow, or takes nothing (a pipe that is not read, a file system that hangs), has
// queue_bytes_max of records waiting for it. Later records are dropped and counted; the last
// eighth of the queue is for records of warn and above; the log says so when that begins, and
// when it is over how many. Before that a sink with WhenSlow::wait holds the writer up for as long
// as the output moves.
//
// Owns       its buffers: bytes on their way to the output.
// Thread     one at a time: the Log's writer. The output has its own thread.
// Allocates  as its layout does, and buffers while its output is slow.
// Fails      never: failures are counted and reported.
// Invariant  memory stays within queue_bytes_max, two buffers and two records. Records enter a file
//            whole. No call takes longer than stalled_after, and none waits for a stalled output.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/log/output.hpp"
#include "katana/observe/log/output_runner.hpp"

namespace katana::log {

// When a file is closed and another begun, and how many old ones stay.
struct Rotation {
  std::uint64_t bytes_max = 0;  // with so many a new file is begun; 0: never
  Duration period = {};         // a file is of one period of UTC, as seconds(86'400); 0: any
  unsigned keep = 8;            // old files
};

// What becomes of records that find the queue of their output full.
enum class WhenSlow : std::uint8_t {
  drop,  // they are dropped at once: the output never holds up the others
  wait,  // the writer waits for as long as the output moves, and rings fill meanwhile
};

// One output of a Log, and which records it gets.
struct SinkOptions {
  std::shared_ptr<Output> output = nullptr;  // Log::start() fails without one
  LayoutKind layout = LayoutKind::text;      // how records become bytes
  // A layout of your own, made once; none: `layout`. Its output writes no file.
  std::function<std::unique_ptr<Layout>()> own_layout = {};
  Level level = Level::trace;                   // records below it are left out
  Rotation rotation = {};                       // of file outputs; others ignore it
  std::uint32_t buffer_bytes = 64 * 1024;       // collected before a write
  Duration retry_after = seconds(1);            // a failed output is opened again so long after
  std::uint64_t queue_bytes_max = 1024 * 1024;  // that wait for the output
  WhenSlow when_slow = WhenSlow::wait;          // what a full queue does to new records
  Duration stalled_after = seconds(1);          // an output that has moved nothing for so long
};

// Standard error; in colours when it is a terminal and NO_COLOR is not set. WhenSlow::drop.
SinkOptions console();
SinkOptions file(std::string path, Rotation rotation = {});
SinkOptions json_file(std::string path, Rotation rotation = {});
SinkOptions binary_file(std::string path, Rotation rotation = {});

// Where a sink says that it fails. By default standard error, which may be what fails: it must not
// wait.
using Report = std::function<void(Bytes line)>;
void report_to_standard_error(Bytes line);  // one write(2) to descriptor 2, without waiting

class Sink {
 public:
  // `runner`: null: one that does its work here.
  Sink(SinkOptions options, Report report, std::unique_ptr<OutputRunner> runner = nullptr);

  Level level() const noexcept { return options_.level; }  // records below it are left out
  // The name of its output; reports name the sink by it.
  const std::string& name() const noexcept { return name_; }
  bool is_binary() const noexcept { return options_.layout == LayoutKind::binary; }
  // `text` is the entry as plain text, once a sink has made it, so that several share the work. It
  // lies in the buffer of that sink, until its next record.
  void write(const Entry& entry, Instant now, Bytes& text);
  // Hands what is buffered to the output, and sees what became of what it has.
  void push(Instant now);
  // Opens the file again: another program has moved it.
  void reopen(Instant now);

  // Remembers what was accepted by now; is_settled(): that is written, or lost, or not to be waited
  // for.
  void mark() noexcept { marked_ = accepted_; }
  bool is_settled() const noexcept { return settled_ >= marked_ || stalled_; }
  // Until something of it is settled, or for `wait_max`. Returns the time then.
  Instant wait(Instant now, Duration wait_max);
  // Has the runner tell when it has done something.
  void tell_next() noexcept {
    if (outstanding_ > 0) runner_->tell_next();
  }

  std::uint64_t written() const noexcept { return written_; }  // records that the output has taken
  std::uint64_t lost() const noexcept { return lost_; }        // the output failed
  std::uint64_t dropped() const noexcept { return dropped_; }  // the queue was full
  // Records that the sink has accepted and that are neither written nor lost.
  std::uint64_t waiting() const noexcept { return accepted_ - settled_; }
  // The log ends: what the output has not taken by now counts as lost. Last.
  void abandon() noexcept {
    lost_ += waiting();
    settled_ = accepted_;
  }
  // What the log itself says of a failing or slow sink.
  struct Trouble {
    std::string sink;    // name of its output
    std::string reason;  // of the output's Error, or that it is slow
    std::uint64_t lost;  // dropped ones included
    bool failed;         // false: it was slow, or took nothing
  };
  // Why it fails or is slow now; empty: it is well.
  Bytes trouble() const noexcept { return recovered_ ? Bytes() : Bytes(reason_); }
  // Once after each failure, stall or overflow that is over.
  std::optional<Trouble> take_recovery();
  // Once for each output that takes nothing, or too little.
  std::optional<Trouble> take_slowness();

 private:
  enum class State : std::uint8_t { closed, opening, open };

  bool ready(Instant now);
  void open(Instant now);
  bool make_capacity(const Entry& entry, Instant now);
  bool has_capacity(Level level) const noexcept;
  void add(const Entry& entry, Bytes& text);
  void hand(Instant now);
  void give(OutputJob job, Instant now);
  void look(Instant now);
  void on_done(OutputDone& done, Instant now);
  void on_opened(const OutputDone& done, Instant now);
  void on_rotated(const OutputDone& done, Instant now);
  void note_failure(const Error& error, Instant now);
  void find_stall(Instant now);
  void note_slowness(std::string reason);
  bool wants_rotation(std::int64_t wall_ns, Instant now) const noexcept;
  void rotate(Instant now);
  void tell(Bytes what);
  void renew_buffer();

  SinkOptions options_;  // its output is the runner's
  const std::string name_;
  const Report report_;
  const std::unique_ptr<Layout> layout_;
  const std::unique_ptr<OutputRunner> runner_;
  std::vector<Buffer> spare_;  // that the runner has given back
  Buffer buffer_;
  std::uint64_t buffered_records_ = 0;
  std::int64_t buffered_wall_ns_ = 0;  // of the first of them
  State state_ = State::closed;
  std::uint64_t opening_ = 0;    // how many times
  std::size_t outstanding_ = 0;  // jobs that the runner has
  std::uint64_t outstanding_bytes_ = 0;
  Instant moved_at_ = {};     // of the runner: it got its first job, or has done one
  std::uint64_t size_ = 0;    // of the file, once all of these are done
  std::int64_t period_ = -1;  // of the file's records
  bool begun_anew_ = false;   // since it was opened: what was there before is in another file
  bool rotation_failed_ = false;
  Instant retry_at_ = {INT64_MIN};
  std::string reason_;  // not empty: failing or slow
  bool failing_ = false;
  bool stalled_ = false;
  bool overflowing_ = false;
  bool slowness_untold_ = false;
  bool recovered_ = false;  // written again since the failure; a full disk can be opened
  std::uint64_t lost_in_failure_ = 0;
  std::uint64_t accepted_ = 0;
  std::uint64_t settled_ = 0;  // of these: written, or lost
  std::uint64_t marked_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
