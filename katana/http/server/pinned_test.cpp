// With `pin` each reactor runs on its assigned CPU, whatever CPUs this machine has.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "katana/base/system/cpu_placement.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::server {
namespace {

class PinnedTest : public testing::Test {
 protected:
  PinnedTest() {
    options.port = 0;
    options.reactors = 3;
    options.pin = true;
    options.reactor.engine.links_max = 64;
    router.get("/here", [this] {
      const std::lock_guard lock(mutex);
      cpus_of[net::Reactor::current()] = allowed_cpus();
      return Reply::text("here");
    });
  }

  ~PinnedTest() override { bind_to_cpus(allowed); }

  HttpServerOptions options;
  Router router;
  const std::vector<int> allowed = allowed_cpus();
  std::mutex mutex;
  std::map<net::Reactor*, std::vector<int>> cpus_of;  // of the serving threads
};

TEST_F(PinnedTest, each_reactor_runs_where_it_was_placed_and_the_caller_is_bound_only_then) {
  const auto service = std::move(router).build();
  ASSERT_TRUE(service);
  const NumaNodes nodes = read_numa_nodes();
  const std::vector<int> placed = place_reactors(options.reactors, allowed, nodes);
  for (const EngineKind kind : engines()) {
    if (!choose_engine(engine_name(kind))) continue;  // forbidden here
    options.engine = kind;
    cpus_of.clear();
    HttpServer server(options, *service);
    const auto started = server.start();
    ASSERT_TRUE(started) << started.error().describe();
    EXPECT_EQ(allowed_cpus(), allowed);
    EXPECT_EQ(server.placement(), describe_placement(placed, nodes));
    serve_clients(server, [&](std::uint16_t port) {
      std::vector<std::unique_ptr<Client>> clients;
      for (int count = 0; count < 30; ++count) {  // balanced over all reactors
        clients.push_back(std::make_unique<Client>(port));
        EXPECT_TRUE(clients.back()->ask("/here").ends_with("here"));
      }
    });
    EXPECT_EQ(cpus_of[&server.first_reactor()], std::vector<int>{placed.front()});
    bind_to_cpus(allowed);  // the first reactor's thread is this one
    std::multiset<std::vector<int>> found, wanted;
    for (const auto& [reactor, cpus] : cpus_of) found.insert(cpus);
    for (const int cpu : placed) wanted.insert({cpu});
    EXPECT_EQ(found, wanted) << engine_name(kind);
  }
}

TEST_F(PinnedTest, a_reactor_is_made_on_its_cpu) {
  std::vector<std::vector<int>> made_on;
  options.make_reactor = [&](const net::ReactorOptions& reactor, std::size_t bytes) {
    made_on.push_back(allowed_cpus());
    return make_reactor(EngineKind::epoll_edge, reactor, bytes);
  };
  const auto service = std::move(router).build();
  ASSERT_TRUE(service);
  const HttpServer server(options, *service);
  const std::vector<int> placed = place_reactors(options.reactors, allowed, read_numa_nodes());
  ASSERT_EQ(made_on.size(), placed.size());
  for (std::size_t index = 0; index < placed.size(); ++index) {
    EXPECT_EQ(made_on[index], std::vector<int>{placed[index]});
  }
  EXPECT_EQ(allowed_cpus(), allowed);
}

TEST_F(PinnedTest, a_reactor_that_cannot_be_made_leaves_the_thread_unbound) {
  options.make_reactor = [](const net::ReactorOptions&,
                            std::size_t) -> std::unique_ptr<net::Reactor> {
    throw std::runtime_error("none");
  };
  const auto service = std::move(router).build();
  ASSERT_TRUE(service);
  EXPECT_THROW((void)HttpServer(options, *service), std::runtime_error);
  EXPECT_EQ(allowed_cpus(), allowed);
}

TEST_F(PinnedTest, without_pin_nothing_is_placed) {
  options.pin = false;
  const auto service = std::move(router).build();
  ASSERT_TRUE(service);
  EXPECT_EQ(HttpServer(options, *service).placement(), "");
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
