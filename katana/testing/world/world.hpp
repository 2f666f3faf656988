// World: several programs, their clients and the network between them, in one process and in
// virtual time, with faults and crashes that one seed draws.
//
//   testing::World world({.seed = 7});
//   world.add("api", shop::options(), shop::configure);        // the same configure() as main()
//   world.script("ada", [](testing::WorldClient& ada) -> Task<void> {
//     co_await ada.post("api", "/orders", R"({"item":"tea"})");
//   });
//   world.faults({.kills_max = 2, .partitions_max = 3});
//   world.at_end("orders are kept", [](testing::World& world) -> std::string { … });
//   EXPECT_TRUE(world.finish()) << world.report();
//
// A node reaches another by its name: "http://api" leads to the first listener of the node "api".
// "http://api:9090" leads to that port of it. simulate.hpp runs a function over many seeds.
// docs/guides/simulate.md says how a world is weaker than real machines.
//
// Owns       the network, the nodes and their files, clients, upstreams, history and timeline.
// Thread     one.
// Allocates  freely: a test's tool.
// Fails      by failures(): a property that does not hold, a node that does not start, a script
//            that throws. Time no longer passes after the first failure.
// Invariant  the same seed and the same calls give the same trace_digest(), unless programs use
//            threads, real clocks or addresses. World::random(), the network, the plan of faults
//            and the databases draw from generators that do not depend on each other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/app/application.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/values/random.hpp"
#include "katana/net/engine/sim/sim_faults.hpp"
#include "katana/net/engine/sim/sim_topology.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/world/fault_plan.hpp"
#include "katana/testing/world/history.hpp"
#include "katana/testing/world/timeline.hpp"
#include "katana/testing/world/world_client.hpp"
#include "katana/testing/world/world_node.hpp"
#include "katana/testing/world_server.hpp"

namespace katana::testing {

namespace detail {
struct WorldCore;
}

// Options of a world.
struct WorldOptions {
  std::uint64_t seed = 1;  // of all that is drawn; simulate() sets it
  // Faults of every kernel and connection: fragments, short writes … The default: none. See Faults.
  engine::SimFaults network = engine::SimFaults::calm();
  // The delay of each segment between two hosts, in microseconds.
  engine::SimRange latency_us = {100, 1'500};
  // The client of a request gives up after so long: its outcome is unknown.
  Duration request_timeout = seconds(30);
  // The longest time for run_until_idle(), from each call on.
  Duration idle_wait_max = seconds(3'600);
  // The time that restarted nodes have at the end, before the last properties are asked.
  Duration recovery = seconds(2);
  // Faults ("f3"), requests ("ada#2") and clients ("ada") that are left out.
  std::set<std::string> drop = {};
  // Only these faults, requests and clients are there; empty: all. A request needs its client.
  std::set<std::string> keep = {};
  // Lines of the network's trace that are kept, to name the first difference of two runs.
  std::size_t trace_lines_max = 0;
};

// A property that did not hold.
struct WorldFailure {
  std::string property;  // "orders are kept"
  std::string text;      // what is wrong
};

class World {
 public:
  // Returns what is wrong; empty: the property holds.
  using Property = std::function<std::string(World&)>;
  using Script = std::function<Task<void>(WorldClient&)>;

  explicit World(WorldOptions options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // ---- who is there

  // Starts a program as a node. `configure` is the one that main() uses.
  template <class Settings>
  WorldNode& add(std::string name, app::ApplicationOptions program,
                 void (*configure)(app::Application<Settings>&), NodeOptions options = {}) {
    return add_node(
        std::move(name),
        [program = std::move(program), configure]() -> std::unique_ptr<app::ApplicationCore> {
          auto made = std::make_unique<app::Application<Settings>>(program);
          configure(*made);
          return made;
        },
        std::move(options));
  }
  WorldNode& add_node(std::string name, WorldNode::Maker make, NodeOptions options = {});
  // REQUIRES a node of that name.
  WorldNode& node(std::string_view name);
  // The same script for each of these clients.
  void users(const std::vector<std::string>& names, const Script& script) {
    for (const std::string& name : names) (void)this->script(name, script);
  }
  // Made at its first use.
  WorldClient& client(const std::string& name);
  // Runs a script as that client, from now on.
  WorldClient& script(const std::string& name, Script script);
  // A server outside, which all nodes reach.
  FakeUpstream& upstream(std::string url, const std::function<void(Router&)>& routes);
  // A server that nodes share, which they reach by its name: FakeRedis, FakeNats, FakePostgres. Add
  // it before the nodes that need it.
  //
  //   auto& redis = world.add_server<testing::FakeRedis>("redis");     // redis://redis
  template <class T, class... More>
  T& add_server(std::string name, More&&... more) {
    auto made = std::make_unique<T>(new_host(std::move(name)), std::forward<More>(more)...);
    T& server = *made;
    add_server(std::move(made));
    return server;
  }
  // From now on `name` means that node, for nodes and clients: DNS that changes. Connections stay.
  void resolve(std::string name, const std::string& node);

  // ---- the network between two hosts: nodes, clients, or "outside", where upstreams are

  // Sets the conditions of segments from one to the other, from now on.
  void set_path(std::string_view from, std::string_view to, const engine::SimPath& path);
  // Nothing arrives from `from` at `to`, until heal(). Bytes that are sent arrive after that.
  void block(std::string_view from, std::string_view to);
  // Both ways.
  void partition(std::string_view one, std::string_view other);
  // All paths, or those between two hosts, are as at the start.
  void heal();
  void heal(std::string_view one, std::string_view other);
  // Resets all connections between the two.
  void reset(std::string_view one, std::string_view other);

  // ---- time

  Instant now() const noexcept;       // virtual time
  Duration elapsed() const noexcept;  // since the start of the world
  // Lets time pass, until a failure at most.
  void run(Duration time);
  // Lets time pass until done(). False: it did not come within `limit`.
  bool run_until(const std::function<bool()>& done, Duration limit);
  // Lets time pass until all scripts, requests and planned faults are over. False: they were not,
  // within idle_wait_max.
  bool run_until_idle();
  // Calls f() after `delay`, between two turns.
  void after(Duration delay, std::function<void()> f);
  // Sends a request as the client "test", and lets time pass until it is over.
  Operation ask(std::string_view node, std::string_view method, std::string_view target,
                std::string_view content = {}, const TestReply::Fields& fields = {});

  // ---- faults by the seed

  // Plans faults from now on. Call it when all nodes and clients are there.
  void faults(const FaultBounds& bounds);
  // The plans so far, without what `drop` left out.
  const std::vector<PlannedFault>& planned() const noexcept;
  // Whether a fault was in effect at some time between the two.
  bool was_disturbed(Instant from, Instant to) const noexcept;

  // ---- properties

  // Asked whenever a request or a fault was over, and at the end.
  void always(std::string name, Property property);
  // Asked by finish().
  void at_end(std::string name, Property property);
  // A failure unless `holds`.
  void expect(bool holds, const std::string& text);
  void fail(std::string property, std::string text);
  // Runs until all is over, ends all faults, starts the nodes that are down, gives them the time
  // `recovery`, and asks all properties. True: there is no failure.
  bool finish();
  const std::vector<WorldFailure>& failures() const noexcept;

  // ---- history

  const History& history() const noexcept;    // all requests so far
  const Timeline& timeline() const noexcept;  // what happened, in order
  // A line of the test's own.
  void note(std::string who, std::string what);
  // Failures and timeline, to be read.
  std::string report() const;
  // Digest of everything that happened on the network, in the timeline and on simulated disks.
  std::uint64_t trace_digest() const noexcept;
  // The last trace_lines_max lines of the network's trace.
  std::string network_trace() const;

  // In the order in which they were added.
  std::vector<std::string> node_names() const;
  // Open ends of connections whose other end is gone. Those of clients are never open at rest.
  std::size_t ends_alone() const;
  // For choices of the test.
  Random& random() noexcept;
  std::uint64_t seed() const noexcept;
  const WorldOptions& options() const noexcept;
  // The keys of all faults, requests and clients so far: what `drop` and `keep` may name. Those of
  // ask() are never left out: properties ask by it.
  std::vector<std::string> keys() const;

 private:
  TestHost new_host(std::string name);
  void add_server(std::unique_ptr<WorldServer> server);

  friend class WorldCall;
  friend class WorldClient;
  friend class WorldDestinations;
  friend class WorldNode;
  friend struct detail::WorldCore;
  using Core = detail::WorldCore;

  std::unique_ptr<Core> core_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
