// Log: the rings, the one thread that writes, and its sinks. A program makes one, early in main.
//
//   log::Options options;
//   options.sinks = {log::console(), log::file("var/log/app.log")};
//   auto started = log::Log::start(options);
//   if (!started) return …
//   const log::Logger logger = (*started)->logger("app");
//
// Lost records, by event:
//   stop(), the destructor, std::exit      none that was accepted before, except records that an
//                                          output has not taken within end_max
//   flush()                                a kill -9 after it loses none that was accepted before,
//                                          with the same exception
//   a crash, with flush_on_crash()         none that was accepted before, unless the writer itself
//                                          crashed
//   kill -9, _exit                         those that are not written yet: with the defaults those
//                                          of about the last 10 ms
//   the machine stops                      those that the kernel has not put on the disk
//   a ring is full, a disk is full, an     those for which there is no room; they are counted, and
//   output takes nothing                   the log reports them
//
// Owns       the memory of the rings: threads_max × ring_bytes of address space, used as threads
//            start to log. Also sink buffers, the writer thread, and one thread for each output
//            that may block.
// Thread     any. logger(), set_levels(), reset_levels(), stop() are rare calls and take a lock.
//            After fork() without exec() the child must not log: it has no writer.
// Allocates  at the start, for a new logger name, and for a new call site.
// Fails      start(): invalid_argument, resource_exhausted. Sinks that cannot be written do not
//            fail the start: they are reported and tried again.
// Invariant  threads that log never wait for a sink, except with WhenFull::block or
//            Mode::synchronous, and never longer than SinkOptions::stalled_after. A sink does not
//            wait for another. flush() and stop() take at most end_max.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/log/sink.hpp"

namespace katana::log {

// The thread that writes records.
enum class Mode : std::uint8_t {
  background,   // a thread of the Log writes
  synchronous,  // the logging thread waits for the kernel, not for a stalled output
};

// The options of Log::start().
struct Options {
  std::vector<SinkOptions> sinks = {};  // none: nothing is written anywhere
  Level level = Level::info;            // of loggers without their own level
  // Background, unless each record must be written before the call returns.
  Mode mode = Mode::background;
  WhenFull when_full = WhenFull::drop;            // the policy of a full ring
  Duration block_max = milliseconds(100);         // longest wait of WhenFull::block per record
  std::uint64_t ring_bytes = 256 * 1024;          // of each thread; a power of two, at least 64 KiB
  std::uint32_t threads_max = 64;                 // threads that log at the same time
  Duration poll_interval = milliseconds(4);       // of a writer with much work
  Duration poll_interval_max = milliseconds(64);  // of one with little; a ring half full wakes it
  // The interval of a writer after doze_after looks without records: the next record wakes it. It
  // then looks a few times more, for a record that was in progress, and sleeps until it is woken.
  Duration doze_interval = milliseconds(250);
  int doze_after = 2;
  // How far a pass stays behind: late records then find their place. Not while rings are full.
  Duration order_grace = microseconds(200);
  Duration end_max = seconds(2);  // the longest wait of flush() and stop() for outputs
  Report report = report_to_standard_error;
};

// The counts of a Log since its start.
struct Counts {
  std::uint64_t records = 0;             // written, the log's own notes included
  std::uint64_t dropped = 0;             // no room in a ring, or no ring
  std::uint64_t dropped_warnings = 0;    // no room in a ring, of warn and above
  std::uint64_t refused = 0;             // after stop()
  std::uint64_t lost = 0;                // outputs failed, or took nothing at the end; per sink
  std::uint64_t dropped_by_outputs = 0;  // queues of outputs were full; per sink
  // The present bytes in the rings of all threads, and the used share of the fullest ring.
  std::uint64_t waiting_bytes = 0;
  double fullest_ring = 0;  // 0 to 1
};

class Log {
 public:
  // Starts a Log. An Error names the wrong option, or the missing resource. Outputs are opened
  // later.
  static Result<std::unique_ptr<Log>> start(Options options);
  virtual ~Log() = default;  // stop()

  // The logger of this name: the same one for the same name. At most 1,024 names.
  virtual Logger logger(std::string name) = 0;
  // Sets levels, as in "info", or "warn,http=debug,database=trace": the first is for all other
  // loggers, and ends earlier levels by name. Without it the others stay. Fails with
  // invalid_argument, and changes nothing then. Names of future loggers are allowed.
  virtual Result<void> set_levels(Bytes levels) = 0;
  // The same, but begins from Options::level for every logger: earlier calls have no effect any
  // more. For levels of a configuration, which say all.
  virtual Result<void> reset_levels(Bytes levels) = 0;

  // An Error says which output is failing or slow now, and why. For readiness.
  virtual Result<void> health() const = 0;

  // Returns when all earlier records have been handed to the kernel or counted as lost. At the
  // latest it returns after `wait_max` or end_max, whichever is shorter.
  virtual void flush(Duration wait_max) noexcept = 0;
  void flush() noexcept { flush(seconds(3600)); }
  // Opens the files of all sinks again, after another program has moved them (SIGHUP).
  virtual void reopen() noexcept = 0;
  // Writes the accepted records, and refuses later ones. Called once; the destructor calls it.
  virtual void stop() noexcept = 0;
  virtual Counts counts() const noexcept = 0;
  // The most memory of rings and sink buffers, with threads_max threads.
  virtual std::uint64_t memory_bytes_max() const noexcept = 0;

 protected:
  Log() = default;
};

// After a crash (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) every Log's writer gets up to two
// seconds to write its records. The signal then takes its course. The handler does only what is
// safe in a signal handler: it wakes the writer and waits. It uses the crashed thread's alternate
// stack, if there is one; the calling thread gets one. Also sets the handler of std::terminate():
// it prints the exception, without waiting for an unread standard error, and aborts.
Result<void> flush_on_crash();

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
