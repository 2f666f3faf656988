#include "katana/testing/world/world_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/testing/application/simulated_reactor.hpp"
#include "katana/testing/test_target.hpp"

namespace katana::testing {
namespace {

constexpr std::string_view outside = "outside";
constexpr std::size_t own_session_bytes = 64;  // the own reactor has no sessions

engine::SimFaults with_latency(const WorldOptions& options) {
  engine::SimFaults faults = options.network;
  faults.to_server_us = faults.to_peer_us = options.latency_us;
  return faults;
}

}  // namespace

// ---- names

WorldDestinations::WorldDestinations(World& world, std::uint32_t address)
    : world_(world), sockets_(world.core_->sockets_of(address)) {}

Result<engine::ConnectOptions> WorldDestinations::find(std::string_view scheme,
                                                       const std::string& host,
                                                       std::uint16_t port) const {
  World::Core& core = *world_.core_;
  if (const WorldNode* const node = core.find_node(host)) {
    const bool is_implied = port == (scheme == "https" ? 443 : 80);
    return engine::ConnectOptions{.address = engine::address_text(node->address()),
                                  .port = node->port_of(port, is_implied)};
  }
  const auto* const server = core.find_server(host);
  if (server != nullptr && server->server->port() == port) {
    return engine::ConnectOptions{.address = engine::address_text(server->address), .port = port};
  }
  const auto found = core.loop.upstreams().find(origin_text(scheme, host, port));
  if (found != core.loop.upstreams().end()) {
    return engine::ConnectOptions{.address = "127.0.0.1", .port = found->second};
  }
  std::string known;
  for (const auto& each : core.nodes) known += " " + each->name();
  for (const auto& each : core.servers) {
    known += fmt::format(" {}://{}:{}", each.server->kind(), each.name, each.server->port());
  }
  for (const auto& [origin, unused] : core.loop.upstreams()) known += " " + origin;
  return fail(Code::unavailable,
              fmt::format("no network in a test: the world has no node '{}' and no upstream {}; "
                          "there are:{}",
                          host, origin_text(scheme, host, port), known));
}

std::uint64_t WorldDestinations::draw_seed() noexcept { return world_.core_->loop.draw_seed(); }

WorldNode* detail::WorldCore::find_node(std::string_view name) const {
  if (const auto other = names.find(name); other != names.end()) name = other->second;
  const auto found =
      std::ranges::find_if(nodes, [name](const auto& each) { return each->name() == name; });
  return found == nodes.end() ? nullptr : found->get();
}

std::optional<std::uint32_t> detail::WorldCore::address_of(std::string_view name) const {
  if (name == outside) return 0;
  if (const WorldNode* const node = find_node(name)) return node->address();
  if (const Server* const server = find_server(name)) return server->address;
  for (const auto& each : clients) {
    if (each->name() == name) return each->address_;
  }
  return std::nullopt;
}

engine::SimSockets& detail::WorldCore::sockets_of(std::uint32_t address) {
  auto& made = sockets[address];
  if (made == nullptr) made = std::make_unique<engine::SimSockets>(network, address);
  return *made;
}

const detail::WorldCore::Server* detail::WorldCore::find_server(std::string_view name) const {
  const auto found = std::ranges::find(servers, name, &Server::name);
  return found == servers.end() || found->server == nullptr ? nullptr : &*found;
}

bool detail::WorldCore::has_server(std::string_view kind) const {
  return std::ranges::any_of(servers, [kind](const Server& each) {
    return each.server != nullptr && each.server->kind() == kind;
  });
}

// ---- the core

detail::WorldCore::WorldCore(World& of, WorldOptions given)
    : world(of),
      options(std::move(given)),
      network(options.seed, with_latency(options), options.trace_lines_max),
      loop(network, seconds(30)),
      random(options.seed ^ 0x74657374),
      started(network.now()),
      waker(*this) {
  timeline.begin(started);
}

detail::WorldCore::~WorldCore() {
  scripts.clear();
  for (Sent& each : sent) each.exchange->on_reply = nullptr;
  sent.clear();
  over.clear();
  nodes.clear();
  servers.clear();
  upstreams.clear();
  if (own) loop.remove(*own);
  own.reset();
}

void detail::WorldCore::act(std::function<void()> f) {
  if (in_turn) {
    urgent.push_back(std::move(f));
  } else {
    f();
  }
}

void detail::WorldCore::run_due_actions() {
  while (!urgent.empty()) {
    for (const auto& each : std::exchange(urgent, {})) each();
  }
  while (!actions.empty() && actions.begin()->first <= now()) {
    const auto action = actions.extract(actions.begin());
    action.mapped()();
  }
}

// One turn of all reactors, at most until the next action.
void detail::WorldCore::step(Instant end) {
  run_due_actions();
  Instant until = std::min(end, next_deadline());
  if (!actions.empty()) until = std::min(until, actions.begin()->first);
  in_turn = true;
  loop.turn(std::max(until - now(), Duration{}));
  in_turn = false;
  after_turn();
}

void detail::WorldCore::after_turn() {
  give_up_late();
  over.clear();
  run_due_actions();
  for (std::size_t index = 0; index < nodes.size(); ++index) nodes[index]->after_turn();
  for (Running& each : scripts) {
    if (each.is_over || !each.task || !each.task->done()) continue;
    each.is_over = true;
    try {
      each.task->result();
    } catch (...) {
      world.fail("script of " + each.client.name(), describe(std::current_exception()));
    }
  }
  check_properties();
}

void detail::WorldCore::check_properties() {
  if (!std::exchange(is_dirty, false) || is_checking || !failures.empty()) return;
  is_checking = true;
  for (const Named& each : always) {
    if (std::string wrong = each.property(world); !wrong.empty()) {
      world.fail(each.name, std::move(wrong));
      break;
    }
  }
  is_checking = false;
}

bool detail::WorldCore::is_idle() const noexcept {
  return sent.empty() && faults_open == 0 && to_start.empty() &&
         std::ranges::all_of(scripts, [](const Running& each) { return each.is_over; });
}

// ---- the world

World::World(WorldOptions options) : core_(std::make_unique<Core>(*this, std::move(options))) {
  core_->own = make_simulated_reactor(test_reactor_options(), own_session_bytes, core_->network,
                                      core_->next_address());
  KATANA_CHECK(core_->own->start());
  core_->loop.add(*core_->own, std::make_unique<WorldDestinations>(*this, core_->last_address), 0);
}

World::~World() = default;

WorldNode& World::add_node(std::string name, WorldNode::Maker make, NodeOptions options) {
  auto& node = *core_->nodes.emplace_back(new WorldNode(
      *this, std::move(name), core_->next_address(), std::move(make), std::move(options)));
  node.restart();
  return node;
}

WorldNode& World::node(std::string_view name) {
  WorldNode* const found = core_->find_node(name);
  KATANA_REQUIRE(found != nullptr);
  return *found;
}

FakeUpstream& World::upstream(std::string url, const std::function<void(Router&)>& routes) {
  return *core_->upstreams.emplace_back(
      std::make_unique<FakeUpstream>(core_->loop, std::move(url), routes));
}

TestHost World::new_host(std::string name) {
  const std::uint32_t address = core_->next_address();
  core_->servers.push_back({.name = name, .address = address, .server = nullptr});
  return {.loop = core_->loop,
          .address = address,
          .name = std::move(name),
          .seed = core_->options.seed * 64 + address};
}

void World::add_server(std::unique_ptr<WorldServer> server) {
  core_->servers.back().server = std::move(server);
  core_->note(core_->servers.back().name, "serves");
}

// ---- time

Instant World::now() const noexcept { return core_->now(); }
Duration World::elapsed() const noexcept { return core_->now() - core_->started; }

bool World::run_until(const std::function<bool()>& done, Duration limit) {
  const Instant end = core_->now() + limit;
  while (!done()) {
    if (core_->now() >= end || !core_->may_go_on()) return false;
    core_->step(end);
  }
  return true;
}

void World::run(Duration time) {
  (void)run_until([] { return false; }, time);
}

bool World::run_until_idle() {
  return run_until([this] { return core_->is_idle(); }, core_->options.idle_wait_max);
}

void World::after(Duration delay, std::function<void()> f) {
  core_->actions.emplace(core_->now() + delay, std::move(f));
}

// ---- properties

void World::always(std::string name, Property property) {
  core_->always.push_back({std::move(name), std::move(property)});
}

void World::at_end(std::string name, Property property) {
  core_->at_end.push_back({std::move(name), std::move(property)});
}

void World::expect(bool holds, const std::string& text) {
  if (!holds) fail("expect", text);
}

void World::fail(std::string property, std::string text) {
  core_->note("world", fmt::format("FAILURE: {}: {}", property, text));
  core_->failures.push_back({std::move(property), std::move(text)});
}

bool World::finish() {
  if (std::exchange(core_->is_finished, true)) return core_->failures.empty();
  if (core_->failures.empty() && !run_until_idle() && core_->failures.empty()) {
    fail("the world comes to rest",
         fmt::format("scripts, requests or faults were not over after {} s",
                     core_->options.idle_wait_max.ns / 1'000'000'000));
  }
  if (!core_->failures.empty()) return false;
  heal();
  for (const auto& each : core_->servers) each.server->come_back();
  for (const auto& each : core_->nodes) {
    each->kill_call_ = 0;
    each->restart();
  }
  run(core_->options.recovery);
  core_->is_dirty = true;
  core_->check_properties();
  for (const auto& each : core_->at_end) {
    if (!core_->failures.empty()) break;
    if (std::string wrong = each.property(*this); !wrong.empty()) fail(each.name, std::move(wrong));
  }
  return core_->failures.empty();
}

const std::vector<WorldFailure>& World::failures() const noexcept { return core_->failures; }

// ---- what happened

const History& World::history() const noexcept { return core_->history; }
const Timeline& World::timeline() const noexcept { return core_->timeline; }

void World::note(std::string who, std::string what) {
  core_->note(std::move(who), std::move(what));
}

std::string World::report() const {
  std::string text = fmt::format("seed {}\n", core_->options.seed);
  for (const WorldFailure& each : core_->failures) {
    text += fmt::format("{}: {}\n", each.property, each.text);
  }
  return text + core_->timeline.describe();
}

std::uint64_t World::trace_digest() const noexcept {
  std::uint64_t digest = core_->network.trace_digest() * 31 + core_->timeline.digest();
  for (const auto& each : core_->nodes) digest = digest * 31 + each->options_.files->trace_hash();
  return digest;
}

std::string World::network_trace() const { return core_->network.trace(); }
Random& World::random() noexcept { return core_->random; }
std::uint64_t World::seed() const noexcept { return core_->options.seed; }
const WorldOptions& World::options() const noexcept { return core_->options; }

std::vector<std::string> World::node_names() const {
  std::vector<std::string> names;
  for (const auto& each : core_->nodes) names.push_back(each->name());
  return names;
}

std::size_t World::ends_alone() const {
  const auto& open = core_->network.descriptors();
  return static_cast<std::size_t>(std::ranges::count_if(
      open, [&open](const auto& each) { return !open.contains({each.first, !each.second}); }));
}

std::vector<std::string> World::keys() const {
  std::vector<std::string> keys;
  const auto add = [&](std::string key) {
    if (!core_->is_dropped(key) && !Core::is_of_test(key)) keys.push_back(std::move(key));
  };
  for (const auto& each : core_->clients) add(each->name());
  for (const PlannedFault& each : core_->plan) add(each.key);
  for (const Operation& each : core_->history) {
    if (each.outcome != Outcome::dropped) add(each.key());
  }
  return keys;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
