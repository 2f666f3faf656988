#include "katana/testing/database/temporary_database.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"
#include "katana/testing/database/faulty_backend.hpp"
#include "katana/testing/database/turn_executor.hpp"

namespace katana::testing {
namespace {

using database::sqlite::Sqlite;

// Virtual time in a reactor's turn. Another thread is not inside a turn and uses the real clock.
Instant present() {
  const net::Reactor* const reactor = net::Reactor::current();
  return reactor != nullptr ? reactor->now() : monotonic_now();
}

// Works like Sqlite's own supervisor, in virtual time. It runs on a reactor as long as a request
// made there may wait, hold a lock, or be open.
class Supervisor {
 public:
  Supervisor(Sqlite& of, Duration lasts) : target_(std::make_shared<Target>(&of, lasts)) {}
  ~Supervisor() {
    if (target_) target_->database = nullptr;
  }

  void on_call() {
    net::Reactor* const reactor = net::Reactor::current();
    if (reactor == nullptr || reactor->busy_since() == never) return;
    auto* timer = static_cast<Timer*>(reactor->attached(target_.get()));
    if (timer == nullptr) {
      auto made = std::make_unique<Timer>(*reactor, target_);
      timer = made.get();
      reactor->attach(target_.get(), std::move(made));
    }
    timer->go_on();
  }

 private:
  static constexpr Duration tick_interval = milliseconds(100);
  struct Target {
    Target(Sqlite* of, Duration time) noexcept : database(of), lasts(time) {}
    Sqlite* database;  // null: it is gone
    const Duration lasts;
  };
  // Attached to the reactor, which destroys it.
  class Timer final : public net::Attachment, private net::TimerEntry {
   public:
    Timer(net::Reactor& reactor, std::shared_ptr<Target> target) noexcept
        : TimerEntry([](net::TimerEntry& entry) noexcept { static_cast<Timer&>(entry).on_time(); }),
          reactor_(reactor),
          target_(std::move(target)) {}
    void go_on() noexcept {
      const bool is_armed = reactor_.now() < until_;
      until_ = reactor_.now() + target_->lasts;
      if (!is_armed) reactor_.timers().arm(*this, reactor_.now() + tick_interval);
    }

   private:
    void on_time() noexcept {
      if (target_->database == nullptr) return;
      target_->database->tick();
      if (reactor_.now() < until_) reactor_.timers().arm(*this, reactor_.now() + tick_interval);
    }

    net::Reactor& reactor_;
    const std::shared_ptr<Target> target_;
    Instant until_ = {};
  };

  std::shared_ptr<Target> target_;
};

// Sqlite with the executor that it runs on.
class TurnedSqlite final : public database::Backend {
 public:
  static Result<std::unique_ptr<TurnedSqlite>> create(database::sqlite::Options options) {
    std::unique_ptr<TurnedSqlite> made(new TurnedSqlite);
    options.test_hooks = {&made->executor_, &made->executor_, &present};
    const Duration longest =
        std::max({options.wait_max, options.transaction_hold, options.stream_idle});
    const Duration lasts{longest.ns + seconds(1).ns};
    auto opened = Sqlite::create(std::move(options));
    if (!opened) return std::unexpected(opened.error());
    made->supervisor_ = std::make_unique<Supervisor>(**opened, lasts);
    made->sqlite_ = *std::move(opened);
    return made;
  }
  void on_call() { supervisor_->on_call(); }

  database::Attempt try_here(const database::Request& request,
                             database::Outcome& outcome) noexcept override {
    return sqlite_->try_here(request, outcome);
  }
  void submit(database::Work& work) noexcept override { sqlite_->submit(work); }
  void withdraw(database::Work& work) noexcept override { sqlite_->withdraw(work); }
  void roll_back(std::uint64_t transaction) noexcept override { sqlite_->roll_back(transaction); }
  void close(database::Cursor& cursor) noexcept override { sqlite_->close(cursor); }
  void observe_outages(database::OutageObserver observer) override {
    sqlite_->observe_outages(std::move(observer));
  }
  Bytes system() const noexcept override { return sqlite_->system(); }
  Result<void> health() const override { return sqlite_->health(); }
  database::Statistics statistics() const override { return sqlite_->statistics(); }
  bool runs_in_turns() const noexcept override {
    return Executor::current() == net::Reactor::current();  // else its thread runs it
  }
  Duration timeout_default() const noexcept override { return sqlite_->timeout_default(); }

 private:
  TurnedSqlite() = default;
  TurnExecutor executor_;
  std::unique_ptr<Sqlite> sqlite_;  // ends before its executor
  std::unique_ptr<Supervisor> supervisor_;
};

// Stands for a database that could not be made: each call fails with the reason.
class BrokenBackend final : public database::Backend {
 public:
  explicit BrokenBackend(const Error& why) : error_(database::Kind::unavailable, why.describe()) {}
  database::Attempt try_here(const database::Request&,
                             database::Outcome& outcome) noexcept override {
    outcome.error = error_;
    return database::Attempt::done;
  }
  void submit(database::Work& work) noexcept override {
    work.outcome.error = error_;
    database::Completions().add(work);
  }
  void withdraw(database::Work& work) noexcept override { work.abandon(); }
  void roll_back(std::uint64_t) noexcept override {}
  void close(database::Cursor&) noexcept override {}
  Result<void> health() const override { return std::unexpected(katana::Error(error_)); }
  database::Statistics statistics() const override { return {}; }
  Duration timeout_default() const noexcept override { return seconds(30); }

 private:
  const database::Error error_;
};

}  // namespace

Result<database::Database> open_for_test(database::sqlite::Options options,
                                         DatabaseFaults& faults) {
  if (options.path.empty()) options.path = ":memory:";
  auto opened = TurnedSqlite::create(std::move(options));
  if (!opened) return std::unexpected(opened.error());
  TurnedSqlite* const sqlite = opened->get();
  return database::Database(
      std::make_unique<FaultyBackend>(*std::move(opened), faults, [sqlite] { sqlite->on_call(); }));
}

TemporaryDatabase::TemporaryDatabase(const std::vector<database::MigrationFile>& migrations) {
  auto bundled = database::bundled_migrations(migrations);
  if (bundled) {
    open({.bundled = *std::move(bundled)});
  } else {
    break_with(bundled.error());
  }
}

TemporaryDatabase::TemporaryDatabase(const std::string& migrations_folder) {
  open({.migrations = migrations_folder});
}

TemporaryDatabase::~TemporaryDatabase() = default;

void TemporaryDatabase::open(database::sqlite::Options options) {
  auto opened = open_for_test(std::move(options), faults_);
  if (!opened) return break_with(opened.error());
  database_.emplace(*std::move(opened));
}

void TemporaryDatabase::break_with(const Error& why) {
  problem_ = why.describe();
  database_.emplace(std::make_unique<BrokenBackend>(why));
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
