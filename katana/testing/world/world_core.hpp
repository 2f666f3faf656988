// WorldCore: the state of a World, shared by the files that implement it. Not for users.
//
// Owns       see World.
// Thread     one.
// Allocates  freely.
// Fails      see World.
// Invariant  actions run between turns, in the order of their time.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/coroutine/executor.hpp"
#include "katana/net/engine/sim/sim_network.hpp"
#include "katana/net/engine/sim/sim_sockets.hpp"
#include "katana/net/reactor/destinations.hpp"
#include "katana/testing/client_exchange.hpp"
#include "katana/testing/test_loop.hpp"
#include "katana/testing/world/world.hpp"

namespace katana::testing {

// Where the connections of one host lead: to nodes by name, and to upstreams.
class WorldDestinations final : public net::Destinations {
 public:
  WorldDestinations(World& world, std::uint32_t address);
  Result<engine::ConnectOptions> find(std::string_view scheme, const std::string& host,
                                      std::uint16_t port) const override;
  engine::SocketCalls& sockets() const noexcept override { return sockets_; }
  std::uint64_t draw_seed() noexcept override;

 private:
  World& world_;
  engine::SimSockets& sockets_;
};

namespace detail {

struct WorldCore {
  // A script of a client, as a coroutine on the world's own reactor.
  struct Running {
    WorldClient& client;
    World::Script script;
    std::optional<Task<void>> task = {};
    bool is_over = false;
  };
  // A request in progress.
  struct Sent {
    Operation* operation;
    std::shared_ptr<ClientExchange> exchange;
    std::unique_ptr<ClientConnection> connection;
    Instant deadline;
    WorldCall* waiting = nullptr;
  };
  // A server that nodes share.
  struct Server {
    std::string name;
    std::uint32_t address;
    std::unique_ptr<WorldServer> server;
  };
  struct Named {
    std::string name;
    World::Property property;
  };
  class Wake final : public Message {
   public:
    explicit Wake(WorldCore& core) noexcept
        : Message([](Message& self) noexcept { static_cast<Wake&>(self).core_.wake_scripts(); }),
          core_(core) {}

   private:
    WorldCore& core_;
  };

  WorldCore(World& of, WorldOptions given);
  ~WorldCore();

  // "test", "test#3": of World::ask().
  static bool is_of_test(const std::string& key) {
    return key == "test" || key.starts_with("test#");
  }
  bool is_dropped(const std::string& key) const {
    if (is_of_test(key)) return false;
    return options.drop.contains(key) || (!options.keep.empty() && !options.keep.contains(key));
  }
  std::uint32_t next_address() noexcept { return ++last_address; }
  // 0 for "outside"; nothing: an unknown name.
  std::optional<std::uint32_t> address_of(std::string_view name) const;
  WorldNode* find_node(std::string_view name) const;
  const Server* find_server(std::string_view name) const;
  bool has_server(std::string_view kind) const;
  engine::SimSockets& sockets_of(std::uint32_t address);

  // ---- time
  bool may_go_on() const noexcept { return failures.empty() || is_finishing; }
  void step(Instant end);
  void run_due_actions();
  void after_turn();
  void act(std::function<void()> f);  // at once, or right after the present turn
  Instant next_deadline() const noexcept;
  void check_properties();
  bool is_idle() const noexcept;

  // ---- requests
  void begin(Operation& operation, const WorldClient& client, TestReply::Fields fields);
  void end(Sent& sent);
  void give_up_late();
  void close(Operation& operation, Outcome outcome, std::string why);
  std::list<Sent>::iterator find(const Operation& operation);
  void start_script(Running& running);
  void wake_scripts() noexcept;
  void wake();

  // ---- faults
  void begin_fault(const PlannedFault& fault);
  void disturbed(Duration lasts) { disturbances.emplace_back(now(), now() + lasts); }

  Instant now() const noexcept { return network.now(); }
  void note(std::string who, std::string what) {
    timeline.add(now(), std::move(who), std::move(what));
  }

  World& world;
  const WorldOptions options;
  engine::SimNetwork network;
  // By host. A program's database outlives its reactor, and closes its sockets.
  std::map<std::uint32_t, std::unique_ptr<engine::SimSockets>> sockets;
  TestLoop loop;
  Random random;
  const Instant started;
  Timeline timeline;
  History history;
  std::vector<WorldFailure> failures;
  std::vector<Named> always;
  std::vector<Named> at_end;
  bool is_finishing = false;
  bool is_finished = false;
  bool is_checking = false;
  bool is_dirty = false;  // something happened that properties may depend on
  bool in_turn = false;

  std::uint32_t last_address = 0;
  std::multimap<Instant, std::function<void()>> actions;
  std::vector<std::function<void()>> urgent;
  std::vector<PlannedFault> plan;
  std::size_t plans = 0;
  std::size_t faults_numbered = 0;
  std::size_t faults_open = 0;
  std::vector<std::pair<Instant, Instant>> disturbances;

  std::map<std::string, std::string, std::less<>> names;  // to nodes
  std::vector<std::unique_ptr<FakeUpstream>> upstreams;
  std::vector<Server> servers;        // the last one is null while it is made
  std::unique_ptr<net::Reactor> own;  // runs the scripts
  std::vector<std::unique_ptr<WorldNode>> nodes;
  std::vector<std::unique_ptr<WorldClient>> clients;
  std::list<Sent> sent;
  std::list<Sent> over;  // their connections go after the turn
  Wake waker;
  bool is_waking = false;
  std::vector<WorldCall*> resumable;
  std::vector<Running*> to_start;
  std::list<Running> scripts;
};

}  // namespace detail

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
