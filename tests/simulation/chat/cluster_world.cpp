#include "tests/simulation/chat/cluster_world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/check.hpp"

namespace katana::simulation {

struct ClusterWorld::Reactor {
  Reactor(const ChatWorldOptions& options, const chat::ChatOptions& chat,
          chat::Directory& directory, unsigned index, SimNetwork& network)
      : protocol(chat, directory, index),
        reactor(options.reactor, protocol.session_bytes(), network) {
    protocol.attach(reactor);
    KATANA_CHECK(reactor.start());
  }

  chat::ChatProtocol protocol;  // outlives the reactor
  net::ReactorOn<engine::SimEngine> reactor;
};

// In the order in which they may be destroyed from the back, as ChatServer's parts.
struct ClusterWorld::Server {
  struct StartMessage : Message {
    explicit StartMessage(chat::cluster::Bridge& owner)
        : Message([](Message& message) noexcept {
            KATANA_CHECK(static_cast<StartMessage&>(message).bridge.start());
          }),
          bridge(owner) {}
    chat::cluster::Bridge& bridge;
  };

  Server(const ClusterWorldOptions& options, const std::string& name, chat::cluster::NodeId id,
         std::uint16_t wanted_port, SimNetwork& network, testing::BusNetwork& buses)
      : bus(buses.make(name)),
        directory(options.server.connections_max, options.server.rooms_max,
                  options.server.reactors + 1),
        history(options.history) {
    chat::ChatOptions chat = options.server.chat;
    if (options.history.messages_max > 0) chat.hub.history = &history;
    chat::cluster::BridgeOptions bridging{options.cluster, "chat", nullptr};
    bridging.cluster.id = id;
    bridging.cluster.name = name;
    bridge.emplace(bridging, *bus, directory, chat.hub, options.server.reactors);
    chat.hub.names = &*bridge;
    start_message.emplace(*bridge);
    engine::ListenOptions listen{.port = wanted_port};
    listen.peer_speaks_first = false;
    std::vector<chat::Hub*> hubs;
    for (unsigned index = 0; index < options.server.reactors; ++index) {
      Reactor& made = *reactors.emplace_back(
          std::make_unique<Reactor>(options.server, chat, directory, index, network));
      KATANA_CHECK(made.reactor.listen(listen, made.protocol));
      listen.must_be_free = false;
      hubs.push_back(&made.protocol.hub());
    }
    bridge->attach(reactors.front()->reactor, hubs);
    hubs.push_back(&bridge->hub());
    chat::Hub::connect(hubs);
    reactors.front()->reactor.post(*start_message);
    port = reactors.front()->reactor.port(0);
  }
  ~Server() {
    for (const auto& each : reactors) each->protocol.hub().stop();
    bridge->end();
  }
  bool stopped() const {
    return std::ranges::all_of(reactors, [](const auto& each) { return each->reactor.stopped(); });
  }

  std::unique_ptr<bus::Bus> bus;
  chat::Directory directory;
  chat::History history;
  std::optional<chat::cluster::Bridge> bridge;
  std::optional<StartMessage> start_message;
  std::vector<std::unique_ptr<Reactor>> reactors;
  std::uint16_t port = 0;
};

ClusterWorld::ClusterWorld(const ClusterWorldOptions& options)
    : options_(options),
      network_(options.server.seed, options.server.faults, options.server.trace_lines_max),
      buses_(network_, options.bus) {
  chat::adapt_reactor(options_.server.reactor, options_.server.chat);
}

ClusterWorld::~ClusterWorld() = default;

std::size_t ClusterWorld::start(const std::string& name) {
  const std::size_t number = servers_.size();
  names_.push_back(name);
  servers_.push_back(std::make_unique<Server>(
      options_, name, id(number), static_cast<std::uint16_t>(9000 + number), network_, buses_));
  return number;
}

void ClusterWorld::kill(std::size_t server) { servers_[server].reset(); }

std::uint16_t ClusterWorld::port(std::size_t server) const { return servers_[server]->port; }
chat::Directory& ClusterWorld::directory(std::size_t server) { return servers_[server]->directory; }
chat::cluster::Bridge& ClusterWorld::bridge(std::size_t server) {
  return *servers_[server]->bridge;
}

std::uint64_t ClusterWorld::sum(std::size_t server,
                                const std::function<std::uint64_t(chat::HubCounters&)>& value) {
  std::uint64_t total = 0;
  for (const auto& each : servers_[server]->reactors)
    total += value(each->protocol.hub().counters());
  return total;
}

chat::cluster::IncomingStreams::Heard ClusterWorld::heard(std::size_t server, std::size_t of,
                                                          Bytes room) {
  return servers_[server]->bridge->heard(id(of), room);
}

void ClusterWorld::turn(Duration wait_max) {
  bool turns = false;
  for (const auto& server : servers_) {
    if (server == nullptr) continue;
    for (const auto& each : server->reactors) {
      if (each->reactor.stopped()) continue;
      each->reactor.turn({});
      turns = true;
    }
  }
  if (turns && network_.has_work()) return;  // in the next turn, which takes time, too
  Instant next = now() + wait_max;
  for (const auto& server : servers_) {
    if (server == nullptr) continue;
    for (const auto& each : server->reactors) {
      if (!each->reactor.stopped()) next = std::min(next, each->reactor.timers().next());
    }
  }
  (void)network_.run_next(std::max(next, now()));
}

void ClusterWorld::run_for(Duration duration) {
  const Instant end = now() + duration;
  while (now() < end) turn(end - now());
}

bool ClusterWorld::run_until(const std::function<bool()>& done, Duration limit) {
  const Instant end = now() + limit;
  while (!done() && now() < end) turn(milliseconds(10));
  return done();
}

void ClusterWorld::drain(Duration limit) {
  for (const auto& server : servers_) {
    if (server == nullptr) continue;
    for (const auto& each : server->reactors) each->reactor.request_drain(limit);
  }
  (void)run_until(
      [this] {
        return std::ranges::all_of(
            servers_, [](const auto& each) { return each == nullptr || each->stopped(); });
      },
      nanoseconds(limit.ns + seconds(60).ns));
}

std::vector<std::string> ClusterWorld::faults_at_rest() {
  std::vector<std::string> faults;
  const auto require = [&faults](bool holds, std::string what) {
    if (!holds && faults.size() < 10) faults.push_back(std::move(what));
  };
  require(network_.descriptors().empty(),
          fmt::format("{} descriptors are open", network_.descriptors().size()));
  for (std::size_t number = 0; number < servers_.size(); ++number) {
    if (servers_[number] == nullptr) continue;
    Server& server = *servers_[number];
    for (const auto& each : server.reactors) {
      chat::HubCounters& counters = each->protocol.hub().counters();
      require(each->reactor.links_open() == 0,
              fmt::format("{}: {} links are open", number, each->reactor.links_open()));
      require(each->reactor.memory_used().total() == 0,
              fmt::format("{}: {} bytes are not given back", number,
                          each->reactor.memory_used().total()));
      require(counters.due.value() == counters.delivered.value() + counters.lost(),
              fmt::format("{}: {} due, {} delivered, {} lost", number, counters.due.value(),
                          counters.delivered.value(), counters.lost()));
      require(counters.queued_bytes.value() == 0, fmt::format("{}: bytes are queued", number));
    }
    require(server.directory.connections() == 0, fmt::format("{}: connections are left", number));
    require(server.directory.rooms() == 1, fmt::format("{}: rooms are left", number));
    require(server.bridge->counters().malformed.value() == 0,
            fmt::format("{}: messages of the bus were malformed", number));
  }
  return faults;
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
