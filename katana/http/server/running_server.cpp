#include "katana/http/server/running_server.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/system/cpu_placement.hpp"
#include "katana/base/system/cpus.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/option_mistakes.hpp"
#include "katana/http/server/reactor_probe.hpp"
#include "katana/http/server/redirect.hpp"
#include "katana/http/session/http2_protocol.hpp"
#include "katana/net/engine/sockets.hpp"
#include "katana/net/proxy/transform.hpp"
#include "katana/net/tls/transform.hpp"

namespace katana::server {

namespace {

std::unique_ptr<net::Reactor> reactor_of(const HttpServerOptions& options,
                                         std::size_t session_bytes_max) {
  if (options.make_reactor) return options.make_reactor(options.reactor, session_bytes_max);
  net::ReactorOptions reactor = options.reactor;
  reactor.spin_max = spin_for(reactor.spin_max);
  return make_reactor(options.engine, reactor, session_bytes_max);
}

}  // namespace

namespace {

bool speaks_plain(const ListenerOptions& listener) { return !listener.tls; }
bool redirects(const ListenerOptions& listener) { return listener.redirect_to_https; }

// Whether listeners without TLS differ from others: in a server with TLS, or behind a proxy with
// TLS.
bool has_plain(const HttpServerOptions& options) {
  return options.tls ? std::ranges::any_of(options.listeners, speaks_plain)
                     : std::ranges::any_of(options.listeners, redirects);
}

session::HttpOptions without_tls(session::HttpOptions options) {
  options.strict_transport_security.clear();  // RFC 6797 §7.2: not said without TLS
  return options;
}

// The numeric addresses, which a request may name.
std::vector<std::string> addresses_of(const HttpServerOptions& options) {
  std::vector<std::string> addresses;
  for (const int socket : options.sockets) addresses.push_back(engine::address_of(socket));
  if (options.sockets.empty()) addresses.push_back(options.address);
  for (const ListenerOptions& each : options.listeners) addresses.push_back(each.address);
  return addresses;
}

// A trusted proxy has connections of many clients, and is exempt.
std::unique_ptr<net::ClientLimits> limits_of(const HttpServerOptions& options) {
  net::ClientLimitOptions clients = options.clients;
  if (!net::limits_anything(clients)) return nullptr;
  const auto& proxies = options.http.trusted_proxies;
  clients.exempt.insert(clients.exempt.end(), proxies.begin(), proxies.end());
  std::uint64_t secret = 0;
  fill_random({reinterpret_cast<char*>(&secret), sizeof secret});
  return std::make_unique<net::ClientLimits>(clients, secret);
}

}  // namespace

// The properties of a listener.
struct RunningServer::Kind {
  bool tls = false;
  ProxyProtocol proxy_protocol = ProxyProtocol::off;
  HttpVersions versions = HttpVersions::any;
  bool limited = true;  // by HttpServerOptions::clients
  // See ListenerGuard::known_as.
  std::optional<engine::Listener> known_as = {};
};

// One address with its queues: one for each reactor. If they come from the replaced program, it has
// as many queues as that program had.
struct RunningServer::Place {
  std::string name;  // as in InheritedListeners
  Kind kind = {};
  std::vector<int> inherited = {};  // borrowed until the server serves
  // By reactor; the first is the reactor's own, the others are inherited queues.
  std::vector<std::vector<engine::Listener>> listeners = {};

  std::size_t queues() const noexcept {
    return inherited.empty() ? listeners.size() : inherited.size();
  }
  // The queue of a reactor's listener, by its position in `listeners`.
  std::size_t queue_of(std::size_t reactor, std::size_t position) const noexcept {
    return (reactor + position * listeners.size()) % queues();
  }
};

// HTTP in all its versions, on listeners with the same options.
struct RunningServer::Protocols {
  Protocols(const session::HttpOptions& options, session::RequestHandler& handler)
      : any(options, handler),
        http1(options, handler, any),
        http2(options, handler, any.counters(), &any.websockets()) {
    if (options.http2.enabled) any.set_http2(&http2);
  }
  // Uses the counters of `beside`.
  Protocols(const session::HttpOptions& options, session::RequestHandler& handler,
            Protocols& beside)
      : any(options, handler, beside.any),
        http1(options, handler, beside.any),
        http2(options, handler, beside.any.counters(), &beside.any.websockets()) {
    if (options.http2.enabled) any.set_http2(&http2);
  }

  net::Protocol& of(HttpVersions versions) noexcept {
    switch (versions) {
      case HttpVersions::http1: return http1;
      case HttpVersions::http2: return http2;
      case HttpVersions::any: break;
    }
    return any;
  }

  session::Http1Protocol any;  // HTTP/2 takes over connections with its preface
  session::Http1Protocol http1;
  session::Http2Protocol http2;
};

// HTTP on listeners without TLS, where they differ from others.
struct RunningServer::Plain {
  Plain(const HttpServerOptions& options, Dispatcher& dispatcher, Protocols& beside)
      : redirect(dispatcher, addresses_of(options), options.hosts),
        protocols(without_tls(options.http), redirect, beside) {}

  RedirectToHttps redirect;
  Protocols protocols;
};

struct RunningServer::Worker {
  Worker(const HttpServerOptions& options, const Service& service)
      : dispatcher(service),
        protocols(options.http, dispatcher),
        http(protocols.any.counters()),
        reactor(reactor_of(
            options, std::max(protocols.any.session_bytes(), protocols.http2.session_bytes()))) {
    if (has_plain(options)) {
      plain = std::make_unique<Plain>(options, dispatcher, protocols);
    }
    reactor->tasks().set_failures(options.http.failures);
    if (options.observability != nullptr) {
      probe = options.observability->probe(*reactor, protocols.any.counters());
      probe->warn(options.stall_logger);
    }
  }

  Dispatcher dispatcher;
  Protocols protocols;
  const session::HttpCounters& http;
  std::unique_ptr<Plain> plain;                    // null: all listeners are alike
  std::unique_ptr<tls::TlsTransforms> transforms;  // null without TLS; outlives the reactor
  proxy::ProxyCounters proxied;
  // For listeners behind proxies, and for those with fewer protocols in ALPN than the others.
  std::vector<std::unique_ptr<net::TransformFactory>> own_transforms;
  std::unique_ptr<net::Reactor> reactor;
  std::unique_ptr<ReactorProbe> probe;  // null without observability
  engine::Listener listeners = 0;       // those that listen
  std::size_t index = 0;
};

// The first reactor's timer, which reports that all reactors live.
class RunningServer::Heartbeat final : private net::TimerEntry {
 public:
  Heartbeat(net::Reactor& reactor, Observability* observability, Duration interval,
            const std::function<void()>& beat)
      : net::TimerEntry(
            [](net::TimerEntry& entry) noexcept { static_cast<Heartbeat&>(entry).on_tick(); }),
        reactor_(reactor),
        observability_(observability),
        interval_(interval),
        beat_(beat) {
    reactor_.timers().arm(*this, reactor_.now());
  }

 private:
  void on_tick() noexcept {
    const bool all = std::ranges::all_of(asked_, [](const auto& each) { return each->answered(); });
    if (all) {
      beat_();
      if (observability_ != nullptr) asked_ = observability_->ask_reactors();
    }
    reactor_.timers().arm(*this, reactor_.now() + interval_);
  }

  net::Reactor& reactor_;
  Observability* const observability_;
  const Duration interval_;
  const std::function<void()>& beat_;
  std::vector<std::shared_ptr<ReactorStatus>> asked_;
};

namespace {

constexpr const char* reply_to_plain_http =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 60\r\n"
    "Connection: close\r\n\r\nThis port speaks TLS: the URL has to begin with https://...\n";

std::string url_of(bool tls, const std::string& address, std::uint16_t port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  const char* const scheme = tls ? "https" : "http";
  return is_v6 ? fmt::format("{}://[{}]:{}", scheme, address, port)
               : fmt::format("{}://{}:{}", scheme, address, port);
}

HttpServerOptions completed(HttpServerOptions options) {
  if (!options.tls) return options;
  options.tls->protocols = {"http/1.1"};
  if (options.http.http2.enabled) options.tls->protocols = {"h2", "http/1.1"};
  options.tls->reply_to_plain_http = reply_to_plain_http;
  // A receive may unseal more bytes than it got: a record may have begun before it.
  options.reactor.carry_extra_bytes += 16 * 1024;
  if (options.hsts > Duration{}) {
    options.http.strict_transport_security =
        fmt::format("max-age={}", options.hsts.ns / 1'000'000'000);
  }
  return options;
}

}  // namespace

RunningServer::RunningServer(const HttpServerOptions& options, const Service& service)
    : options_(completed(options)),
      checked_(check_options(options_)),
      proxies_(options_.http.trusted_proxies),
      clients_(checked_ ? limits_of(options_) : nullptr) {
  if (!checked_) return;  // start() reports it; the code below would abort
  if (options_.http.failures == nullptr) {
    failures_ = std::make_unique<FailureLog>(
        FailureLogOptions{.logger = options_.failure_logger, .on_error = options_.on_error});
    options_.http.failures = failures_.get();
  }
  const unsigned count = options.reactors != 0 ? options.reactors : usable_cpus();
  if (count > 1 && options.balance == Balance::connections) {
    balance_ = std::make_unique<net::ConnectionBalance>(count);
  }
  if (options_.pin && !options_.turned_by_caller) place(count);
  std::vector<net::Reactor*> reactors;
  for (unsigned index = 0; index < count; ++index) {
    const CpuBinding bound(cpu_of(index));
    workers_.push_back(std::make_unique<Worker>(options_, service));
    workers_.back()->index = index;
    if (balance_) workers_.back()->reactor->balance(balance_->share(index));
    reactors.push_back(workers_.back()->reactor.get());
  }
  group_ = std::make_unique<ReactorGroup>(
      std::move(reactors),
      ReactorGroupOptions{
          .cpus = cpus_,
          .drain_timeout = options_.drain_timeout,
          .drain_notice = options_.drain_notice,
          .on_told =
              [this] {
                if (restart_) restart_->cancel();
                if (options_.observability != nullptr) options_.observability->announce_drain();
              },
          .on_drain = options_.on_drain,
          .on_closing = [this] { remove_socket_files(); },
          .on_reload = reload_of_signal(),
          .on_restart = options_.restart.enabled ? std::function<void()>([this] { on_restart(); })
                                                 : std::function<void()>(),
          .on_stuck = [this](const std::vector<unsigned>& stuck) { tell_stuck(stuck); },
          .callbacks_only_print = !options_.on_stuck,
          .turned_by_caller = options_.turned_by_caller});
}

RunningServer::~RunningServer() { restart_.reset(); }

void RunningServer::place(unsigned count) {
  const NumaNodes nodes = read_numa_nodes();
  cpus_ = place_reactors(count, allowed_cpus(), nodes);
  placement_ = describe_placement(cpus_, nodes);
}

Result<void> RunningServer::start() {
  if (!checked_) return checked_;
  if (options_.tls) {
    auto loaded = tls::Credentials::load(*options_.tls);
    if (!loaded) return std::unexpected(loaded.error());
    credentials_ = *std::move(loaded);
  }
  take_inherited();
  if (auto opened = open_unix_sockets(); !opened) return opened;
  for (const auto& worker : workers_) {
    const CpuBinding bound(cpu_of(worker->index));
    if (auto started = worker->reactor->start(); !started) return started;
    if (credentials_) worker->transforms = std::make_unique<tls::TlsTransforms>(*credentials_);
    if (auto listening = listen(*worker); !listening) return listening;
    if (auto listening = listen_on_rest(*worker); !listening) return listening;
    if (worker->probe) worker->probe->start(worker->transforms.get(), nullptr, &worker->proxied);
    if (worker == workers_.front()) port_ = worker->reactor->port(0);
  }
  if (auto watching = watch_reactors(); !watching) return watching;
  if (options_.restart.enabled) {
    StartReplacement start = options_.start_replacement;
    if (!start) {
      auto command = command_of_this_process(options_.restart.program);
      if (!command) return std::unexpected(command.error());
      command->ready_timeout = options_.restart.ready_timeout;
      start = [command = *std::move(command)](std::span<const HandedSocket> sockets, int cancel) {
        return server::start_replacement(command, sockets, cancel);
      };
    }
    restart_ = std::make_unique<Restart>(
        std::move(start), [this](const std::vector<HandedSocket>& sockets,
                                 const Result<Replacement>& made) { hand_over(sockets, made); });
  }
  return group_->watch_signals();
}

// Assigns the queues of the replaced program to the addresses. If that program steered connections
// away from some of its reactors, they go to all reactors again.
void RunningServer::take_inherited() {
  const auto add = [this](std::string name, const std::string& address, std::uint16_t port) {
    auto place = std::make_unique<Place>(Place{.name = std::move(name)});
    place->listeners.resize(workers_.size());
    if (options_.inherited != nullptr) {
      place->inherited = options_.inherited->take(place->name, address, port);
    }
    if (!place->inherited.empty() && !is_unix(address)) {
      (void)engine::prefer_listeners(place->inherited.front(), {});
    }
    places_.push_back(std::move(place));
  };
  if (options_.inherited != nullptr) {
    for (const int each : options_.inherited->take_given()) options_.sockets.push_back(each);
  }
  const bool is_given = !options_.sockets.empty();
  add("katana.http", is_given ? "" : options_.address, options_.port);
  for (std::size_t index = 0; index < options_.listeners.size(); ++index) {
    const ListenerOptions& each = options_.listeners[index];
    add(fmt::format("katana.listener.{}", index), each.address, each.port);
  }
  if (options_.operations) {
    add("katana.operations", options_.operations->address, options_.operations->port);
  }
}

void RunningServer::on_restart() {
  auto begun = ::getpid() == 1
                   ? fail(Code::unsupported,
                          "a container ends with its process 1: replace the container instead")
                   : restart_->begin(sockets_to_hand());
  if (!begun && options_.on_restart) options_.on_restart(std::unexpected(begun.error()));
}

std::vector<HandedSocket> RunningServer::sockets_to_hand() const {
  std::vector<HandedSocket> sockets;
  const auto socket_of = [this](std::size_t reactor, engine::Listener listener) {
    return workers_[reactor]->reactor->socket(listener);
  };
  for (engine::Listener index = 0; index < options_.sockets.size(); ++index) {
    sockets.push_back({"katana.given", socket_of(0, index)});
  }
  for (std::size_t at = 0; at < places_.size(); ++at) {
    const Place& place = *places_[at];
    if (at == 0 && !options_.sockets.empty()) continue;
    const bool is_unix_socket = at > 0 && at <= unix_sockets_.size() && unix_sockets_[at - 1];
    const std::size_t queues = is_unix_socket ? 1 : place.queues();
    const std::size_t reactors = workers_.size();
    for (std::size_t queue = 0; queue < queues; ++queue) {
      const auto& of_reactor = place.listeners[queue % reactors];
      sockets.push_back({place.name, socket_of(queue % reactors, of_reactor[queue / reactors])});
    }
  }
  return sockets;
}

// Sockets that the other process has not taken close as usual.
void RunningServer::hand_over(const std::vector<HandedSocket>& sockets,
                              const Result<Replacement>& replacement) {
  if (options_.on_restart) options_.on_restart(replacement);
  if (!replacement) return;
  std::vector<net::Handover> handovers(workers_.size());
  for (net::Handover& each : handovers) {
    // The other half of the time is for their replies.
    const Duration half{options_.drain_timeout.ns / 2};
    each.idle = std::min(options_.restart.idle, half);
    each.spread = std::min(options_.restart.spread, half);
  }
  for (std::size_t at = 0; at < places_.size(); ++at) {
    const Place& place = *places_[at];
    std::vector<bool> taken;
    for (std::size_t index = 0; index < sockets.size(); ++index) {
      if (sockets[index].name == place.name) taken.push_back(replacement->taken[index]);
    }
    if (taken.empty()) continue;
    for (std::size_t reactor = 0; reactor < workers_.size(); ++reactor) {
      for (std::size_t position = 0; position < place.listeners[reactor].size(); ++position) {
        if (!taken[place.queue_of(reactor, position) % taken.size()]) continue;
        handovers[reactor].listeners.push_back(place.listeners[reactor][position]);
      }
    }
    if (at > 0 && at <= unix_sockets_.size() && unix_sockets_[at - 1] && taken.front()) {
      const std::lock_guard lock(unix_mutex_);
      unix_sockets_[at - 1]->leave_file();
    }
  }
  group_->hand_over(std::move(handovers));
}

// The replaced program may end now.
void RunningServer::begin_serving() noexcept {
  if (options_.inherited == nullptr) return;
  for (const auto& each : unix_sockets_) {
    if (each) each->take_file();
  }
  options_.inherited->tell_ready();
  options_.inherited->close();
}

// One queue for all reactors: a Unix socket has no SO_REUSEPORT.
Result<void> RunningServer::open_unix_sockets() {
  ports_.resize(options_.listeners.size());
  for (const ListenerOptions& each : options_.listeners) {
    unix_sockets_.push_back(nullptr);
    if (!is_unix(each.address)) continue;
    const auto mode = parse_file_mode(each.mode);
    const auto owner = parse_file_owner(each.owner);
    KATANA_CHECK(mode && owner);  // check_options()
    const std::vector<int>& inherited = places_[unix_sockets_.size()]->inherited;
    auto opened =
        inherited.empty()
            ? UnixSocket::open(unix_path(each.address), *mode, *owner, options_.backlog)
            : UnixSocket::adopt(unix_path(each.address), inherited.front(), *mode, *owner);
    if (!opened) return std::unexpected(opened.error());
    unix_sockets_.back() = std::make_unique<UnixSocket>(*std::move(opened));
  }
  return {};
}

void RunningServer::remove_socket_files() noexcept {
  const std::lock_guard lock(unix_mutex_);
  for (const auto& each : unix_sockets_) {
    if (each) each->remove_file();
  }
}

Result<void> RunningServer::listen(Worker& worker) {
  if (auto listening = listen_first(worker); !listening) return listening;
  if (auto listening = listen_others(worker); !listening) return listening;
  if (worker.plain != nullptr) redirect_to_https(worker);
  return options_.operations ? listen_for_operations(worker) : Result<void>();
}

// Returns the layer between the listener's connections and HTTP; null: none.
Result<net::TransformFactory*> RunningServer::transforms_of(Worker& worker, const Kind& kind) {
  net::TransformFactory* transforms = kind.tls ? worker.transforms.get() : nullptr;
  if (kind.tls && kind.versions != HttpVersions::any) {
    auto made =
        worker.transforms->speaking({kind.versions == HttpVersions::http1 ? "http/1.1" : "h2"});
    if (!made) return std::unexpected(made.error());
    transforms = worker.own_transforms.emplace_back(*std::move(made)).get();
  }
  if (kind.proxy_protocol == ProxyProtocol::off) return transforms;
  auto proxied = std::make_unique<proxy::ProxyTransforms>(options_.http.limits.head_timeout,
                                                          transforms, worker.proxied);
  return worker.own_transforms.emplace_back(std::move(proxied)).get();
}

Result<void> RunningServer::listen_on(Worker& worker, const engine::ListenOptions& listen,
                                      const Kind& kind) {
  const bool is_proxied = kind.proxy_protocol == ProxyProtocol::required;
  const auto transforms = transforms_of(worker, kind);
  if (!transforms) return std::unexpected(transforms.error());
  const bool is_plain = worker.plain != nullptr && !kind.tls;
  Protocols& protocols = is_plain ? worker.plain->protocols : worker.protocols;
  net::Protocol& protocol = protocols.of(kind.versions);
  auto listening = *transforms != nullptr
                       ? worker.reactor->listen_transformed(listen, protocol, **transforms)
                       : worker.reactor->listen(listen, protocol);
  if (!listening) return listening;
  worker.reactor->guard(worker.listeners++, {.peers = is_proxied ? &proxies_ : nullptr,
                                             .limits = kind.limited ? clients_.get() : nullptr,
                                             .is_proxied = is_proxied,
                                             .known_as = kind.known_as});
  return {};
}

// If there are fewer inherited queues than reactors, some reactors share one. A new queue would be
// lost, with its waiting connections, if this program does not become ready.
Result<void> RunningServer::listen_at(Worker& worker, std::size_t place,
                                      engine::ListenOptions listen, const Kind& kind) {
  Place& at = *places_[place];
  at.kind = kind;
  at.listeners[worker.index].push_back(worker.listeners);
  if (!at.inherited.empty() && listen.socket < 0) {
    listen.socket = at.inherited[at.queue_of(worker.index, 0)];
    listen.drain_socket = true;
  }
  return listen_on(worker, listen, kind);
}

Result<void> RunningServer::listen_on_rest(Worker& worker) {
  for (const auto& place : places_) {
    if (place->inherited.empty() || place->listeners[worker.index].empty()) continue;
    Kind kind = place->kind;
    kind.known_as = place->listeners[worker.index].front();
    for (std::size_t queue = worker.index + workers_.size(); queue < place->inherited.size();
         queue += workers_.size()) {
      if (worker.listeners >= 255) {
        return fail(Code::resource_exhausted,
                    fmt::format("the program before has {} queues of {}, which are too many for {} "
                                "reactors: give more reactors, or restart without it",
                                place->inherited.size(), place->name, workers_.size()));
      }
      place->listeners[worker.index].push_back(worker.listeners);
      const engine::ListenOptions listen{.socket = place->inherited[queue], .drain_socket = true};
      if (auto listening = listen_on(worker, listen, kind); !listening) return listening;
    }
  }
  return {};
}

Result<void> RunningServer::listen_first(Worker& worker) {
  const bool first = &worker == workers_.front().get();
  const Kind kind{.tls = options_.tls.has_value(),
                  .proxy_protocol = options_.proxy_protocol,
                  .versions = options_.versions};
  engine::ListenOptions listen{.address = options_.address,
                               .port = first ? options_.port : port_,
                               .backlog = options_.backlog,
                               .must_be_free = first};
  if (options_.sockets.empty()) return listen_at(worker, 0, listen, kind);
  for (const int socket : options_.sockets) {
    listen.socket = socket;
    if (auto listening = listen_on(worker, listen, kind); !listening) return listening;
  }
  if (first) options_.address = engine::address_of(options_.sockets.front());
  return {};
}

Result<void> RunningServer::listen_others(Worker& worker) {
  const bool first = &worker == workers_.front().get();
  for (std::size_t index = 0; index < options_.listeners.size(); ++index) {
    const ListenerOptions& each = options_.listeners[index];
    engine::ListenOptions listen{.address = each.address,
                                 .port = first ? each.port : ports_[index],
                                 .backlog = options_.backlog,
                                 .must_be_free = first};
    if (const auto& opened = unix_sockets_[index]) {
      listen.socket = opened->socket();
      listen.drain_socket = true;
    }
    const Kind kind{
        .tls = each.tls, .proxy_protocol = each.proxy_protocol, .versions = each.versions};
    if (auto listening = listen_at(worker, index + 1, listen, kind); !listening) {
      return std::unexpected(listening.error().within(fmt::format("http.listeners[{}]", index)));
    }
    if (first && !is_unix(each.address)) ports_[index] = worker.reactor->port(listener_of(index));
  }
  return {};
}

Result<void> RunningServer::listen_for_operations(Worker& worker) {
  const bool first = &worker == workers_.front().get();
  const engine::ListenOptions pages{.address = options_.operations->address,
                                    .port = first ? options_.operations->port : operations_port_,
                                    .backlog = options_.backlog,
                                    .must_be_free = first};
  const Kind kind{.tls = options_.tls.has_value(), .limited = false};
  if (auto listening = listen_at(worker, places_.size() - 1, pages, kind); !listening) {
    return listening;
  }
  if (first) operations_port_ = worker.reactor->port(listener_of(options_.listeners.size()));
  return {};
}

// The first listener has TLS, or a proxy has it (check_options()). A given socket may have no port.
std::uint16_t RunningServer::https_port() const {
  if (!options_.tls) return 443;
  const net::Reactor& reactor = *workers_.front()->reactor;
  if (!engine::address_of(reactor.socket(0)).empty()) return reactor.port(0);
  for (std::size_t index = 0; index < ports_.size(); ++index) {
    if (options_.listeners[index].tls && ports_[index] != 0) return ports_[index];
  }
  return 443;
}

void RunningServer::redirect_to_https(Worker& worker) {
  for (std::size_t index = 0; index < options_.listeners.size(); ++index) {
    const ListenerOptions& each = options_.listeners[index];
    if (!each.redirect_to_https) continue;
    worker.plain->redirect.add(listener_of(index),
                               each.redirect_port != 0 ? each.redirect_port : https_port());
  }
}

Result<void> RunningServer::watch_reactors() {
  net::Reactor& first = *workers_.front()->reactor;
  if (options_.heartbeat_interval > Duration{}) {
    heartbeat_ = std::make_unique<Heartbeat>(first, options_.observability,
                                             options_.heartbeat_interval, options_.on_heartbeat);
  }
  if (credentials_ != nullptr && options_.certificates_watch > Duration{}) {
    certificate_watch_ = std::make_unique<CertificateWatch>(
        first, *options_.tls, options_.certificates_watch, [this] { read_certificates_again(); });
  }
  if (options_.stall_threshold <= Duration{}) return {};
  metrics::Registry* const metrics =
      options_.observability != nullptr ? &options_.observability->registry() : nullptr;
  auto watch = StallWatch::make(options_.stall_threshold, options_.stall_logger, metrics);
  if (!watch) return std::unexpected(watch.error());
  stall_watch_ = std::move(*watch);
  for (const auto& worker : workers_) stall_watch_->add(*worker->reactor);
  if (workers_.size() > 1) {
    stall_watch_->on_change(
        [this](std::span<const unsigned> moving) { steer_connections(moving); });
  }
  return stall_watch_->start();
}

// Not for given sockets: all reactors listen on each.
void RunningServer::steer_connections(std::span<const unsigned> reactors) const {
  if (group_->draining()) return;
  if (reactors.size() == workers_.size()) reactors = {};
  const auto steer = [&](std::size_t at) {
    const Place& place = *places_[at];
    const int socket = workers_.front()->reactor->socket(place.listeners.front().front());
    std::vector<unsigned> queues;
    for (unsigned queue = 0; queue < place.queues(); ++queue) {
      const bool is_served = std::ranges::any_of(reactors, [&](unsigned reactor) {
        return place.queue_of(reactor, 0) == queue || queue % workers_.size() == reactor;
      });
      if (is_served) queues.push_back(queue);
    }
    if (auto steered = engine::prefer_listeners(socket, queues); !steered) {
      const log::Logger logger = options_.stall_logger;
      logger.warn("new connections may wait for a stalled reactor: {}", steered.error().describe());
    }
  };
  if (options_.sockets.empty()) steer(0);
  for (std::size_t index = 0; index < options_.listeners.size(); ++index) {
    if (!is_unix(options_.listeners[index].address)) steer(index + 1);
  }
  if (options_.operations) steer(places_.size() - 1);
}

ServerReport RunningServer::run() {
  if (!checked_)
    throw_misuse("HttpServer::run() was called, and start() had failed",
                 checked_.error().describe());
  begin_serving();
  group_->run();
  restart_.reset();
  if (stall_watch_) stall_watch_->stop();
  return report();
}

// Reads the counts of a stuck reactor while it runs. In a handler that does not return, the reactor
// counts no more. Its site is read first, which orders this after its last count. Elsewhere a count
// may be one behind.
ServerReport RunningServer::report() const {
  const auto read = [](const auto& count) { return __atomic_load_n(&count, __ATOMIC_RELAXED); };
  ServerReport report;
  for (unsigned index = 0; index < workers_.size(); ++index) {
    const Worker& worker = *workers_[index];
    const net::Counters& counters = worker.reactor->counters();
    const session::HttpCounters& http = worker.http;
    report.connections += read(counters.accepted);
    report.cut_off += read(counters.cut_off);
    if (!group_->ended(index))
      report.cut_off += worker.reactor->links_open() - worker.reactor->links_lasting();
    report.requests += read(http.requests);
    report.failures += read(http.handler_failures);
    report.tasks_cancelled += read(worker.reactor->tasks().counts().cancelled);
  }
  return report;
}

net::Reactor& RunningServer::first_reactor() const noexcept { return *workers_.front()->reactor; }

void RunningServer::tell_stuck(const std::vector<unsigned>& stuck) const {
  std::string sites;
  const Instant now = monotonic_now();
  for (const unsigned index : stuck) {
    const net::Reactor& reactor = *workers_[index]->reactor;
    const std::string* const site = reactor.site();
    const Instant since = reactor.busy_since();
    if (!sites.empty()) sites += "; ";
    sites += fmt::format("reactor {} did not end: busy for {} ms with {}", index,
                         since == never ? 0 : (now - since).count_ms(),
                         site != nullptr ? *site : "something outside of a handler");
  }
  ServerReport told = report();
  told.stuck = std::move(sites);
  if (options_.on_stuck) return options_.on_stuck(told);
  print_error_line(fmt::format("{}: {}", program_invocation_short_name, told.describe()),
                   last_words_max);
}

Result<std::vector<std::string>> RunningServer::reload_certificates() {
  if (credentials_ == nullptr) {
    return fail(Code::unsupported, "cannot reload certificates: this server does not use TLS");
  }
  return credentials_->reload();
}

std::function<void()> RunningServer::reload_of_signal() {
  if (!options_.tls && !options_.on_reload) return {};
  return [this] { on_hangup(); };
}

void RunningServer::read_certificates_again() {
  const auto reloaded = reload_certificates();
  if (options_.on_certificates) options_.on_certificates(reloaded);
}

void RunningServer::on_hangup() {
  if (credentials_ != nullptr) read_certificates_again();
  if (options_.on_reload) options_.on_reload();
}

std::vector<std::string> RunningServer::certificate_notes() const {
  return credentials_ != nullptr ? credentials_->present()->notes() : std::vector<std::string>();
}

net::MemoryBudget RunningServer::memory_budget() const {
  return workers_.empty() ? net::MemoryBudget{} : workers_.front()->reactor->memory_budget();
}

std::string RunningServer::url() const {
  return url_of(options_.tls.has_value(), options_.address, port_);
}

std::vector<std::string> RunningServer::other_urls() const {
  std::vector<std::string> urls;
  for (std::size_t index = 0; index < ports_.size(); ++index) {
    const ListenerOptions& each = options_.listeners[index];
    urls.push_back(is_unix(each.address) ? each.address
                                         : url_of(each.tls, each.address, ports_[index]));
  }
  return urls;
}

std::string RunningServer::operations_url() const {
  if (!options_.operations) return {};
  return url_of(options_.tls.has_value(), options_.operations->address, operations_port_);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
