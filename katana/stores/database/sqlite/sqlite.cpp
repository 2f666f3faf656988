#include "katana/stores/database/sqlite/sqlite.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/alarm.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"
#include "katana/stores/database/sqlite/migrate.hpp"

namespace katana::database::sqlite {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> numbers = 0;
  return numbers.fetch_add(1, std::memory_order_relaxed) + 1;
}

katana::Result<void> check(const Options& options) {
  const auto wrong = [](std::string_view option, std::string_view remedy) {
    return katana::fail(Code::invalid_argument,
                        fmt::format("database option '{}' {}", option, remedy));
  };
  if (options.path.empty())
    return wrong("path", "is missing: give the path of a file, or ':memory:'");
  if (options.path == ":memory:" && !options.vfs.empty())
    return wrong("vfs", "is not for ':memory:': give the path of a file");
  if (options.readers == 0 || options.readers > 256) return wrong("readers", "is 1 to 256");
  if (options.group_max == 0) return wrong("group_max", "is at least 1");
  if (options.reads_waiting_max == 0) return wrong("reads_waiting_max", "is at least 1");
  if (options.writes_waiting_max == 0) return wrong("writes_waiting_max", "is at least 1");
  if (options.statements_max == 0) return wrong("statements_max", "is at least 1");
  if (options.streams_max == 0) return wrong("streams_max", "is at least 1");
  if (options.timeout <= Duration{}) return wrong("timeout", "is above 0");
  if (options.wait_max <= Duration{}) return wrong("wait_max", "is above 0");
  return {};
}

// A file that cannot be opened, or is no file of SQLite, stays so: a retry does not help. A lock
// may be free later.
katana::Error as_lasting(const Error& error) {
  if (error.kind() == Kind::busy) return error;
  return {Code::internal, error.describe()};
}

}  // namespace

katana::Result<Database> open(Options options) {
  auto backend = Sqlite::create(std::move(options));
  if (!backend) return std::unexpected(backend.error());
  return Database(*std::move(backend));
}

katana::Result<std::unique_ptr<Sqlite>> Sqlite::create(Options options) {
  if (const auto good = check(options); !good) return std::unexpected(good.error());
  MemoryFolder memory;
  if (options.path == ":memory:") {
    auto made = MemoryFolder::make();
    if (!made) return std::unexpected(made.error());
    memory = *std::move(made);
    options.path = memory.file();
    options.durability = Durability::none;
  }
  auto backend = std::unique_ptr<Sqlite>(new Sqlite(std::move(options), std::move(memory)));
  if (const auto started = backend->start(); !started) return std::unexpected(started.error());
  return backend;
}

Sqlite::Sqlite(Options options, MemoryFolder memory)
    : memory_(std::move(memory)),
      options_(std::move(options)),
      clock_(options_.test_hooks.clock ? options_.test_hooks.clock : &monotonic_now),
      number_(next_number()),
      watch_(options_.path, clock_),
      writer_(options_, watch_, clock_),
      readers_(options_, watch_, clock_) {}

katana::Result<void> Sqlite::start() {
  const Access access = options_.create ? Access::create : Access::write;
  // Kept until the writer has its own connection. The close of a file's last connection writes the
  // log back, deletes it and flushes both; the next connection would make the log again.
  std::unique_ptr<Connection> migrating;
  if (!options_.migrations.empty() || !options_.bundled.empty()) {
    auto opened = Connection::open(options_, access, clock_);
    if (!opened) return std::unexpected(as_lasting(opened.error()));
    migrating = *std::move(opened);
    const auto report = migrate(
        *migrating, options_,
        {.folder = options_.migrations, .bundled = options_.bundled, .opening = options_.opening});
    if (!report) return std::unexpected(report.error());
  }
  if (const auto opened = writer_.open(access); !opened) {
    return std::unexpected(as_lasting(opened.error()));
  }
  if (options_.test_hooks.writer == nullptr) {
    auto threads = PoolExecutor::create("db-write", 1);
    if (!threads) return std::unexpected(threads.error());
    writer_thread_ = *std::move(threads);
  }
  if (options_.test_hooks.readers == nullptr) {
    auto threads = PoolExecutor::create("db-read", options_.readers);
    if (!threads) return std::unexpected(threads.error());
    reader_threads_ = *std::move(threads);
  }
  writer_.run_on(writer_thread_ ? *writer_thread_ : *options_.test_hooks.writer);
  readers_.run_on(reader_threads_ ? *reader_threads_ : *options_.test_hooks.readers);
  if (!options_.test_hooks.clock) {
    if (auto opened = watch_.alarm().open(); !opened) return opened;
    supervisor_ = quiet_thread([this] { supervise(); });
    pthread_setname_np(supervisor_.native_handle(), "db-watch");
  }
  return {};
}

Sqlite::~Sqlite() {
  if (supervisor_.joinable()) {
    watch_.alarm().end();
    supervisor_.join();
  }
  readers_.stop();
  reactor_readers_.clear();
  writer_.close();  // the last connection: it writes the log back
}

void Sqlite::supervise() noexcept {
  do {
    watch_.alarm().set(step());
  } while (watch_.alarm().wait());
}

Instant Sqlite::step() noexcept {
  const Instant probe_before = writer_.next_probe();
  tick();
  const Instant probe = writer_.next_probe();
  const Instant look = watch_.go_on_looking(probe != probe_before) ? probe : never;
  return std::min({look, writer_.next_due(), readers_.next_due()});
}

void Sqlite::tick() noexcept {
  const Instant now = clock_();
  writer_.tick(now);
  readers_.tick(now);
}

ReactorReader& Sqlite::reactor_reader() noexcept {
  struct Last {
    std::uint64_t database = 0;
    Executor* executor = nullptr;
    ReactorReader* reactor_reader = nullptr;
  };
  static constinit thread_local Last last;
  Executor* const executor = Executor::current();
  if (last.database != number_ || last.executor != executor) [[unlikely]] {
    last = {number_, executor, &find_reactor_reader(*executor)};
  }
  return *last.reactor_reader;
}

ReactorReader& Sqlite::find_reactor_reader(Executor& executor) noexcept {
  const std::lock_guard lock(reactor_readers_mutex_);
  for (const auto& reactor_reader : reactor_readers_) {
    if (&reactor_reader->executor() == &executor) return *reactor_reader;
  }
  return *reactor_readers_.emplace_back(
      std::make_unique<ReactorReader>(options_, watch_, clock_, writer_, readers_, executor));
}

Attempt Sqlite::try_here(const Request& request, Outcome& outcome) noexcept {
  if (Executor::current() == nullptr) return Attempt::elsewhere;
  return reactor_reader().read(request, outcome);
}

void Sqlite::submit(Work& work) noexcept { reactor_reader().submit(work); }

void Sqlite::withdraw(Work& work) noexcept {
  const Order order = work.request.order;
  const std::uint64_t transaction = work.request.transaction;
  if (work.on_own_thread) {
    find_reactor_reader(work.executor).withdraw(work);
    if (order == Order::commit || order == Order::rollback) writer_.roll_back(transaction);
  } else if (order == Order::read || order == Order::open || order == Order::fetch) {
    readers_.withdraw(work);
  } else {
    writer_.withdraw(work);
  }
}

void Sqlite::roll_back(std::uint64_t transaction) noexcept { writer_.roll_back(transaction); }

void Sqlite::close(Cursor& cursor) noexcept { readers_.close(cursor); }

void Sqlite::observe_outages(OutageObserver observer) { watch_.observe(std::move(observer)); }

Statistics Sqlite::statistics() const {
  Statistics statistics;
  watch_.note_use();  // a later report is then right
  statistics.usable = watch_.usable() && !watch_.is_locked();
  statistics.outages = watch_.outages();
  writer_.add_figures(statistics);
  readers_.add_figures(statistics);
  const std::lock_guard lock(reactor_readers_mutex_);
  for (const auto& reactor_reader : reactor_readers_) reactor_reader->add_figures(statistics);
  return statistics;
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
