// Topology: a primary and its standbys as one database. Writes, transactions and reads go to the
// primary. Reads of Database::replica() go to a standby within the allowed lag.
//
//   the primary's position at t ──► note_primary ┐
//   the replica's position      ──► note_replica ┴► it has what was acknowledged before t
//
// Both servers are asked for their position in the write-ahead log by the probes of their kept
// connections. A replica that has replayed the position which the primary had when it was asked at
// t has every write that was acknowledged before t. Therefore the bound depends on no clock of
// a server, and holds even when the replica receives nothing more. It is as fine as the interval of
// probes.
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
  // Asks a standby for the position that it has replayed, and a primary for the one that it has
  // flushed.
  static constexpr const char* position_question =
      "SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE "
      "pg_current_wal_flush_lsn() END - '0/0')::bigint";

  // Writes acknowledged before `asked_at` are at or before `position`.
  void note_primary(std::uint64_t position, Instant asked_at) noexcept;
  void note_replica(std::uint64_t position) noexcept;
  // Called when another primary may be next: its positions are not comparable.
  void forget_primary() noexcept;
  // True when the replica has all writes that were acknowledged `lag_max` ago.
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
