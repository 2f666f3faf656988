#include "tests/simulation/chat/chat_world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/check.hpp"

namespace katana::simulation {
namespace {

// More than this a queue's charge may not be off: the batch that made it too much.
constexpr std::size_t batch_bytes_max = 32 * 1024;

}  // namespace

struct ChatWorld::Server {
  Server(const ChatWorldOptions& options, chat::Directory& directory, unsigned index,
         SimNetwork& network)
      : protocol(options.chat, directory, index),
        reactor(options.reactor, protocol.session_bytes(), network) {
    protocol.attach(reactor);
    KATANA_CHECK(reactor.start());
  }
  ~Server() { protocol.hub().stop(); }

  chat::ChatProtocol protocol;  // outlives the reactor
  net::ReactorOn<engine::SimEngine> reactor;
};

ChatWorldOptions::ChatWorldOptions() {
  reactor.engine.links_max = 64;
  reactor.output_blocks_max = 2048;
  reactor.output_blocks_reserve = 16;
  reactor.carry_large_max = 64;
  reactor.send_timeout = seconds(30);
  chat.hub.fit_queue(chat::queue_bytes_min);
  chat.hub.relay_batches_max = 4;
}

ChatWorld::ChatWorld(const ChatWorldOptions& options)
    : options_(options),
      network_(options.seed, options.faults, options.trace_lines_max),
      directory_(options.connections_max, options.rooms_max, options.reactors) {
  chat::adapt_reactor(options_.reactor, options_.chat);
  std::vector<chat::Hub*> hubs;
  engine::ListenOptions listen{.port = 9000};
  listen.peer_speaks_first = false;
  for (unsigned index = 0; index < options.reactors; ++index) {
    Server& server =
        *servers_.emplace_back(std::make_unique<Server>(options_, directory_, index, network_));
    KATANA_CHECK(server.reactor.listen(listen, server.protocol));
    listen.must_be_free = false;
    hubs.push_back(&server.protocol.hub());
  }
  chat::Hub::connect(hubs);
  port_ = servers_.front()->reactor.port(0);
}

ChatWorld::~ChatWorld() {
  for (const auto& each : servers_) each->protocol.hub().stop();
}

net::Reactor& ChatWorld::reactor(unsigned index) { return servers_[index]->reactor; }
chat::Hub& ChatWorld::hub(unsigned index) { return servers_[index]->protocol.hub(); }

void ChatWorld::turn(Duration wait_max) {
  for (const auto& each : servers_) {
    if (each->reactor.stopped()) continue;
    const Instant due = each->reactor.timers().next();
    const Duration until_due = due == never ? wait_max : due - now();
    each->reactor.turn(std::clamp(until_due, Duration{}, wait_max));
  }
  if (stopped()) network_.run_until(now() + wait_max);
  check();
}

void ChatWorld::run_for(Duration duration) {
  const Instant end = now() + duration;
  while (now() < end)
    turn(std::min(end - now(), network_.quiescent() ? seconds(1) : milliseconds(1)));
}

bool ChatWorld::run_until(const std::function<bool()>& done, Duration limit) {
  const Instant end = now() + limit;
  while (!done() && now() < end) turn(network_.quiescent() ? milliseconds(100) : milliseconds(1));
  return done();
}

bool ChatWorld::stopped() const {
  return std::ranges::all_of(servers_, [](const auto& each) { return each->reactor.stopped(); });
}

void ChatWorld::drain(Duration limit) {
  for (const auto& each : servers_) each->reactor.request_drain(limit);
  (void)run_until([this] { return stopped(); }, nanoseconds(limit.ns + seconds(60).ns));
}

std::uint64_t ChatWorld::sum(const std::function<std::uint64_t(chat::HubCounters&)>& value) {
  std::uint64_t total = 0;
  for (const auto& each : servers_) total += value(each->protocol.hub().counters());
  return total;
}

void ChatWorld::complain(bool wrong, std::string what) {
  if (wrong && faults_.size() < 10) faults_.push_back(std::move(what));
}

void ChatWorld::check() {
  for (const auto& each : servers_) {
    const chat::HubCounters& counters = each->protocol.hub().counters();
    const std::uint64_t peak = counters.queue_peak_bytes.value();
    complain(peak > options_.chat.hub.queue_bytes_max + batch_bytes_max,
             fmt::format("a queue has had {} bytes", peak));
    complain(counters.queued_bytes.value() >
                 std::uint64_t{options_.connections_max} * options_.chat.hub.queue_bytes_max,
             fmt::format("queues have {} bytes", counters.queued_bytes.value()));
    complain(counters.delivered.value() + counters.lost() > counters.due.value(),
             "more was delivered or lost than was due");
  }
}

std::vector<std::string> ChatWorld::faults_at_rest() {
  for (std::size_t index = 0; index < servers_.size(); ++index) {
    net::Reactor& reactor = servers_[index]->reactor;
    chat::HubCounters& counters = servers_[index]->protocol.hub().counters();
    complain(reactor.links_open() != 0, fmt::format("{} links are open", reactor.links_open()));
    complain(reactor.memory_used().total() != 0,
             fmt::format("reactor {}: {} bytes are not given back", index,
                         reactor.memory_used().total()));
    complain(counters.members.value() != 0,
             fmt::format("{} members are left", counters.members.value()));
    complain(counters.queued_bytes.value() != 0,
             fmt::format("{} bytes are queued", counters.queued_bytes.value()));
    complain(counters.due.value() != counters.delivered.value() + counters.lost(),
             fmt::format("reactor {}: {} due, {} delivered, {} lost", index, counters.due.value(),
                         counters.delivered.value(), counters.lost()));
  }
  complain(!network_.descriptors().empty(),
           fmt::format("{} descriptors are open", network_.descriptors().size()));
  complain(directory_.connections() != 0,
           fmt::format("{} connections are not dismissed", directory_.connections()));
  complain(directory_.rooms() != 1, fmt::format("{} rooms are left", directory_.rooms()));
  return faults_;
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
