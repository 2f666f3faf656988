// DiskScene: KATANA's SQLite on a simulated disk, in virtual time, through crash after crash.
//
//   DiskScene scene(seed);
//   scene.open();
//   scene.run(tasks);       // until they are done, or the disk is down
//   scene.restart();        // closes the database and lets the disk come back
//
// Owns       the disk, the scene's executors, the database.
// Thread     one.
// Fails      open() says whether the database is open.
// Invariant  one seed gives one trace.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/database/sqlite/scene_test.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"
#include "katana/testing/disk/simulated_disk.hpp"
#include "katana/testing/disk/sqlite_handle_test.hpp"

namespace katana::testing {

// The seeds of a test: as many as KATANA_SEEDS says, or `count`, from KATANA_FIRST_SEED on.
inline std::vector<std::uint64_t> seeds(std::uint64_t count) {
  const auto number = [](const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
  };
  const std::uint64_t first = number("KATANA_FIRST_SEED", 1);
  std::vector<std::uint64_t> all(number("KATANA_SEEDS", count));
  for (std::uint64_t index = 0; index < all.size(); ++index) all[index] = first + index;
  return all;
}

class DiskScene {
 public:
  using Tasks = std::vector<std::unique_ptr<Task<void>>>;

  explicit DiskScene(std::uint64_t seed, DiskOptions on = {},
                     database::sqlite::Options options = {})
      : disk(with_seed(std::move(on), seed)),
        scene(seed, milliseconds(2)),
        options_(std::move(options)) {
    options_.path = path;
    options_.vfs = disk.vfs();
    options_.probe_interval = milliseconds(40);
    options_.test_hooks = {&scene.writer, &scene.readers, scene.clock()};
  }
  ~DiskScene() { close(); }

  // False: the disk was in the way; refusal() says how.
  bool open() {
    auto created = database::sqlite::Sqlite::create(options_);
    refusal_ = created ? "" : created.error().describe();
    if (!created) return false;
    backend_ = created->get();
    db_.emplace(*std::move(created));
    return true;
  }
  const std::string& refusal() const noexcept { return refusal_; }
  void close() {
    scene.run();
    db_.reset();
    backend_ = nullptr;
  }
  database::Database& db() { return *db_; }
  database::sqlite::Sqlite& backend() { return *backend_; }

  // Lets the supervisor look.
  void tick() {
    scene.pass(milliseconds(50));
    backend_->tick();
    scene.run();
  }
  // The rest of the tasks fails when the disk is down.
  void run(Tasks& tasks) {
    for (auto& task : tasks) scene.home.turn([&] { task->start(); });
    for (int steps = 0; !all_done(tasks); ++steps) {
      ASSERT_LT(steps, 200'000) << "a call waits for ever";
      if (!scene.idle()) scene.step();
      if (scene.idle() || scene.random() % 16 == 0) tick();
    }
  }
  template <class T>
  T finish(Task<T> task) {
    scene.home.turn([&] { task.start(); });
    for (int steps = 0; !task.done() && steps < 10'000; ++steps) {
      if (scene.idle()) tick();
      scene.run();
    }
    EXPECT_TRUE(task.done());
    return task.result();
  }
  bool health() { return bool(backend_->health()); }
  // Until the file is usable again.
  bool recover() {
    for (int wait = 0; wait < 30 && !health(); ++wait) tick();
    return health();
  }

  // The disk comes back, after a crash now if it is not down.
  void restart() {
    if (!disk.is_down()) disk.crash();
    close();
    disk.restart();
  }
  std::uint64_t below(std::uint64_t bound) { return scene.random() % bound; }

  static constexpr const char* path = "data.db";
  SimulatedDisk disk;
  database::sqlite::Scene scene;

 private:
  static DiskOptions with_seed(DiskOptions options, std::uint64_t seed) {
    options.seed = seed;
    return options;
  }
  static bool all_done(const Tasks& tasks) {
    for (const auto& task : tasks) {
      if (!task->done()) return false;
    }
    return true;
  }

  database::sqlite::Options options_;
  database::sqlite::Sqlite* backend_ = nullptr;
  std::optional<database::Database> db_;
  std::string refusal_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
