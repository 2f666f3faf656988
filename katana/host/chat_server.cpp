#include "katana/host/chat_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "katana/chat/directory.hpp"
#include "katana/host/observability.hpp"
#include "katana/host/reactor_group.hpp"
#include "katana/service/dispatcher.hpp"

namespace katana::host {
namespace {

using chat::HubCounters;
using metrics::Family;
using metrics::Gauge;
using metrics::ObservedCounter;

struct Row {
  const char* name;
  const char* unit;
  const char* help;
  std::uint64_t (*value)(const HubCounters&);
};

constexpr std::array counter_rows{
    Row{"katana_chat_messages", "", "Messages that were accepted from clients.",
        [](const HubCounters& of) { return of.messages.value(); }},
    Row{"katana_chat_message_bytes", "bytes", "Bytes of accepted messages, as they are sent on.",
        [](const HubCounters& of) { return of.message_bytes.value(); }},
    Row{"katana_chat_lines_refused", "", "Lines of clients that were not accepted.",
        [](const HubCounters& of) { return of.refused.value(); }},
    Row{"katana_chat_deliveries_due", "", "Messages to be delivered, one for each recipient.",
        [](const HubCounters& of) { return of.due.value(); }},
    Row{"katana_chat_delivery_bytes", "bytes", "Bytes of messages to be delivered.",
        [](const HubCounters& of) { return of.due_bytes.value(); }},
    Row{"katana_chat_delivered", "",
        "Of the messages to be delivered, those that the kernel has taken whole.",
        [](const HubCounters& of) { return of.delivered.value(); }},
    Row{"katana_chat_batches", "", "Blocks that messages were gathered into.",
        [](const HubCounters& of) { return of.batches.value(); }},
    Row{"katana_chat_relayed", "", "Batches handed to another reactor.",
        [](const HubCounters& of) { return of.relayed.value(); }},
    Row{"katana_chat_relay_waits", "", "Batches that found another reactor's share full.",
        [](const HubCounters& of) { return of.relay_waits.value(); }},
    Row{"katana_chat_throttles", "", "Times that a client had to wait for its rate.",
        [](const HubCounters& of) { return of.throttles.value(); }},
    Row{"katana_chat_disconnects", "", "Clients disconnected because they read too slowly.",
        [](const HubCounters& of) { return of.disconnects.value(); }},
    Row{"katana_chat_turned_away", "", "Connections above the limit.",
        [](const HubCounters& of) { return of.turned_away.value(); }},
    Row{"katana_chat_timeouts", "", "Clients that were silent for too long.",
        [](const HubCounters& of) { return of.timeouts.value(); }}};

constexpr std::array gauge_rows{
    Row{"katana_chat_members", "", "Clients in rooms.",
        [](const HubCounters& of) { return of.members.value(); }},
    Row{"katana_chat_queued_bytes", "bytes", "Bytes kept for clients that read slowly.",
        [](const HubCounters& of) { return of.queued_bytes.value(); }},
    Row{"katana_chat_queue_peak_bytes", "bytes", "The most that was kept for one client.",
        [](const HubCounters& of) { return of.queue_peak_bytes.value(); }}};

class LogObserver final : public chat::Observer {
 public:
  explicit LogObserver(log::Logger logger) : log_(logger) {}
  void on_slow_reader(std::uint64_t number, chat::SlowReader policy) noexcept override {
    log_.warn(KATANA_AT_MOST(10, seconds(1)), "USER{} reads too slowly: {}", number,
              policy == chat::SlowReader::drop ? Bytes("its oldest messages are dropped")
                                               : Bytes("it is disconnected"));
  }
  void on_turned_away() noexcept override {
    log_.warn(KATANA_AT_MOST(1, seconds(1)),
              "a connection was turned away: there are as many as --connections-max allows");
  }

 private:
  log::Logger log_;
};

// Rejected connections and scrapes need links, too.
constexpr std::uint32_t spare_links = 64;

}  // namespace

// In the order in which they may be destroyed from the back: hubs outlive reactors.
struct ChatServer::Parts {
  Parts(const ChatServerOptions& options, log::Logger logger)
      : observer(logger), directory(options.connections_max, options.rooms_max, options.reactors) {}

  LogObserver observer;
  chat::Directory directory;
  std::unique_ptr<Observability> observability;
  std::optional<Service> service;
  std::optional<Dispatcher> dispatcher;
  std::optional<session::Http1Protocol> http;
  session::HttpCounters no_http;  // of the reactors that answer no scrapes
  std::vector<std::unique_ptr<chat::ChatProtocol>> chats;
  std::vector<std::unique_ptr<core::Reactor>> reactors;
  std::vector<std::unique_ptr<ReactorProbe>> probes;
  std::unique_ptr<ReactorGroup> group;

  struct Series {
    std::vector<ObservedCounter> counters;
    std::vector<Gauge> gauges;
    std::vector<ObservedCounter> dropped;  // by reason
  };
  std::vector<Series> series;  // by reactor
  Gauge connections;
  Gauge rooms;
};

ChatServer::ChatServer(const ChatServerOptions& options) : options_(options) {
  options_.chat.hub.line_bytes_max = options_.chat.limits.line_bytes_max;
  options_.reactor.engine.links_max = options_.connections_max + spare_links;
  chat::adapt_reactor(options_.reactor, options_.chat);
  parts_ = std::make_unique<Parts>(options_, options_.log);
  options_.chat.hub.observer = &parts_->observer;
}

ChatServer::~ChatServer() {
  for (const auto& each : parts_->chats) each->hub().stop();
}

Result<std::unique_ptr<ChatServer>> ChatServer::make(const ChatServerOptions& options) {
  std::unique_ptr<ChatServer> server(new ChatServer(options));
  if (auto done = server->set_up(); !done) return std::unexpected(done.error());
  return server;
}

Result<void> ChatServer::set_up() {
  Parts& parts = *parts_;
  auto observability = Observability::make();
  if (!observability) return std::unexpected(observability.error());
  parts.observability = *std::move(observability);
  Router router;
  parts.observability->mount(router);
  auto service = std::move(router).build();
  if (!service) return std::unexpected(service.error());
  parts.service.emplace(*std::move(service));
  parts.dispatcher.emplace(*parts.service);
  parts.http.emplace(session::HttpOptions{}, *parts.dispatcher);
  std::vector<chat::Hub*> hubs;
  std::vector<core::Reactor*> reactors;
  for (unsigned index = 0; index < options_.reactors; ++index) {
    auto& chat = *parts.chats.emplace_back(
        std::make_unique<chat::ChatProtocol>(options_.chat, parts.directory, index));
    const std::size_t session_bytes =
        std::max(chat.session_bytes(), index == 0 ? parts.http->session_bytes() : 0);
    auto& reactor = *parts.reactors.emplace_back(
        make_reactor(options_.engine, options_.reactor, session_bytes));
    chat.attach(reactor);
    parts.probes.push_back(
        parts.observability->probe(reactor, index == 0 ? parts.http->counters() : parts.no_http));
    hubs.push_back(&chat.hub());
    reactors.push_back(&reactor);
  }
  chat::Hub::connect(hubs);
  parts.group = std::make_unique<ReactorGroup>(
      reactors, ReactorGroupOptions{.pin = options_.pin, .drain_timeout = options_.drain_timeout});
  return register_metrics();
}

Result<void> ChatServer::register_metrics() {
  Parts& parts = *parts_;
  metrics::Registry& registry = parts.observability->registry();
  parts.series.resize(options_.reactors);
  const auto number = [](std::size_t index) { return std::to_string(index); };
  for (const Row& row : counter_rows) {
    auto family = registry.observed_counters(
        {.name = row.name, .help = row.help, .labels = {"reactor"}, .unit = row.unit});
    if (!family) return std::unexpected(family.error());
    for (std::size_t index = 0; index < parts.series.size(); ++index) {
      parts.series[index].counters.push_back(family->with(number(index)));
    }
  }
  for (const Row& row : gauge_rows) {
    auto family = registry.gauges(
        {.name = row.name, .help = row.help, .labels = {"reactor"}, .unit = row.unit});
    if (!family) return std::unexpected(family.error());
    for (std::size_t index = 0; index < parts.series.size(); ++index) {
      parts.series[index].gauges.push_back(family->with(number(index)));
    }
  }
  auto dropped =
      registry.observed_counters({.name = "katana_chat_dropped",
                                  .help = "Messages that a recipient did not get, by reason.",
                                  .labels = {"reactor", "reason"}});
  if (!dropped) return std::unexpected(dropped.error());
  for (std::size_t index = 0; index < parts.series.size(); ++index) {
    for (const Bytes reason : chat::loss_names) {
      parts.series[index].dropped.push_back(dropped->with(number(index), reason));
    }
  }
  auto connections = registry.gauge("katana_chat_connections", "Clients that are connected.");
  if (!connections) return std::unexpected(connections.error());
  parts.connections = *connections;
  auto rooms = registry.gauge("katana_chat_rooms", "Rooms, with the lobby.");
  if (!rooms) return std::unexpected(rooms.error());
  parts.rooms = *rooms;
  registry.before_scrape([this] { refresh_metrics(); });
  return {};
}

void ChatServer::refresh_metrics() const {
  const Parts& parts = *parts_;
  for (std::size_t index = 0; index < parts.series.size(); ++index) {
    const HubCounters& counters = parts.chats[index]->hub().counters();
    const Parts::Series& series = parts.series[index];
    for (std::size_t row = 0; row < counter_rows.size(); ++row) {
      series.counters[row].observe(static_cast<double>(counter_rows[row].value(counters)));
    }
    for (std::size_t row = 0; row < gauge_rows.size(); ++row) {
      series.gauges[row].set(static_cast<double>(gauge_rows[row].value(counters)));
    }
    for (std::size_t reason = 0; reason < series.dropped.size(); ++reason) {
      series.dropped[reason].observe(static_cast<double>(counters.dropped[reason].value()));
    }
  }
  parts.connections.set(parts.directory.connections());
  parts.rooms.set(parts.directory.rooms());
}

Result<void> ChatServer::start() {
  Parts& parts = *parts_;
  engine::ListenOptions listen{.address = options_.address, .port = options_.port};
  listen.peer_speaks_first = false;  // a client may only listen
  for (std::size_t index = 0; index < parts.reactors.size(); ++index) {
    core::Reactor& reactor = *parts.reactors[index];
    if (auto started = reactor.start(); !started) return started;
    if (auto done = reactor.listen(listen, *parts.chats[index]); !done) return done;
    parts.probes[index]->start();
    port_ = reactor.port(0);
    listen.port = port_;
    listen.must_be_free = false;
  }
  core::Reactor& first = *parts.reactors.front();
  if (options_.metrics_port) {
    const engine::ListenOptions scrapes{.address = options_.address,
                                        .port = *options_.metrics_port};
    if (auto done = first.listen(scrapes, *parts.http); !done) return done;
    metrics_port_ = first.port(1);
  }
  return parts.group->watch_signals();
}

ChatReport ChatServer::run() {
  Parts& parts = *parts_;
  parts.group->run();
  ChatReport report;
  for (const auto& reactor : parts.reactors) report.cut_off += reactor->counters().cut_off;
  for (const auto& each : parts.chats) {
    const HubCounters& counters = each->hub().counters();
    report.messages += counters.messages.value();
    report.delivered += counters.delivered.value();
    report.dropped += counters.lost();
  }
  report.connections = parts.directory.admitted();
  return report;
}

ChatBudget ChatServer::budget() const {
  const chat::HubOptions& hub = options_.chat.hub;
  const std::uint64_t pairs = std::uint64_t{options_.reactors} * (options_.reactors - 1);
  ChatBudget budget;
  budget.queues = std::uint64_t{options_.connections_max} * hub.queue_bytes_max;
  budget.relays = pairs * (std::uint64_t{hub.relay_batches_max} * 16 * 1024 + hub.turn_bytes_max);
  budget.reactor = parts_->reactors.front()->memory_budget();
  return budget;
}

std::string ChatServer::url() const {
  const bool is_v6 = options_.address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("http://[{}]:{}", options_.address, port_)
               : fmt::format("http://{}:{}", options_.address, port_);
}

}  // namespace katana::host
