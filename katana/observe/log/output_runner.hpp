// OutputRunner: does the work of one sink's Output, on a separate thread or inline. With a thread,
// an output that hangs holds up neither the other sinks nor the end of the program.
//
//   given job → done, in the order in which they were given
//
// After a write that failed, jobs fail with the same error until one opens the output again.
//
// Owns       its share of the output, the jobs and, if it has one, the thread. A thread in a call
//            that does not return is left behind by the destructor, with all that it uses.
// Thread     one at a time, besides its thread.
// Allocates  for each job; the thread with the first.
// Fails      a job's result reports it; a thread that cannot be made is the result of the first
//            job.
// Invariant  each job that was given is done once, or abandoned by the destructor.
#pragma once

#include <memory>
#include <optional>

#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/log/output.hpp"

namespace katana::log {

// One piece of work for an output.
struct OutputJob {
  // The runner's action on the output.
  enum class Kind : std::uint8_t {
    open,   // opens it, and ends an earlier failure
    write,  // writes `bytes`
    rotate  // begins a new file, and keeps `keep` old ones
  };
  Kind kind = Kind::write;    // decides which members below count
  Buffer bytes = Buffer();    // to write
  std::uint64_t records = 0;  // in them
  unsigned keep = 0;          // of old files, to rotate
  std::uint64_t opening = 0;  // which opening of the output it belongs to
};

// A job that the runner has done, and its result.
struct OutputDone {
  OutputJob job;                   // its buffer can be used again
  Result<void> result = {};        // of the job
  std::uint64_t size = 0;          // of the output afterwards
  std::int64_t begun_wall_ns = 0;  // of the output afterwards
};

class OutputRunner {
 public:
  virtual ~OutputRunner() = default;
  // Queues the job behind earlier ones; an inline runner does it before it returns.
  virtual void give(OutputJob job) = 0;
  virtual std::optional<OutputDone> take() = 0;  // the oldest done job; nothing if there is none
  // Waits until a job is done that was not taken yet, or for `wait_max`. Returns the time then.
  virtual Instant wait(Instant now, Duration wait_max) = 0;
  // Calls the hook of thread_runner() when the next job is done.
  virtual void tell_next() noexcept {}
};

// Does its jobs inline: for an output that cannot hang, and for tests.
std::unique_ptr<OutputRunner> inline_runner(std::shared_ptr<Output> output, LayoutKind layout);
// `on_done` is called on the thread, once after each tell_next(), and never after the destructor.
std::unique_ptr<OutputRunner> thread_runner(std::shared_ptr<Output> output, LayoutKind layout,
                                            std::function<void()> on_done);
// Whether the calling thread belongs to a runner: it must not wait for outputs.
bool is_output_thread() noexcept;

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
