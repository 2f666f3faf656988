// Writer: takes records out of all rings in the order of their time stamps and gives them to the
// sinks. Without its own thread: Log calls it, and tests do.
//
// Order: a pass looks at what every ring holds when it begins, and takes what is older than the
// horizon. Records of different threads are in order unless a thread loses its CPU between reading
// the clock and publishing the record, for longer than the pass stays behind.
//
// Owns       sinks, call sites, and a ring for the notes that the log writes itself.
// Borrows    the RingSet.
// Thread     one at a time.
// Allocates  for a call site that it has not met; buffers grow for a record that needs it.
// Fails      never: what sinks cannot write is counted (sink.hpp).
// Invariant  every record that was committed is written once, or counted as lost by a sink.
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
  // Takes what is there and not younger than the horizon. Returns how many bytes of rings that
  // was.
  std::uint64_t pass(std::uint64_t horizon_ticks, Instant now);
  // A ring is more than half full.
  bool is_pressed() const noexcept;
  void push(Instant now);
  void reopen(Instant now);

  // Remembers what was taken by now; is_settled(): all sinks have written or lost it, but for those
  // that take nothing.
  void mark() noexcept;
  bool is_settled() const noexcept;
  // The log ends: what outputs have not taken by now counts as lost. Last.
  void abandon() noexcept;
  // Until then, or `until`. Returns the time then.
  Instant await_outputs(Instant now, Instant until);
  // Has the runners tell when they have done something.
  void tell_next() noexcept;

  // Writes into the log how many records the channel dropped since it was last told.
  void note_drops(const Channel& channel);
  void note_crash(int signal);
  // Of each sink that has not written what was taken, and will not.
  void note_unwritten();

  ticks::TickScale& scale() noexcept { return scale_; }  // turns ticks of records into time
  // Records that were taken and counted as written.
  std::uint64_t records() const noexcept { return records_; }
  std::uint64_t lost() const noexcept;                // records that outputs failed to write
  std::uint64_t dropped_by_outputs() const noexcept;  // records that found a sink's queue full
  std::string trouble() const;  // of the first sink that has one, with its name; empty: none has
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
  bool decodes_ = false;  // some sink wants values, not bytes
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
