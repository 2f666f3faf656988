#include "apps/chat/host/chat_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "apps/chat/directory.hpp"
#include "apps/chat/host/chat_websocket.hpp"
#include "katana/base/system/cpu_placement.hpp"
#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/server/mistakes.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/operations.hpp"
#include "katana/http/server/reactor_group.hpp"
#include "katana/http/server/reactor_probe.hpp"
#include "katana/http/session/http2_protocol.hpp"
#include "katana/net/tls/transform.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::chat {
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
    Row{"katana_chat_delivered", "", "Deliveries that the kernel accepted whole.",
        [](const HubCounters& of) { return of.delivered.value(); }},
    Row{"katana_chat_batches", "", "Blocks that messages were gathered into.",
        [](const HubCounters& of) { return of.batches.value(); }},
    Row{"katana_chat_relayed", "", "Batches sent to another reactor.",
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
    Row{"katana_chat_queue_peak_bytes", "bytes", "Largest queue of one client so far.",
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

// The parts of a listener with TLS, for all reactors.
struct SecureListener {
  std::unique_ptr<tls::Credentials> credentials;
  std::vector<std::unique_ptr<tls::TlsTransforms>> transforms;  // by reactor

  Result<void> load(tls::TlsOptions options, std::vector<std::string> protocols,
                    unsigned reactors) {
    options.protocols = std::move(protocols);
    auto loaded = tls::Credentials::load(options);
    if (!loaded) return std::unexpected(loaded.error());
    credentials = *std::move(loaded);
    for (unsigned index = 0; index < reactors; ++index) {
      transforms.push_back(std::make_unique<tls::TlsTransforms>(*credentials));
    }
    return {};
  }
  // Null: without TLS.
  const tls::TlsTransforms* of(std::size_t index) const {
    return transforms.empty() ? nullptr : transforms[index].get();
  }
  Result<void> listen(net::Reactor& reactor, const engine::ListenOptions& options,
                      net::Protocol& protocol, std::size_t index) const {
    return transforms.empty() ? reactor.listen(options, protocol)
                              : reactor.listen_transformed(options, protocol, *transforms[index]);
  }
};

Result<void> check(const ChatServerOptions& options) {
  server::Mistakes mistakes;
  const chat::HubOptions& hub = options.chat.hub;
  const std::string quarter =
      fmt::format("give at most a quarter of queue_bytes_max, which is {}", hub.queue_bytes_max);
  mistakes.range<unsigned>("reactors", options.reactors, 1, 1024);
  mistakes.range<std::uint32_t>("rooms_max", options.rooms_max, 1, UINT32_MAX);
  mistakes.unless(hub.queue_bytes_max >= chat::queue_bytes_min, "chat.hub.queue_bytes_max",
                  fmt::to_string(hub.queue_bytes_max),
                  fmt::format("give {} or more", chat::queue_bytes_min));
  mistakes.unless(hub.window_bytes <= hub.queue_bytes_max / 4, "chat.hub.window_bytes",
                  fmt::to_string(hub.window_bytes), quarter);
  mistakes.unless(hub.turn_bytes_max <= hub.queue_bytes_max / 4, "chat.hub.turn_bytes_max",
                  fmt::to_string(hub.turn_bytes_max), quarter);
  return mistakes.result();
}

}  // namespace

// In the order in which they may be destroyed from the back: hubs outlive reactors.
struct ChatServer::Parts {
  Parts(const ChatServerOptions& options, log::Logger logger, std::unique_ptr<ChatBus> opened)
      : observer(logger),
        // The bridge to other servers is to the hubs as one more reactor.
        directory(options.connections_max, options.rooms_max,
                  options.reactors + (opened != nullptr ? 1 : 0)),
        bus(std::move(opened)) {}

  // The CPU of the reactor; none: it is not bound.
  std::optional<int> cpu_of(std::size_t reactor) const noexcept {
    return reactor < cpus.size() ? std::optional(cpus[reactor]) : std::nullopt;
  }

  LogObserver observer;
  chat::Directory directory;
  std::optional<chat::History> history;
  std::unique_ptr<ChatBus> bus;          // null: there are no other servers
  std::unique_ptr<ChatCluster> cluster;  // likewise
  std::unique_ptr<server::Observability> observability;
  std::optional<server::OperationsGuard> guard;
  std::optional<Service> service;
  std::optional<Dispatcher> dispatcher;
  std::optional<session::Http1Protocol> http;
  session::HttpCounters no_http;  // for the reactors that answer no scrapes
  std::vector<std::unique_ptr<chat::ChatProtocol>> chats;
  // The parts of the WebSocket port, by reactor; empty without one.
  std::optional<Service> pages;
  std::vector<std::unique_ptr<Dispatcher>> page_dispatchers;
  std::vector<std::unique_ptr<session::Http1Protocol>> page_protocols;
  std::vector<std::unique_ptr<session::Http2Protocol>> page_http2;
  SecureListener secure_chat, secure_pages;  // without TLS they are empty
  std::vector<int> cpus;                     // by reactor; empty: they are not bound
  std::vector<std::unique_ptr<net::Reactor>> reactors;
  std::vector<std::unique_ptr<server::ReactorProbe>> probes;
  std::unique_ptr<server::ReactorGroup> group;

  struct Series {
    std::vector<ObservedCounter> counters;
    std::vector<Gauge> gauges;
    std::vector<ObservedCounter> dropped;  // by reason
  };
  std::vector<Series> series;  // by reactor
  Gauge connections;
  Gauge rooms;
};

ChatServer::ChatServer(const ChatServerOptions& options, std::unique_ptr<ChatBus> bus)
    : options_(options) {
  options_.chat.hub.line_bytes_max = options_.chat.limits.line_bytes_max;
  options_.reactor.engine.links_max = options_.connections_max + spare_links;
  // A receive may decrypt more bytes than it received: the record may have begun earlier.
  if (options_.tls) options_.reactor.carry_extra_bytes += 16 * 1024;
  chat::adapt_reactor(options_.reactor, options_.chat);
  parts_ = std::make_unique<Parts>(options_, options_.log, std::move(bus));
  options_.chat.hub.observer = &parts_->observer;
  if (options_.history.messages_max > 0) {
    options_.chat.hub.history = &parts_->history.emplace(options_.history);
  }
  if (parts_->bus == nullptr) return;
  parts_->cluster = std::make_unique<ChatCluster>(options_.cluster, *parts_->bus, options_.port,
                                                  parts_->directory, options_.chat.hub,
                                                  options_.reactors, options_.log);
  options_.chat.hub.names = &parts_->cluster->bridge();
}

ChatServer::~ChatServer() {
  for (const auto& each : parts_->chats) each->hub().stop();
  if (parts_->cluster != nullptr) parts_->cluster->bridge().end();
}

Result<std::unique_ptr<ChatServer>> ChatServer::make(const ChatServerOptions& options) {
  if (auto checked = check(options); !checked) return std::unexpected(checked.error());
  auto bus = ChatBus::open(options.cluster.url, options.log);
  if (!bus) return std::unexpected(bus.error());
  std::unique_ptr<ChatServer> server(new ChatServer(options, *std::move(bus)));
  if (auto done = server->set_up(); !done) return std::unexpected(done.error());
  return server;
}

Result<void> ChatServer::set_up() {
  Parts& parts = *parts_;
  auto observability = server::Observability::make();
  if (!observability) return std::unexpected(observability.error());
  parts.observability = *std::move(observability);
  Router router;
  parts.guard.emplace(server::OperationsRules{
      .addresses = {options_.address}, .hosts = options_.hosts, .listener = metrics_listener()});
  parts.observability->mount(router, *parts.guard);
  auto service = std::move(router).build();
  if (!service) return std::unexpected(service.error());
  parts.service.emplace(*std::move(service));
  parts.dispatcher.emplace(*parts.service);
  parts.http.emplace(session::HttpOptions{}, *parts.dispatcher);
  if (options_.websocket_port) {
    if (auto done = set_up_websocket(); !done) return done;
  }
  if (options_.pin) {
    parts.cpus = place_reactors(options_.reactors, allowed_cpus(), read_numa_nodes());
  }
  std::vector<chat::Hub*> hubs;
  std::vector<net::Reactor*> reactors;
  for (unsigned index = 0; index < options_.reactors; ++index) {
    const CpuBinding bound(parts.cpu_of(index));
    auto& chat = *parts.chats.emplace_back(
        std::make_unique<chat::ChatProtocol>(options_.chat, parts.directory, index));
    const std::size_t page_bytes =
        options_.websocket_port ? parts.page_http2[index]->session_bytes() : 0;
    const std::size_t session_bytes =
        std::max({chat.session_bytes(), page_bytes,
                  index == 0 || options_.websocket_port ? parts.http->session_bytes() : 0});
    auto& reactor = *parts.reactors.emplace_back(
        server::make_reactor(options_.engine, options_.reactor, session_bytes));
    chat.attach(reactor);
    session::HttpCounters& counters = options_.websocket_port
                                          ? parts.page_protocols[index]->counters()
                                      : index == 0 ? parts.http->counters()
                                                   : parts.no_http;
    parts.probes.push_back(parts.observability->probe(reactor, counters));
    parts.probes.back()->warn(options_.log);
    hubs.push_back(&chat.hub());
    reactors.push_back(&reactor);
  }
  if (parts.cluster != nullptr) {
    parts.cluster->attach(*reactors.front(), hubs);
    hubs.push_back(&parts.cluster->bridge().hub());
  }
  chat::Hub::connect(hubs);
  parts.group = std::make_unique<server::ReactorGroup>(
      reactors,
      server::ReactorGroupOptions{
          .cpus = parts.cpus,
          .drain_timeout = options_.drain_timeout,
          .on_reload = options_.tls ? std::function<void()>([this] { reload_certificates(); })
                                    : std::function<void()>()});
  return register_metrics();
}

Result<void> ChatServer::set_up_websocket() {
  Parts& parts = *parts_;
  Router router;
  mount_chat(router, [&parts]() -> chat::ChatProtocol& {
    std::size_t index = 0;
    while (parts.reactors[index].get() != net::Reactor::current()) ++index;
    return *parts.chats[index];
  });
  auto service = std::move(router).build();
  if (!service) return std::unexpected(service.error());
  parts.pages.emplace(*std::move(service));
  session::HttpOptions http;
  http.websocket = chat_websocket_options(options_.chat);
  for (unsigned index = 0; index < options_.reactors; ++index) {
    auto& dispatcher =
        *parts.page_dispatchers.emplace_back(std::make_unique<Dispatcher>(*parts.pages));
    auto& pages = *parts.page_protocols.emplace_back(
        std::make_unique<session::Http1Protocol>(http, dispatcher));
    auto& http2 = *parts.page_http2.emplace_back(std::make_unique<session::Http2Protocol>(
        http, dispatcher, pages.counters(), &pages.websockets()));
    pages.set_http2(&http2);
  }
  return {};
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
  auto connections = registry.gauge("katana_chat_connections", "Connected clients.");
  if (!connections) return std::unexpected(connections.error());
  parts.connections = *connections;
  auto rooms = registry.gauge("katana_chat_rooms", "Rooms, with the lobby.");
  if (!rooms) return std::unexpected(rooms.error());
  parts.rooms = *rooms;
  if (parts.cluster != nullptr) {
    if (auto done = parts.cluster->register_metrics(registry); !done) return done;
  }
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
  if (parts.cluster != nullptr) parts.cluster->refresh_metrics();
}

// The two ports refuse each other's clients. A browser that is made to connect to the chat's port
// is refused in the handshake, because it offers HTTP only.
Result<void> ChatServer::load_certificates() {
  if (!options_.tls) return {};
  Parts& parts = *parts_;
  if (auto done = parts.secure_chat.load(*options_.tls, {"katana-chat"}, options_.reactors);
      !done) {
    return done;
  }
  for (const std::string& note : parts.secure_chat.credentials->present()->notes()) {
    options_.log.warn("{}", note);
  }
  if (!options_.websocket_port) return {};
  return parts.secure_pages.load(*options_.tls, {"h2", "http/1.1"}, options_.reactors);
}

void ChatServer::reload_certificates() {
  for (const SecureListener* each : {&parts_->secure_chat, &parts_->secure_pages}) {
    if (each->credentials == nullptr) continue;
    if (auto reloaded = each->credentials->reload(); !reloaded) {
      options_.log.error("certificates stay as they were: {}", reloaded.error().describe());
      return;
    }
  }
  options_.log.info("certificates read again");
}

Result<void> ChatServer::listen(unsigned index) {
  Parts& parts = *parts_;
  net::Reactor& reactor = *parts.reactors[index];
  const bool first = index == 0;
  engine::ListenOptions chats{
      .address = options_.address, .port = first ? options_.port : port_, .must_be_free = first};
  chats.peer_speaks_first = options_.tls.has_value();  // otherwise a client may only listen
  if (auto done = parts.secure_chat.listen(reactor, chats, *parts.chats[index], index); !done) {
    return done;
  }
  port_ = reactor.port(0);
  if (!options_.websocket_port) return {};
  const engine::ListenOptions pages{.address = options_.address,
                                    .port = first ? *options_.websocket_port : websocket_port_,
                                    .must_be_free = first};
  auto& protocol = *parts.page_protocols[index];
  if (auto done = parts.secure_pages.listen(reactor, pages, protocol, index); !done) return done;
  websocket_port_ = reactor.port(1);
  return {};
}

Result<void> ChatServer::start() {
  Parts& parts = *parts_;
  if (auto done = load_certificates(); !done) return done;
  for (unsigned index = 0; index < parts.reactors.size(); ++index) {
    const CpuBinding bound(parts.cpu_of(index));
    if (auto started = parts.reactors[index]->start(); !started) return started;
    if (auto done = listen(index); !done) return done;
    parts.probes[index]->start(parts.secure_chat.of(index), parts.secure_pages.of(index));
  }
  net::Reactor& first = *parts.reactors.front();
  if (options_.metrics_port) {
    const engine::ListenOptions scrapes{.address = options_.address,
                                        .port = *options_.metrics_port};
    if (auto done = first.listen(scrapes, *parts.http); !done) return done;
    metrics_port_ = first.port(metrics_listener());
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
  const std::uint64_t hubs = options_.reactors + (parts_->bus != nullptr ? 1U : 0U);
  const std::uint64_t pairs = hubs * (hubs - 1);
  ChatBudget budget;
  budget.relays = pairs * (std::uint64_t{hub.relay_batches_max} * 16 * 1024 + hub.turn_bytes_max);
  budget.reactor = parts_->reactors.front()->memory_budget();
  if (options_.history.messages_max > 0) {
    budget.history = std::uint64_t{options_.rooms_max} * (options_.history.bytes_max + 16 * 1024);
  }
  budget.total = budget.relays + budget.history + options_.reactors * budget.reactor.total();
  return budget;
}

std::string ChatServer::url() const {
  const bool is_v6 = options_.address.find(':') != std::string::npos;
  const char* const scheme = options_.tls ? "tls" : "tcp";
  return is_v6 ? fmt::format("{}://[{}]:{}", scheme, options_.address, port_)
               : fmt::format("{}://{}:{}", scheme, options_.address, port_);
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
