// The SQLite backend: open() makes a Database of a file.
//
//   auto database = sqlite::open({.path = "var/users.db", .migrations = "migrations"});
//   if (!database) return fail(database.error());
//
// Reads that are short are answered on the reactor that asks, from its own connection, within
// one snapshot for each turn. Others go to a pool. Writes go to one writer, which commits those
// that wait together at once. See reactor_reader.hpp, readers.hpp, writer.hpp, and decisions 0034
// to 0037.
//
// Owns       connections, threads, and the thread that supervises them.
// Borrows    the executors of Options::test_hooks.
// Thread     as Backend; the destructor when no call is awaited any more.
// Allocates  connections and statements, when they are first needed.
// Fails      open() names the option or the file. A file that becomes unusable later makes calls
//            fail at once (Kind::unavailable), and is tried again every probe_interval.
// Invariant  a file that vanishes is not made anew: a database that lost its file does not turn
//            into an empty one.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "katana/stores/database/database.hpp"
#include "katana/stores/database/sqlite/memory_folder.hpp"
#include "katana/stores/database/sqlite/options.hpp"
#include "katana/stores/database/sqlite/pool_executor.hpp"
#include "katana/stores/database/sqlite/reactor_reader.hpp"
#include "katana/stores/database/sqlite/readers.hpp"
#include "katana/stores/database/sqlite/watch.hpp"
#include "katana/stores/database/sqlite/writer.hpp"

namespace katana::database::sqlite {

// Opens the file, applies migrations, and starts the threads. Blocks.
katana::Result<Database> open(Options options);

// The Backend of SQLite. open() makes it; tests make it themselves.
class Sqlite final : public Backend {
 public:
  // open() without the Database around it.
  static katana::Result<std::unique_ptr<Sqlite>> create(Options options);
  ~Sqlite() override;

  Attempt try_here(const Request& request, Outcome& outcome) noexcept override;
  void submit(Work& work) noexcept override;
  void withdraw(Work& work) noexcept override;
  void roll_back(std::uint64_t transaction) noexcept override;
  void close(Cursor& cursor) noexcept override;
  void observe_outages(OutageObserver observer) override;
  Bytes system() const noexcept override { return "sqlite"; }
  katana::Result<void> health() const override { return watch_.health(); }
  Statistics statistics() const override;
  Duration timeout_default() const noexcept override { return options_.timeout; }

  // One step of the supervisor: refuses works that waited for too long, and checks the file if that
  // is due. For tests with their own clock.
  void tick() noexcept;
  // tick(), and the time of the next one; never: it waits for a use of the database.
  Instant step() noexcept;

 private:
  Sqlite(Options options, MemoryFolder memory);
  katana::Result<void> start();
  ReactorReader& reactor_reader() noexcept;
  ReactorReader& find_reactor_reader(Executor& executor) noexcept;
  void supervise() noexcept;

  const MemoryFolder memory_;  // of ':memory:', whose files go last
  const Options options_;
  const std::function<Instant()> clock_;
  const std::uint64_t number_;  // of this database in this process
  Watch watch_;
  Writer writer_;
  Readers readers_;
  std::unique_ptr<PoolExecutor> writer_thread_;
  std::unique_ptr<PoolExecutor> reader_threads_;

  mutable std::mutex reactor_readers_mutex_;  // what follows
  std::vector<std::unique_ptr<ReactorReader>> reactor_readers_;

  std::thread supervisor_;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
