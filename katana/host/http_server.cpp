#include "katana/host/http_server.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "katana/host/observability.hpp"
#include "katana/service/dispatcher.hpp"
#include "katana/tls/transform.hpp"

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
  std::unique_ptr<tls::TlsTransforms> transforms;  // null without TLS; outlives the reactor
  std::unique_ptr<core::Reactor> reactor;
  std::unique_ptr<ReactorProbe> probe;  // null without observability
};

namespace {

constexpr const char* reply_to_plain_http =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 60\r\n"
    "Connection: close\r\n\r\nThis port speaks TLS: the URL has to begin with https://...\n";

HttpServerOptions completed(HttpServerOptions options) {
  if (!options.tls) return options;
  options.tls->protocols = {"http/1.1"};
  options.tls->reply_to_plain_http = reply_to_plain_http;
  // What a receive unseals may be more than was received: a record that was begun before it.
  options.reactor.carry_extra_bytes += 16 * 1024;
  if (options.hsts > Duration{}) {
    options.http.strict_transport_security =
        fmt::format("max-age={}", options.hsts.ns / 1'000'000'000);
  }
  return options;
}

}  // namespace

HttpServer::HttpServer(const HttpServerOptions& options, const Service& service)
    : options_(completed(options)) {
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
  if (options_.tls) {
    auto loaded = tls::Credentials::load(*options_.tls);
    if (!loaded) return std::unexpected(loaded.error());
    credentials_ = *std::move(loaded);
  }
  engine::ListenOptions listen{.address = options_.address, .port = options_.port};
  for (const auto& worker : workers_) {
    if (auto started = worker->reactor->start(); !started) return started;
    if (credentials_) worker->transforms = std::make_unique<tls::TlsTransforms>(*credentials_);
    auto listening =
        worker->transforms == nullptr
            ? worker->reactor->listen(listen, worker->protocol)
            : worker->reactor->listen_transformed(listen, worker->protocol, *worker->transforms);
    if (!listening) return listening;
    if (worker->probe) worker->probe->start(worker->transforms.get());
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

Result<std::vector<std::string>> HttpServer::reload_certificates() {
  if (credentials_ == nullptr) {
    return fail(Code::unsupported, "reload of certificates: this server does not speak TLS");
  }
  return credentials_->reload();
}

std::vector<std::string> HttpServer::certificate_notes() const {
  return credentials_ != nullptr ? credentials_->present()->notes() : std::vector<std::string>();
}

core::MemoryBudget HttpServer::memory_budget() const {
  return workers_.front()->reactor->memory_budget();
}

std::string HttpServer::url() const {
  const bool is_v6 = options_.address.find(':') != std::string::npos;
  const char* const scheme = options_.tls ? "https" : "http";
  return is_v6 ? fmt::format("{}://[{}]:{}", scheme, options_.address, port_)
               : fmt::format("{}://{}:{}", scheme, options_.address, port_);
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
