// Options of an SQLite database: every limit and wait, with its default.
//
// Owns       values only, and a clock if one is given.
// Thread     values.
// Allocates  as strings do.
// Fails      open() names the option that is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/database/durability.hpp"
#include "katana/stores/database/limits.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/opening.hpp"

namespace katana::database::sqlite {

// Executors and a clock that tests use in place of threads and the machine's clock. Borrowed; they
// outlive the database.
struct TestHooks {
  Executor* writer = nullptr;   // runs the writer; null: its own thread
  Executor* readers = nullptr;  // runs long reads; null: `readers` threads
  // With a clock only Sqlite::tick() supervises the database. Null: the machine's clock.
  std::function<Instant()> clock = {};
};

// Members with their default in limits.hpp are explained there.
struct Options {
  // ':memory:': a database that is empty at the start and gone at the end; see memory_folder.hpp.
  std::string path = {};
  bool create = true;           // at the start only: a file that vanishes later is never made anew
  std::string migrations = {};  // a folder; they are applied before anything else. Empty: none
  std::vector<Migration> bundled = {};  // the same, of the program; see bundled_migrations()
  Opening opening = {};                 // of open()
  Durability durability = Durability::full;

  unsigned readers = 4;  // threads and connections for reads that are not answered on a reactor
  // The bound of the pool's queue; further reads fail with unavailable.
  std::size_t reads_waiting_max = SqliteLimits().reads_waiting_max;
  // The bound of the writer's queue; further writes fail with unavailable.
  std::size_t writes_waiting_max = SqliteLimits().writes_waiting_max;
  std::size_t group_max = 256;  // writes that share one commit
  // The writer polls for this time before it sleeps.
  Duration writer_linger = SqliteLimits().writer_linger;
  Duration writer_gathers = SqliteLimits().writer_gathers;  // a group waits so long for more writes
  Duration wait_max = seconds(2);  // in a queue; then the call is refused: unavailable
  Duration timeout = seconds(30);  // of a call that was given none
  Duration busy_wait = SqliteLimits().busy_wait;   // for the lock of another process; then: busy
  std::size_t rows_max = SqliteLimits().rows_max;  // of one result; larger ones need a stream
  std::size_t statements_max = SqliteLimits().statements_max;  // kept prepared, for each connection
  std::int64_t cache_kib = 8 * 1024;  // pages that each connection may keep

  // Time that a read may take on the reactor; then the pool does it.
  Duration read_budget = SqliteLimits().read_budget;
  // A slow statement is sent to the pool this many times.
  std::uint32_t slow_reads_remembered = SqliteLimits().slow_reads_remembered;
  // The reads of a turn on the reactor; further reads of the turn go to the pool.
  std::uint32_t reads_per_turn_max = SqliteLimits().reads_per_turn_max;

  // A longer transaction is rolled back.
  Duration transaction_hold = SqliteLimits().transaction_hold;
  unsigned streams_max = SqliteLimits().streams_max;  // open at once; further streams wait
  // A stream that is not read for this time loses its connection.
  Duration stream_idle = SqliteLimits().stream_idle;
  // Pages in the write-ahead log before it is written back.
  unsigned checkpoint_pages = SqliteLimits().checkpoint_pages;
  // The interval at which an unusable file is tried again.
  Duration probe_interval = SqliteLimits().probe_interval;

  std::string vfs = {};       // of SQLite, registered: testing::SimulatedDisk. Empty: the system's
  TestHooks test_hooks = {};  // default: own threads and the machine's clock
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
