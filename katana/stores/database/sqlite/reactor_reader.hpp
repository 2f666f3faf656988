// ReactorReader: one executor's part of the database. It has a read connection, and the snapshot
// that reads share while the executor is busy. It hands its works over when the turn ends.
//
// Owns       its connection; works until the turn ends.
// Borrows    options, watch, clock, writer, readers.
// Thread     its executor's; figures any.
// Allocates  its connection, and statements.
// Fails      by Outcome::error.
// Invariant  a snapshot ends before its executor waits, and after Executor::kept_turns_max turns.
//            It also ends before a read that begins after a commit was acknowledged. Therefore
//            every read sees every write acknowledged before it began.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/values/tally.hpp"
#include "katana/stores/database/backend.hpp"
#include "katana/stores/database/sqlite/connection.hpp"
#include "katana/stores/database/sqlite/readers.hpp"
#include "katana/stores/database/sqlite/watch.hpp"
#include "katana/stores/database/sqlite/writer.hpp"

namespace katana::database::sqlite {

class ReactorReader final : private Message {
 public:
  ReactorReader(const Options& options, Watch& watch, const std::function<Instant()>& clock,
                Writer& writer, Readers& readers, Executor& executor) noexcept;
  ~ReactorReader();

  Executor& executor() const noexcept { return executor_; }  // on whose thread everything here runs
  // Attempt::elsewhere: the read needs the pool, or took longer than its budget.
  Attempt read(const Request& request, Outcome& outcome) noexcept;
  // Hands the work to the writer or the pool when the turn ends.
  void submit(Work& work) noexcept;
  // True: the work had not been handed over, and is gone.
  bool withdraw(Work& work) noexcept;
  void add_figures(Statistics& statistics) const;

 private:
  // Ends the snapshot before the executor waits.
  struct SnapshotEnd final : Message {
    explicit SnapshotEnd(ReactorReader& owner) noexcept : Message(&run_it), reactor_reader(owner) {}
    static void run_it(Message& message) noexcept {
      ReactorReader& reactor_reader = static_cast<SnapshotEnd&>(message).reactor_reader;
      reactor_reader.snapshot_kept_ = false;
      reactor_reader.end_snapshot();
    }
    ReactorReader& reactor_reader;
  };

  // Writes of one turn after which the writer begins with them, while the turn goes on.
  static constexpr std::size_t handed_over_at = 16;

  static void end_turn(Message& message) noexcept;
  void at_turn_end() noexcept;
  void hand_over_writes() noexcept;
  void hand_over_reads() noexcept;
  bool ensure_connection(Outcome& outcome) noexcept;
  bool ensure_snapshot() noexcept;
  void end_snapshot() noexcept;
  Attempt conclude(int code, Statement& statement, Outcome& outcome) noexcept;

  const Options& options_;
  Watch& watch_;
  const std::function<Instant()>& clock_;
  Writer& writer_;
  Readers& readers_;
  Executor& executor_;

  std::unique_ptr<Connection> connection_;
  std::uint64_t seen_commits_ = 0;  // when the snapshot was taken
  bool in_snapshot_ = false;
  bool snapshot_kept_ = false;  // snapshot_end_ is registered
  SnapshotEnd snapshot_end_{*this};
  bool ends_turn_ = false;  // end_turn() is registered
  std::uint32_t reads_this_turn_ = 0;
  WorkList to_writer_;
  WorkList to_readers_;
  Tally read_here_, moved_, snapshots_, prepared_, refused_unusable_;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
