// Log: the rings, the one thread that writes, and its sinks. A program makes one, early in main.
//
//   log::Options options;
//   options.sinks = {log::console(), log::file("var/log/app.log")};
//   auto started = log::Log::start(options);
//   if (!started) return …
//   const log::Logger logger = (*started)->logger("app");
//
// What is lost, and when:
//   stop(), the destructor, std::exit      nothing that was accepted before, but what an output
//                                          that takes nothing has not taken within end_max
//   flush()                                nothing accepted before is lost by a kill -9 after it,
//                                          with the same exception
//   a crash, with flush_on_crash()         nothing accepted before, unless the writer itself
//                                          crashed
//   kill -9, _exit                         what the writer had not yet written: with the defaults
//                                          what is younger than about 10 ms
//   the machine stops                      what the kernel had not yet put on the disk
//   a ring is full, a disk is full, an     what there is no room for; counted, and said in the log
//   output takes nothing
//
// Owns       the memory of the rings: threads_max × ring_bytes of address space, real as threads
//            come; sink buffers; the writer thread, and one for each output that may block.
// Thread     any. logger(), set_levels(), stop() are rare calls and take a lock. After fork()
//            without exec() the child must not log: it has no writer.
// Allocates  at the start, for a new logger name, for a call site that is new.
// Fails      start(): invalid_argument, resource_exhausted. Sinks that cannot be written are no
//            failure of the start: they are reported and tried again.
// Invariant  threads that log never wait for a sink, unless WhenFull::block or Mode::synchronous,
//            and never longer than SinkOptions::stalled_after. A sink does not wait for another.
//            flush() and stop() take at most end_max.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/log/sink.hpp"

namespace katana::log {

// Which thread writes records.
enum class Mode : std::uint8_t {
  background,   // a thread of the Log writes
  synchronous,  // the logging thread waits for the kernel, but not for an output that is stalled
};

// What a Log is started with.
struct Options {
  std::vector<SinkOptions> sinks = {};  // none: nothing is written anywhere
  Level level = Level::info;            // of loggers without their own level
  // Background, unless each record must be there before the call returns.
  Mode mode = Mode::background;
  WhenFull when_full = WhenFull::drop;           // what a full ring does to records
  Duration block_max = milliseconds(100);        // what WhenFull::block may wait for one record
  std::uint64_t ring_bytes = 256 * 1024;         // of each thread; a power of two, at least 64 KiB
  std::uint32_t threads_max = 64;                // that log at the same time
  Duration poll_interval = milliseconds(4);      // of a writer with work
  Duration poll_interval_max = milliseconds(8);  // of an idle one
  // Of one that has found nothing for doze_after looks: the next record wakes it.
  Duration doze_interval = milliseconds(250);
  int doze_after = 16;
  // How far a pass stays behind, so that late records find their place. Not while rings are full.
  Duration order_grace = microseconds(200);
  Duration end_max = seconds(2);  // what flush() and stop() wait for outputs
  Report report = report_to_standard_error;
};

// What a Log has counted since its start.
struct Counts {
  std::uint64_t records = 0;           // written, the log's own notes included
  std::uint64_t dropped = 0;           // no room in a ring, or no ring
  std::uint64_t dropped_warnings = 0;  // no room in a ring, of warn and above
  std::uint64_t refused = 0;           // after stop()
  std::uint64_t lost = 0;  // outputs failed or took nothing to the end; each sink counts for itself
  std::uint64_t dropped_by_outputs = 0;  // queues of outputs were full; likewise
  // For this moment: what is in the rings of all threads, and how much of the fullest one is in
  // use.
  std::uint64_t waiting_bytes = 0;
  double fullest_ring = 0;  // 0 to 1
};

class Log {
 public:
  // An Error names the wrong option, or what the process lacks. Outputs are opened later.
  static Result<std::unique_ptr<Log>> start(Options options);
  virtual ~Log() = default;  // stop()

  // The logger of this name: the same one for the same name. At most 1,024 names.
  virtual Logger logger(std::string name) = 0;
  // "info", or "warn,http=debug,database=trace": the first is for all others. Fails with
  // invalid_argument, and nothing is then changed. Names may be those of loggers to come.
  virtual Result<void> set_levels(Bytes levels) = 0;

  // An Error says which output fails or is slow now, and why. For readiness.
  virtual Result<void> health() const = 0;

  // Returns when all that was accepted before has been handed to the kernel, or counted as lost; or
  // when `wait_max` is over, or end_max if that is less.
  virtual void flush(Duration wait_max) noexcept = 0;
  void flush() noexcept { flush(seconds(3600)); }
  // Opens the files of all sinks again: after another program has moved them (SIGHUP).
  virtual void reopen() noexcept = 0;
  // Writes what was accepted, and refuses what comes later. Once; the destructor calls it.
  virtual void stop() noexcept = 0;
  virtual Counts counts() const noexcept = 0;
  // Of rings and sink buffers, when every thread has come.
  virtual std::uint64_t memory_bytes_max() const noexcept = 0;

 protected:
  Log() = default;
};

// After a crash (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) every Log's writer gets up to two
// seconds to write what it has; then the signal takes its course. The handler does only what is
// safe in one: it wakes the writer and waits. It uses the alternate stack of the crashed thread if
// it has one; the calling thread is given one. Sets what std::terminate() does, too: it prints the
// exception, without waiting for a standard error that is not read, and aborts.
Result<void> flush_on_crash();

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
