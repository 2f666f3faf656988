// Writer: takes records out of all rings in the order of their time stamps and gives them to the
// sinks. It has no thread: Log calls it, and tests do.
//
// Order: a pass notes the end of every ring when it begins, and takes the records that are older
// than the horizon. Records of different threads are normally in order. The exception is a thread
// that loses its CPU between the clock reading and publishing, for longer than the pass stays
// behind.
//
// Owns       sinks, call sites, and a ring for the log's own notes.
// Borrows    the RingSet.
// Thread     one at a time.
// Allocates  for a new call site; buffers grow for a record that needs it.
// Fails      never: records that sinks cannot write are counted (sink.hpp).
// Invariant  every committed record is written once, or counted as lost by a sink.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "katana/observe/log/channel.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/log/sink.hpp"
#include "katana/observe/log/site_table.hpp"
#include "katana/observe/log/ticks.hpp"

namespace katana::log {

class Writer {
 public:
  // Makes the runner of a sink; null: it does its work on the thread of the Writer.
  using MakeRunner = std::function<std::unique_ptr<OutputRunner>(const SinkOptions& options)>;

  Writer(RingSet& rings, std::vector<SinkOptions> sinks, const Report& report,
         ticks::TickScale scale, const MakeRunner& make_runner = nullptr);

  static constexpr std::uint64_t everything = UINT64_MAX;  // a horizon that leaves no record behind
  // Takes the present records that are not younger than the horizon. Returns their bytes in the
  // rings.
  std::uint64_t pass(std::uint64_t horizon_ticks, Instant now);
  // Whether a ring is more than half full.
  bool is_pressed() const noexcept;
  void push(Instant now);
  void reopen(Instant now);

  // mark() remembers the records taken so far. is_settled(): all sinks have written or lost them,
  // except stalled sinks.
  void mark() noexcept;
  bool is_settled() const noexcept;
  // Whether no sink has anything left to do, or to try again.
  bool is_at_rest() const noexcept;
  // Called last, when the log ends: records that outputs have not taken count as lost.
  void abandon() noexcept;
  // Waits until is_settled(), or `until`. Returns the time then.
  Instant await_outputs(Instant now, Instant until);
  // Asks the runners to report their next done jobs.
  void tell_next() noexcept;

  // Writes into the log the number of records that the channel dropped since the last note.
  void note_drops(const Channel& channel);
  void note_crash(int signal);
  // Writes a note for each sink that has not written its records, and will not.
  void note_unwritten();

  ticks::TickScale& scale() noexcept { return scale_; }  // turns ticks of records into time
  // Records that were taken and counted as written.
  std::uint64_t records() const noexcept { return records_; }
  std::uint64_t lost() const noexcept;                // records that outputs failed to write
  std::uint64_t dropped_by_outputs() const noexcept;  // records that found a sink's queue full
  std::string trouble() const;  // of the first sink that has one, with its name; empty: none
  std::size_t site_count() const noexcept { return sites_.size(); }  // call sites that have logged

 private:
  struct Source {
    Ring* ring;
    std::uint64_t end;  // published when the pass began
    bool closed;        // its thread had ended by then
  };
  void gather();
  static bool skip_padding(Source& source) noexcept;
  void drain_run(Source& source, std::uint64_t horizon_ticks, Instant now);
  void write(const Ring& ring, Instant now);
  void add_context(Entry& entry, Bytes context) noexcept;
  void give_back_rings();
  void note_troubles();
  template <class... A>
  void note(Level level, Pattern<A...> pattern, const A&... arguments);

  RingSet& rings_;
  ticks::TickScale scale_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  bool decodes_ = false;  // a sink needs values, not bytes
  SiteTable sites_;
  Decoder decoder_;
  std::vector<Source> sources_;
  std::unique_ptr<char[]> note_memory_;
  Ring notes_;
  LoggerState note_logger_;
  std::uint64_t records_ = 0;
  std::uint64_t told_without_ring_ = 0;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
