// Report: a crash report, read. Its lines, in this order; each begins with its word:
//
//   katana-crash-report 1
//   program NAME            version TEXT             build-id HEX
//   process NUMBER          time 2026-11-29T07:05:12Z          uptime-ms NUMBER
//   signal NUMBER NAME      code NUMBER NAME         address 0xHEX
//   reason TEXT             the last words: a failed check, an exception that nothing caught
//   thread ID crashed NAME  then of this thread:
//     on ROUTE              request ID               what it worked for
//     in-flight age-ms=N request=ID on ROUTE         a request that it serves
//     frame 0xADDRESS BUILD-ID +0xOFFSET PATH        "-" for what is not known
//     more-frames           no-answer
//   reactor NUMBER …        facts of a reactor
//   thread ID runs NAME     the other threads, with the same lines
//   record TEXT             the last records of the log, the oldest first
//   module 0xBEGIN 0xEND BUILD-ID PATH
//   end                     the report is whole
//
// "fault …" stands where a fault of the handler cut a part off. Readers skip words that they do not
// know.
//
// Owns       its texts.
// Thread     a value.
// Allocates  as much as the report has bytes, at most report_bytes_max, and a few times that.
// Fails      parse_report(): invalid_argument, with the line and what is wrong with it.
// Invariant  texts have no control characters, whatever the file has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::crash {

// One call on a stack.
struct Frame {
  std::uint64_t address = 0;  // in the memory of the process
  std::string build_id = {};  // hexadecimal; empty: not known
  std::uint64_t offset = 0;   // within the file; 0 without a path
  std::string path = {};      // of the module; empty: the address is in none
};

// A thread of the process that crashed.
struct ReportedThread {
  std::int64_t id = 0;                      // gettid(2)
  bool crashed = false;                     // it has made the crash
  bool answered = true;                     // false: it has no stack
  bool cut = false;                         // it has more frames
  std::string name = {};                    // at most 15 bytes
  std::string route = {};                   // empty: it worked for none
  std::string request = {};                 // likewise
  std::vector<std::string> in_flight = {};  // requests, as "age-ms=3 request=ID on ROUTE"
  std::vector<Frame> frames = {};           // the innermost first
};

// A whole report. Texts are empty where the report has none.
struct Report {
  std::string program = {};                  // its name
  std::string version = {};                  // of the program
  std::string build_id = {};                 // of the program, hexadecimal
  std::int64_t process = 0;                  // getpid(2)
  std::string time = {};                     // of the crash, UTC: "2026-11-29T07:05:12Z"
  std::int64_t uptime_ms = 0;                // since install()
  std::int64_t signal = 0;                   // its number; never 0 in a report that was parsed
  std::string signal_name = {};              // "SIGSEGV"
  std::string code = {};                     // number and name: "1 SEGV_MAPERR"
  std::string address = {};                  // "0x10"; empty: the signal has none
  std::string reason = {};                   // of an abort: the failed check or the exception
  std::vector<ReportedThread> threads = {};  // the crashed one first
  std::vector<std::string> reactors = {};    // a line for each
  std::vector<std::string> records = {};     // of the log, the oldest first
  bool whole = false;                        // it ends with "end"
};

// `text`: of the whole file.
Result<Report> parse_report(Bytes text);

// "signal 11 SIGSEGV in thread 'work/0' on GET /users (request 01J…): <reason>".
std::string summary_of(const Report& report);
// The first frames of the crashed thread: "notes+0x1234, libc.so.6+0x9876"; empty: it has none.
std::string top_frames_of(const Report& report, std::size_t count_max);

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
