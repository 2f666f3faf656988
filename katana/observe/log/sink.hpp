// Sink: an output with a layout, a threshold, a bounded queue and a recovery from failures.
//
//   options.sinks = {log::console(), log::file("app.log"), log::json_file("app.json")};
//
// A failing output is reported once on standard error. Until it works again it is tried once in
// every retry_after, and records that cannot be written are counted. When it works again the log
// itself reports the number of lost records and the reason.
//
// An output may be slow or take nothing (an unread pipe, a file system that hangs). At most
// queue_bytes_max of records then wait for it. Later records are dropped and counted; the last
// eighth of the queue is for records of warn and above. The log reports the beginning, and at the
// end the number of dropped records. Before that a sink with WhenSlow::wait holds the writer up for
// as long as the output makes progress.
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

// When a new file is begun, and how many old ones are kept.
struct Rotation {
  std::uint64_t bytes_max = 0;  // a new file begins at this size; 0: never
  Duration period = {};         // a file covers one period of UTC, as seconds(86'400); 0: any
  unsigned keep = 8;            // old files
};

// The fate of records that find the queue of their output full.
enum class WhenSlow : std::uint8_t {
  drop,  // dropped at once: the output never holds up the others
  wait,  // the writer waits while the output makes progress, and rings fill
};

// One output of a Log, and the choice of its records.
struct SinkOptions {
  std::shared_ptr<Output> output = nullptr;  // Log::start() fails without one
  LayoutKind layout = LayoutKind::text;      // the format of its bytes
  // The maker of a custom layout, called once; none: `layout`. Its output writes no file.
  std::function<std::unique_ptr<Layout>()> own_layout = {};
  Level level = Level::trace;                   // records below it are left out
  Rotation rotation = {};                       // of file outputs; others ignore it
  std::uint32_t buffer_bytes = 64 * 1024;       // collected before a write
  Duration retry_after = seconds(1);            // the pause before a failed output is opened again
  std::uint64_t queue_bytes_max = 1024 * 1024;  // bytes that wait for the output
  WhenSlow when_slow = WhenSlow::wait;          // the policy of a full queue
  Duration stalled_after = seconds(1);          // an output without progress for so long is stalled
};

// Standard error; in colours when it is a terminal and NO_COLOR is not set. WhenSlow::drop.
SinkOptions console();
SinkOptions file(std::string path, Rotation rotation = {});
SinkOptions json_file(std::string path, Rotation rotation = {});
SinkOptions binary_file(std::string path, Rotation rotation = {});

// The report of a failing sink. By default it goes to standard error, which may be what fails: it
// must not wait.
using Report = std::function<void(Bytes line)>;
void report_to_standard_error(Bytes line);  // one write(2) to descriptor 2, without waiting

class Sink {
 public:
  // `runner`: null: an inline runner.
  Sink(SinkOptions options, Report report, std::unique_ptr<OutputRunner> runner = nullptr);

  Level level() const noexcept { return options_.level; }  // records below it are left out
  // The name of its output; reports name the sink by it.
  const std::string& name() const noexcept { return name_; }
  bool is_binary() const noexcept { return options_.layout == LayoutKind::binary; }
  // Writes an entry. `text` is the entry as plain text, once a sink has made it: several sinks
  // share the work. It lies in the buffer of that sink, until its next record.
  void write(const Entry& entry, Instant now, Bytes& text);
  // Hands buffered records to the output, and collects the results of earlier jobs.
  void push(Instant now);
  // Opens the file again, because another program has moved it.
  void reopen(Instant now);

  // mark() remembers the records accepted so far. is_settled(): all of them are written or lost, or
  // the output is stalled.
  void mark() noexcept { marked_ = accepted_; }
  bool is_settled() const noexcept { return settled_ >= marked_ || stalled_; }
  // Nothing is buffered, with the output, to be tried again or to be noted.
  bool is_at_rest() const noexcept {
    return buffered_records_ == 0 && outstanding_ == 0 && !failing_ && reason_.empty();
  }
  // Waits until some of it is settled, or for `wait_max`. Returns the time then.
  Instant wait(Instant now, Duration wait_max);
  // Asks the runner to report its next done job.
  void tell_next() noexcept {
    if (outstanding_ > 0) runner_->tell_next();
  }

  std::uint64_t written() const noexcept { return written_; }  // records that the output has taken
  std::uint64_t lost() const noexcept { return lost_; }        // because the output failed
  std::uint64_t dropped() const noexcept { return dropped_; }  // because the queue was full
  // Records that the sink has accepted and that are neither written nor lost.
  std::uint64_t waiting() const noexcept { return accepted_ - settled_; }
  // Called last, when the log ends: records that the output has not taken count as lost.
  void abandon() noexcept {
    lost_ += waiting();
    settled_ = accepted_;
  }
  // The data of the log's own report about a failing or slow sink.
  struct Trouble {
    std::string sink;    // name of its output
    std::string reason;  // of the output's Error, or that it is slow
    std::uint64_t lost;  // dropped ones included
    bool failed;         // false: it was slow, or took nothing
  };
  // The reason of the present failure or slowness; empty: none.
  Bytes trouble() const noexcept { return recovered_ ? Bytes() : Bytes(reason_); }
  // Returns a value once after each failure, stall or overflow that is over.
  std::optional<Trouble> take_recovery();
  // Returns a value once for each output that takes nothing, or too little.
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

  SinkOptions options_;  // the runner has its output
  const std::string name_;
  const Report report_;
  const std::unique_ptr<Layout> layout_;
  const std::unique_ptr<OutputRunner> runner_;
  std::vector<Buffer> spare_;  // given back by the runner
  Buffer buffer_;
  std::uint64_t buffered_records_ = 0;
  std::int64_t buffered_wall_ns_ = 0;  // of the first of them
  State state_ = State::closed;
  std::uint64_t opening_ = 0;    // how many times it was opened
  std::size_t outstanding_ = 0;  // jobs at the runner
  std::uint64_t outstanding_bytes_ = 0;
  Instant moved_at_ = {};     // the runner got its first job, or did one
  std::uint64_t size_ = 0;    // of the file, after all these jobs
  std::int64_t period_ = -1;  // of the file's records
  bool begun_anew_ = false;   // since it was opened: earlier bytes are in another file
  bool rotation_failed_ = false;
  Instant retry_at_ = {INT64_MIN};
  std::string reason_;  // not empty: failing or slow
  bool failing_ = false;
  bool stalled_ = false;
  bool overflowing_ = false;
  bool slowness_untold_ = false;
  bool recovered_ = false;  // written again since the failure; not proven by an open()
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
