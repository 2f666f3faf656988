#include "katana/host/http_server.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "katana/engine/sockets.hpp"
#include "katana/host/observability.hpp"
#include "katana/service/dispatcher.hpp"

namespace katana::host {

struct HttpServer::Worker {
  Worker(const HttpServerOptions& options, const Service& service)
      : dispatcher(service),
        protocol(options.http, dispatcher),
        reactor(make_reactor(options.engine, options.reactor, protocol.session_bytes())) {
    if (options.observability != nullptr) {
      probe = options.observability->probe(*reactor, protocol.counters());
    }
  }

  Dispatcher dispatcher;
  session::Http1Protocol protocol;
  std::unique_ptr<core::Reactor> reactor;
  std::unique_ptr<ReactorProbe> probe;  // null without observability
};

// The first reactor's timer, which says that all of them live.
class HttpServer::Heartbeat final : private core::TimerEntry {
 public:
  Heartbeat(core::Reactor& reactor, Observability* observability, Duration interval,
            const std::function<void()>& beat)
      : core::TimerEntry(
            [](core::TimerEntry& entry) noexcept { static_cast<Heartbeat&>(entry).on_tick(); }),
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

  core::Reactor& reactor_;
  Observability* const observability_;
  const Duration interval_;
  const std::function<void()>& beat_;
  std::vector<std::shared_ptr<ReactorStatus>> asked_;
};

HttpServer::HttpServer(const HttpServerOptions& options, const Service& service)
    : options_(options) {
  const unsigned count = options.reactors != 0 ? options.reactors : usable_cpus();
  std::vector<core::Reactor*> reactors;
  for (unsigned index = 0; index < count; ++index) {
    workers_.push_back(std::make_unique<Worker>(options_, service));
    reactors.push_back(workers_.back()->reactor.get());
  }
  group_ = std::make_unique<ReactorGroup>(
      std::move(reactors), ReactorGroupOptions{.pin = options_.pin,
                                               .drain_timeout = options_.drain_timeout,
                                               .drain_notice = options_.drain_notice,
                                               .on_drain = [this] { begin_drain(); },
                                               .on_reload = options_.on_reload});
}

void HttpServer::begin_drain() {
  if (options_.observability != nullptr) options_.observability->announce_drain();
  if (options_.on_drain) options_.on_drain();
}

HttpServer::~HttpServer() = default;

Result<void> HttpServer::start() {
  for (const auto& worker : workers_) {
    if (auto started = worker->reactor->start(); !started) return started;
    const bool first = worker == workers_.front();
    if (auto listening = listen(*worker->reactor, worker->protocol, first); !listening) {
      return listening;
    }
    if (worker->probe) worker->probe->start();
    if (first) port_ = worker->reactor->port(0);
  }
  if (auto watching = watch_reactors(); !watching) return watching;
  return group_->watch_signals();
}

Result<void> HttpServer::listen(core::Reactor& reactor, core::Protocol& protocol, bool first) {
  engine::ListenOptions listen{
      .address = options_.address, .port = first ? options_.port : port_, .must_be_free = first};
  if (options_.sockets.empty()) return reactor.listen(listen, protocol);
  for (const int socket : options_.sockets) {
    listen.socket = socket;
    if (auto listening = reactor.listen(listen, protocol); !listening) return listening;
  }
  if (first) options_.address = engine::address_of(options_.sockets.front());
  return {};
}

Result<void> HttpServer::watch_reactors() {
  core::Reactor& first = *workers_.front()->reactor;
  if (options_.heartbeat_interval > Duration{}) {
    heartbeat_ = std::make_unique<Heartbeat>(first, options_.observability,
                                             options_.heartbeat_interval, options_.on_heartbeat);
  }
  if (options_.stall_threshold <= Duration{}) return {};
  metrics::Registry* const metrics =
      options_.observability != nullptr ? &options_.observability->registry() : nullptr;
  auto watch = StallWatch::make(options_.stall_threshold, options_.stall_logger, metrics);
  if (!watch) return std::unexpected(watch.error());
  stall_watch_ = std::move(*watch);
  for (const auto& worker : workers_) stall_watch_->add(*worker->reactor);
  return stall_watch_->start();
}

ServerReport HttpServer::run() {
  group_->run();
  if (stall_watch_) stall_watch_->stop();
  ServerReport report;
  for (const auto& worker : workers_) {
    report.connections += worker->reactor->counters().accepted;
    report.cut_off += worker->reactor->counters().cut_off;
    report.requests += worker->protocol.counters().requests;
    report.failures += worker->protocol.counters().handler_failures;
  }
  return report;
}

core::MemoryBudget HttpServer::memory_budget() const {
  return workers_.front()->reactor->memory_budget();
}

std::string HttpServer::url() const {
  const bool is_v6 = options_.address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("http://[{}]:{}", options_.address, port_)
               : fmt::format("http://{}:{}", options_.address, port_);
}

unsigned usable_cpus() noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
}

void raise_descriptor_limit() noexcept {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  // Ignored: with the old limit the server accepts fewer connections, and says so when it is
  // reached.
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace katana::host
