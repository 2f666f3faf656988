// Topology: a primary and its standbys as one database. Writes, transactions and reads go to the
// primary; reads of Database::replica() to a standby that is no further behind than was asked.
//
//   the primary's position at t ──► note_primary ┐
//   the replica's position      ──► note_replica ┴► it has what was acknowledged before t
//
// Both servers are asked for their position in the write-ahead log by the probes of their kept
// connections. A replica that has replayed the position which the primary had when it was asked at
// t has every write that was acknowledged before t. Therefore a bound holds whatever clocks say,
// and whether or not the replica still receives anything; it is as fine as the interval of probes.
//
// Owns       the last positions.
// Thread     any.
// Allocates  never, but for the name of a server.
// Fails      never: without a position there is no bound, and the primary is asked.
// Invariant  is_close() only while every connection to replicas leads to the one that is measured.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include "katana/base/values/instant.hpp"

namespace katana::database::postgres {

class Topology {
 public:
  // Of a standby what it has replayed, of a primary what it has flushed.
  static constexpr const char* position_question =
      "SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE "
      "pg_current_wal_flush_lsn() END - '0/0')::bigint";

  // Writes acknowledged before `asked_at` are at or before `position`.
  void note_primary(std::uint64_t position, Instant asked_at) noexcept;
  void note_replica(std::uint64_t position) noexcept;
  // Another primary may be next, whose positions are not comparable.
  void forget_primary() noexcept;
  // The replica has what was acknowledged `lag_max` ago.
  bool is_close(Instant now, Duration lag_max) const noexcept;
  // The replica whose position is noted from now on. True: it is another one than before.
  bool measure(const std::string& server);
  bool is_measured(const std::string& server) const;

 private:
  struct Sample {
    std::uint64_t position = 0;
    Instant asked_at = {};
  };

  mutable std::mutex mutex_;
  std::array<Sample, 64> samples_ = {};  // a ring
  std::size_t count_ = 0;
  std::string server_;
  Instant has_until_ = {};  // the replica has what was acknowledged before
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
