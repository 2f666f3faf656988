// WorldNode: a program of a World: an unmodified app::Application that starts, crashes, drains and
// starts again, while the world around it goes on.
//
//   auto& api = world.add("api", shop::options(), shop::configure);
//   api.kill();                        // nothing is drained; its memory is lost
//   world.run(seconds(2));
//   api.restart();                     // a new program on the same files
//
// Owns       the program of each life, its captures, and its files, which outlive the program.
// Borrows    its world.
// Thread     the world's.
// Allocates  freely: a test's tool.
// Fails      a start that fails is a failure of the world, which names the part.
// Invariant  kill(), stop() and restart() that are called in a turn, by a script of a client, take
//            effect right after that turn. A node has the same address in all its lives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "katana/app/application_core.hpp"
#include "katana/app/embedding.hpp"
#include "katana/testing/application/log_capture.hpp"
#include "katana/testing/database/database_faults.hpp"
#include "katana/testing/world/node_files.hpp"

namespace katana::testing {

namespace detail {
struct WorldCore;
}

class World;
class WorldDestinations;

// How a node begins, and what it is made of.
struct NodeOptions {
  // "key=value", as with --set. The listeners of a node collide with those of no other node.
  std::vector<std::string> settings = {};
  // A file of settings, which must be there; empty: none. reload() reads it again.
  std::string config_file = {};
  // Called at each start, after the program has registered its services: overrides them.
  std::function<Result<void>(registry::Registry&)> services = {};
  // Opens the database in place of SQLite on `files`, as FakePostgres needs it.
  std::function<Result<database::Database>(const app::DatabaseSettings&)> database = {};
  // Null: make_disk_files() with a seed of the world's and the node's.
  std::shared_ptr<NodeFiles> files = {};
  // Each call of the database takes a time in these bounds, drawn by the seed.
  Duration database_delay_min = {};
  Duration database_delay_max = microseconds(2'000);
};

class WorldNode {
 public:
  // Makes the program of one life: its options, and its configure().
  using Maker = std::function<std::unique_ptr<app::ApplicationCore>()>;

  ~WorldNode();
  WorldNode(const WorldNode&) = delete;
  WorldNode& operator=(const WorldNode&) = delete;

  // By which others reach it.
  const std::string& name() const noexcept { return name_; }
  // It serves, or drains.
  bool is_up() const noexcept { return program_ != nullptr; }

  // Ends the program at once. Does nothing when it is down.
  void kill(Crash how = Crash::process);
  // Drains the program as SIGTERM does; the node is down when its requests have ended: see
  // World::run_until().
  void stop();
  // Starts the program again; a node that drains starts when it has ended. Does nothing when it
  // serves.
  void restart();
  // Zero-downtime restart: a new process of the node serves from now on, while the former one
  // drains. Does nothing when the node is down, or drains already.
  void hand_over();
  // The program reads its settings again, as after SIGHUP.
  Result<void> reload();
  // Settings of the next life.
  std::vector<std::string>& settings() noexcept { return options_.settings; }
  // kill() so many turns after the program's `call`-th call of its database from now on. With few
  // turns the call has had no effect yet, or its caller does not know of it. The node starts again
  // after `down`; zero: at restart(), or at the end of the world.
  void kill_at_call(std::uint64_t call, unsigned turns_later = 0, Crash how = Crash::process,
                    Duration down = {});

  // The wall clock of the node is ahead of the world's, or behind; from now on.
  void set_clock_skew(Duration skew);

  // The service of the running program. REQUIRES is_up().
  template <class T>
  T& service() {
    return program_->services().get<T>();
  }
  // REQUIRES is_up().
  app::ApplicationCore& program() noexcept { return *program_; }
  // Records of all its lives.
  LogCapture& log() noexcept { return log_; }
  DatabaseFaults& database_faults() noexcept { return database_faults_; }
  // Number of starts so far.
  unsigned lives() const noexcept { return lives_; }
  // Number in SimTopology.
  std::uint32_t address() const noexcept { return address_; }

 private:
  friend class World;
  friend struct detail::WorldCore;
  friend class WorldDestinations;

  WorldNode(World& world, std::string name, std::uint32_t address, Maker make, NodeOptions options);
  app::Embedding embedding();
  Result<database::Database> open_database(const app::DatabaseDrivers& drivers,
                                           const app::DatabaseSettings& settings,
                                           std::vector<database::Migration> migrations);
  Result<void> start();
  void kill_now(Crash how);
  void stop_now();
  // Called after each turn: ends a drain, and does what kill_at_call() asked for.
  void after_turn();
  void kill_at_call_now();
  void leave_loop();
  void hand_over_now();
  void drain(app::ApplicationCore& program, net::Reactor& reactor);
  // Ends the former process of hand_over().
  void end_former();
  std::uint16_t port_of(std::uint16_t wanted, bool is_implied) const;

  World& world_;
  const std::string name_;
  const std::uint32_t address_;
  const Maker make_;
  NodeOptions options_;
  LogCapture log_;
  DatabaseFaults database_faults_;
  std::unique_ptr<app::ApplicationCore> program_;  // null: it is down
  net::Reactor* reactor_ = nullptr;                // of the program
  std::unique_ptr<app::ApplicationCore> former_;   // drains behind a hand-over; null: none
  net::Reactor* former_reactor_ = nullptr;
  bool drains_ = false;
  bool restarts_ = false;  // once it has drained
  bool had_power_loss_ = false;
  unsigned lives_ = 0;
  std::uint64_t kill_call_ = 0;  // 0: none
  unsigned kill_turns_ = 0;
  Crash kill_how_ = Crash::process;
  Duration kill_down_ = {};
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
