#include "tests/simulation/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "hello_world_server/routes.hpp"
#include "katana/base/system/check.hpp"
#include "katana/net/reactor/reactor_on.hpp"

namespace katana::simulation {
namespace {

Service service_of(Result<Service> made) {
  if (made) return *std::move(made);
  fmt::print(stderr, "{}\n", made.error().describe());
  std::abort();
}

// One service behind a protocol.
struct Front {
  Front(Result<Service> made, const session::HttpOptions& options)
      : service(service_of(std::move(made))),
        dispatcher(service),
        protocol(options, dispatcher),
        http2(options, dispatcher, protocol.counters(), &protocol.websockets()) {
    if (options.http2.enabled) protocol.set_http2(&http2);
  }
  Service service;
  Dispatcher dispatcher;
  session::Http1Protocol protocol;
  session::Http2Protocol http2;
};

// Turns without anything to do, after which there is nothing to do.
constexpr int rest_turns = 3;

}  // namespace

struct World::Server {
  Server(const WorldOptions& options, SimNetwork& network, Trial& handlers)
      : hello(hello::make_service(), options.http),
        trial(handlers.make_service(), options.http),
        reactor(options.reactor,
                std::max(hello.protocol.session_bytes(), hello.http2.session_bytes()), network) {
    KATANA_CHECK(reactor.start());
    KATANA_CHECK(reactor.listen({}, hello.protocol));
    KATANA_CHECK(reactor.listen({}, trial.protocol));
    if (options.credentials == nullptr) return;
    transforms = std::make_unique<tls::TlsTransforms>(*options.credentials);
    KATANA_CHECK(reactor.listen_transformed({}, trial.protocol, *transforms));
  }

  Front hello;
  Front trial;
  std::unique_ptr<tls::TlsTransforms> transforms;  // null without credentials
  net::ReactorOn<engine::SimEngine> reactor;
};

WorldOptions::WorldOptions() {
  reactor.engine.links_max = 256;
  reactor.output_blocks_max = 8 * 1024;
  reactor.output_blocks_reserve = 64;
  reactor.carry_large_max = 64;
}

World::World(const WorldOptions& options)
    : network_(options.seed, options.faults, options.trace_lines_max),
      trial_(options.more_routes),
      clients_(options.clients ? std::make_unique<net::ClientLimits>(*options.clients, options.seed)
                               : nullptr),
      server_(std::make_unique<Server>(options, network_, trial_)),
      reactor_(&server_->reactor),
      kernel_(&server_->reactor.engine()) {
  if (clients_ == nullptr) return;
  reactor_->guard(static_cast<engine::Listener>(Site::trial), {.limits = clients_.get()});
}

World::~World() = default;

session::Http1Protocol& World::protocol(Site site) noexcept {
  return site == Site::hello ? server_->hello.protocol : server_->trial.protocol;
}

session::Http2Protocol& World::http2(Site site) noexcept {
  return site == Site::hello ? server_->hello.http2 : server_->trial.http2;
}

const Service& World::service(Site site) const noexcept {
  return site == Site::hello ? server_->hello.service : server_->trial.service;
}

std::uint16_t World::port(Site site) const {
  return reactor_->port(static_cast<engine::Listener>(site));
}

session::HttpCounters World::http_counters() noexcept {
  session::HttpCounters sum = server_->hello.protocol.counters();
  const session::HttpCounters& other = server_->trial.protocol.counters();
  sum.requests += other.requests;
  sum.refused += other.refused;
  sum.handler_failures += other.handler_failures;
  sum.handler_timeouts += other.handler_timeouts;
  sum.handlers_cancelled += other.handlers_cancelled;
  sum.replies_aborted += other.replies_aborted;
  return sum;
}

void World::turn(Duration wait_max) {
  const Instant due = reactor_->timers().next();
  const Duration until_due = due == never ? wait_max : due - now();
  reactor_->turn(std::clamp(until_due, Duration{}, wait_max));
  ++turns_;
  const net::MemoryBudget used = reactor_->memory_used();
  memory_peak_.connections = std::max(memory_peak_.connections, used.connections);
  memory_peak_.output = std::max(memory_peak_.output, used.output);
  memory_peak_.carry = std::max(memory_peak_.carry, used.carry);
  memory_peak_.held = std::max(memory_peak_.held, used.held);
  if (on_turn) on_turn();
}

void World::run_until(Instant moment) {
  while (now() < moment) turn(moment - now());
}

bool World::run_while_not(const std::function<bool()>& done, Duration limit) {
  const Instant last = now() + limit;
  while (!done() && now() < last) turn(std::min(seconds(1), last - now()));
  return done();
}

bool World::at_rest() const { return network_.quiescent() && reactor_->timers().next() == never; }

void World::run_to_rest(std::uint64_t turns_max) {
  const std::uint64_t last = turns_ + turns_max;
  for (int resting = 0; resting < rest_turns && turns_ < last;) {
    const bool rests = at_rest();
    resting = rests ? resting + 1 : 0;
    turn(rests ? milliseconds(1) : seconds(3600));
  }
}

std::vector<std::string> World::faults_at_rest() {
  std::vector<std::string> faults;
  const auto require = [&](bool holds, std::string what) {
    if (!holds) faults.push_back(std::move(what));
  };
  const net::Counters& counters = reactor_->counters();
  const net::MemoryBudget used = reactor_->memory_used();
  require(at_rest(), fmt::format("after {} turns something still happens", turns_));
  require(reactor_->links_open() == 0, fmt::format("{} links are open", reactor_->links_open()));
  require(kernel_->links_open() == reactor_->links_open(),
          fmt::format("the engine has {} links, the reactor {}", kernel_->links_open(),
                      reactor_->links_open()));
  require(network_.descriptors().empty(),
          fmt::format("{} descriptors are open", network_.descriptors().size()));
  require(used.total() == 0, fmt::format("memory is not given back: connections {}, output {}, "
                                         "carry {}, held {}",
                                         used.connections, used.output, used.carry, used.held));
  require(reactor_->tasks().size() == 0,
          fmt::format("{} tasks have not ended", reactor_->tasks().size()));
  require(reactor_->expected() == 0,
          fmt::format("{} messages are still expected", reactor_->expected()));
  if (clients_ != nullptr) {
    require(clients_->requests() == 0,
            fmt::format("{} requests of clients are still counted", clients_->requests()));
    require(clients_->clients(never) == 0,
            fmt::format("{} clients still have something", clients_->clients(never)));
  }
  require(trial_.frames() == 0, fmt::format("{} frames of handlers are left", trial_.frames()));
  require(counters.accepted + counters.connected == counters.closed,
          fmt::format("{} accepted, {} connected, {} closed", counters.accepted, counters.connected,
                      counters.closed));
  return faults;
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
