#include "katana/app/describing.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/stores/database/backend.hpp"
#include "katana/stores/database/work.hpp"

namespace katana::app {
namespace {

class NoDatabase final : public database::Backend {
 public:
  database::Attempt try_here(const database::Request&,
                             database::Outcome& outcome) noexcept override {
    outcome.error = refusal();
    return database::Attempt::done;
  }
  void submit(database::Work& work) noexcept override {
    work.outcome.error = refusal();
    database::Completions().add(work);
  }
  void withdraw(database::Work& work) noexcept override { work.abandon(); }
  void roll_back(std::uint64_t) noexcept override {}
  void close(database::Cursor&) noexcept override {}
  Result<void> health() const override { return fail(Code::unavailable, why); }
  database::Statistics statistics() const override { return {}; }
  Duration timeout_default() const noexcept override { return {}; }

 private:
  static constexpr const char* why = "the program only describes itself: no database is open";
  static database::Error refusal() { return database::Error(database::Kind::unavailable, why); }
};

}  // namespace

Embedding describing() {
  Embedding made;
  made.clock = monotonic_now;
  made.open_database = [](const DatabaseDrivers&, const DatabaseSettings&,
                          const std::vector<database::Migration>&) {
    return Result<database::Database>(database::Database(std::make_unique<NoDatabase>()));
  };
  return made;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
