// The nodes of a world: the lives of their programs.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "katana/app/command_line.hpp"
#include "katana/app/embedding.hpp"
#include "katana/app/sqlite/sqlite.hpp"
#include "katana/base/system/check.hpp"
#include "katana/testing/application/simulated_reactor.hpp"
#include "katana/testing/database/temporary_database.hpp"
#include "katana/testing/world/world_core.hpp"

namespace katana::testing {

WorldNode::WorldNode(World& world, std::string name, std::uint32_t address, Maker make,
                     NodeOptions options)
    : world_(world),
      name_(std::move(name)),
      address_(address),
      make_(std::move(make)),
      options_(std::move(options)) {
  if (options_.files == nullptr) {
    options_.files = make_disk_files({.seed = world.seed() * 64 + address});
  }
  if (options_.database_delay_max > Duration{}) {
    database_faults_.delay_between(options_.database_delay_min, options_.database_delay_max,
                                   world.seed() * 64 + address);
  }
}

WorldNode::~WorldNode() {
  if (program_ != nullptr) kill_now(Crash::process);
}

app::Embedding WorldNode::embedding() {
  World::Core& core = *world_.core_;
  app::Embedding embedding;
  embedding.make_reactor = [this, &core](const net::ReactorOptions& options,
                                         std::size_t session_bytes) {
    auto made = make_simulated_reactor(options, session_bytes, core.network, address_);
    // Clients that the start makes find the servers of the world.
    net::Destinations::attach(*made, std::make_unique<WorldDestinations>(world_, address_));
    return made;
  };
  embedding.clock = [&core] { return core.now(); };
  embedding.open_database = [this](const app::DatabaseDrivers& drivers,
                                   const app::DatabaseSettings& settings,
                                   std::vector<database::Migration> migrations) {
    return open_database(drivers, settings, std::move(migrations));
  };
  embedding.add_services = options_.services;
  embedding.has_redis = core.has_server("redis");
  embedding.has_bus = core.has_server("nats");
  embedding.sinks = {log_.sink()};
  embedding.seed = world_.seed() * 1'000 + address_ * 100 + lives_;
  return embedding;
}

Result<database::Database> WorldNode::open_database(const app::DatabaseDrivers& drivers,
                                                    const app::DatabaseSettings& settings,
                                                    std::vector<database::Migration> migrations) {
  if (options_.database) return options_.database(settings);
  constexpr std::string_view scheme = "sqlite:";
  if (!settings.url.starts_with(scheme)) return drivers.open(settings, std::move(migrations));
  auto options = app::sqlite_options(":memory:", settings, std::move(migrations));
  if (auto prepared = options_.files->prepare(options); !prepared) {
    return std::unexpected(prepared.error());
  }
  return open_for_test(std::move(options), database_faults_);
}

Result<void> WorldNode::start() {
  World::Core& core = *world_.core_;
  ++lives_;
  if (std::exchange(had_power_loss_, false)) core.network.topology().power_on(address_);
  Result<void> started;
  core.loop.within(
      [&] {
        program_ = make_();
        app::CommandLine line;
        line.sets = options_.settings;
        if (!options_.config_file.empty()) line.config = options_.config_file;
        started = program_->start(line, embedding());
      },
      address_);
  if (!started) {
    core.loop.within([this] { program_.reset(); }, address_);
    return std::unexpected(started.error().within(fmt::format("'{}' did not start", name_)));
  }
  reactor_ = &program_->server().first_reactor();
  core.loop.add_attached(*reactor_, address_);
  core.note(name_, lives_ == 1 ? "started" : "started again");
  core.is_dirty = true;
  return {};
}

void WorldNode::leave_loop() {
  world_.core_->loop.remove(*reactor_);
  reactor_ = nullptr;
}

void WorldNode::kill(Crash how) {
  world_.core_->act([this, how] { kill_now(how); });
}

void WorldNode::kill_now(Crash how) {
  if (program_ == nullptr) return;
  World::Core& core = *world_.core_;
  core.note(name_, how == Crash::power ? "lost its power" : "killed");
  kill_call_ = 0;
  if (how == Crash::power) {
    had_power_loss_ = true;
    core.network.topology().power_off(address_);
  }
  // The objects of the program are destroyed now, and can neither reach the network nor change
  // files.
  options_.files->crash(how);
  DatabaseFaults before = database_faults_;
  database_faults_.unavailable("the node was killed");
  core.loop.within(
      [this] {
        // Frames of jobs go before their runners.
        end_former();
        (void)reactor_->tasks().cancel();
        leave_loop();
        program_->stop();
        program_.reset();
      },
      address_);
  database_faults_ = std::move(before);
  core.is_dirty = true;
  drains_ = false;
  if (std::exchange(restarts_, false)) restart();
}

void WorldNode::hand_over() {
  world_.core_->act([this] { hand_over_now(); });
}

void WorldNode::hand_over_now() {
  if (program_ == nullptr || drains_ || former_ != nullptr) return;
  former_ = std::move(program_);
  former_reactor_ = reactor_;
  engine::SimTopology& topology = world_.core_->network.topology();
  topology.set_sharing_ports(address_, true);
  auto started = start();
  topology.set_sharing_ports(address_, false);
  if (!started) {
    program_ = std::move(former_);
    reactor_ = former_reactor_;
    return world_.fail("a node starts", started.error().describe());
  }
  drain(*former_, *former_reactor_);
}

void WorldNode::end_former() {
  if (former_ == nullptr) return;
  World::Core& core = *world_.core_;
  core.loop.within(
      [this, &core] {
        (void)former_reactor_->tasks().cancel();
        core.loop.remove(*former_reactor_);
        former_->stop();
        former_.reset();
      },
      address_);
  former_reactor_ = nullptr;
  core.note(name_, "its former process ended");
  core.is_dirty = true;
}

void WorldNode::stop() {
  world_.core_->act([this] { stop_now(); });
}

void WorldNode::stop_now() {
  if (program_ == nullptr || std::exchange(drains_, true)) return;
  world_.core_->note(name_, "stops: drains");
  drain(*program_, *reactor_);
}

// The reactor takes the message at once: a kill destroys the server that owns it.
void WorldNode::drain(app::ApplicationCore& program, net::Reactor& reactor) {
  world_.core_->loop.within(
      [&] {
        program.shutdown();
        reactor.turn(Duration{});
      },
      address_);
}

void WorldNode::restart() {
  world_.core_->act([this] {
    if (drains_) {
      restarts_ = true;
      return;
    }
    if (program_ != nullptr) return;
    if (auto started = start(); !started) {
      world_.fail("a node starts", started.error().describe());
    }
  });
}

Result<void> WorldNode::reload() {
  if (program_ == nullptr) return fail(Code::unavailable, fmt::format("'{}' is down", name_));
  Result<void> done;
  world_.core_->note(name_, "reads its settings again");
  world_.core_->loop.within([&] { done = program_->reload(); }, address_);
  return done;
}

void WorldNode::kill_at_call(std::uint64_t call, unsigned turns_later, Crash how, Duration down) {
  kill_call_ = database_faults_.calls() + std::max<std::uint64_t>(call, 1);
  kill_turns_ = turns_later;
  kill_how_ = how;
  kill_down_ = down;
}

void WorldNode::kill_at_call_now() {
  kill_now(kill_how_);
  if (kill_down_ <= Duration{}) return;
  world_.core_->disturbed(kill_down_);
  world_.after(kill_down_, [this] { restart(); });
}

void WorldNode::after_turn() {
  if (program_ == nullptr) return;
  if (kill_call_ != 0 && database_faults_.calls() >= kill_call_) {
    if (kill_turns_ == 0) return kill_at_call_now();
    --kill_turns_;
  }
  if (former_ != nullptr && former_reactor_->stopped()) {
    (void)former_->serve();
    end_former();
  }
  if (!drains_ || !reactor_->stopped()) return;
  end_former();
  World::Core& core = *world_.core_;
  (void)program_->serve();
  leave_loop();
  core.loop.within(
      [this] {
        program_->stop();
        program_.reset();
      },
      address_);
  core.note(name_, "stopped");
  core.is_dirty = true;
  drains_ = false;
  if (std::exchange(restarts_, false)) restart();
}

void WorldNode::set_clock_skew(Duration skew) {
  world_.core_->note(
      name_, fmt::format("its clock is {} ms {}", (skew.ns < 0 ? -skew.ns : skew.ns) / 1'000'000,
                         skew.ns < 0 ? "behind" : "ahead"));
  world_.core_->network.topology().set_clock_skew(address_, skew);
}

std::uint16_t WorldNode::port_of(std::uint16_t wanted, bool is_implied) const {
  if (!is_implied || program_ == nullptr) return wanted;
  return program_->port();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
