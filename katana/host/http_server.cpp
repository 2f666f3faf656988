#include "katana/host/http_server.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "katana/host/observability.hpp"
#include "katana/service/dispatcher.hpp"
#include "katana/session/http2_protocol.hpp"

namespace katana::host {

struct HttpServer::Worker {
  Worker(const HttpServerOptions& options, const Service& service)
      : dispatcher(service),
        protocol(options.http, dispatcher),
        http2(options.http, dispatcher, protocol.counters()),
        reactor(make_reactor(options.engine, options.reactor,
                             std::max(protocol.session_bytes(), http2.session_bytes()))) {
    if (options.http.http2.enabled) protocol.set_http2(&http2);
    if (options.observability != nullptr) {
      probe = options.observability->probe(*reactor, protocol.counters());
    }
  }

  Dispatcher dispatcher;
  session::Http1Protocol protocol;
  session::Http2Protocol http2;
  std::unique_ptr<core::Reactor> reactor;
  std::unique_ptr<ReactorProbe> probe;  // null without observability
};

HttpServer::HttpServer(const HttpServerOptions& options, const Service& service)
    : options_(options) {
  const unsigned count = options.reactors != 0 ? options.reactors : usable_cpus();
  std::vector<core::Reactor*> reactors;
  for (unsigned index = 0; index < count; ++index) {
    workers_.push_back(std::make_unique<Worker>(options_, service));
    reactors.push_back(workers_.back()->reactor.get());
  }
  group_ =
      std::make_unique<ReactorGroup>(std::move(reactors), options_.pin, options_.drain_timeout);
}

HttpServer::~HttpServer() = default;

Result<void> HttpServer::start() {
  engine::ListenOptions listen{.address = options_.address, .port = options_.port};
  for (const auto& worker : workers_) {
    if (auto started = worker->reactor->start(); !started) return started;
    core::Protocol& protocol =
        options_.http2_only ? static_cast<core::Protocol&>(worker->http2) : worker->protocol;
    if (auto listening = worker->reactor->listen(listen, protocol); !listening) return listening;
    if (worker->probe) worker->probe->start();
    port_ = worker->reactor->port(0);
    listen.port = port_;
    listen.must_be_free = false;
  }
  return group_->watch_signals();
}

ServerReport HttpServer::run() {
  group_->run();
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
