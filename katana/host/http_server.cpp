#include "katana/host/http_server.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

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
  std::atomic<bool> ended = false;
  std::thread thread;
};

// SIGINT and SIGTERM as a descriptor that the first reactor watches.
class HttpServer::Signals final : public engine::Watcher {
 public:
  explicit Signals(HttpServer& server) : server_(server) {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    fd_ = signalfd(-1, &set_, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  ~Signals() { ::close(fd_); }

  int fd() const noexcept { return fd_; }
  const sigset_t& set() const noexcept { return set_; }
  void on_ready() noexcept override {
    signalfd_siginfo info;
    while (::read(fd_, &info, sizeof info) == sizeof info) server_.on_signal();
  }

 private:
  HttpServer& server_;
  sigset_t set_;
  int fd_;
};

HttpServer::HttpServer(const HttpServerOptions& options, const Service& service)
    : options_(options), signals_(std::make_unique<Signals>(*this)) {
  const unsigned count = options.reactors != 0 ? options.reactors : usable_cpus();
  for (unsigned index = 0; index < count; ++index) {
    workers_.push_back(std::make_unique<Worker>(options_, service));
  }
}

HttpServer::~HttpServer() = default;

Result<void> HttpServer::start() {
  engine::ListenOptions listen{.address = options_.address, .port = options_.port};
  for (const auto& worker : workers_) {
    if (auto started = worker->reactor->start(); !started) return started;
    if (auto listening = worker->reactor->listen(listen, worker->protocol); !listening) {
      return listening;
    }
    if (worker->probe) worker->probe->start();
    port_ = worker->reactor->port(0);
    listen.port = port_;
    listen.must_be_free = false;
  }
  return workers_.front()->reactor->watch(signals_->fd(), *signals_);
}

void HttpServer::start_threads() {
  for (unsigned index = 1; index < workers_.size(); ++index) {
    Worker& worker = *workers_[index];
    worker.thread = std::thread([this, &worker, index] {
      if (options_.pin) pin_to_cpu(index);
      worker.reactor->run();
      worker.ended.store(true, std::memory_order_release);  // its counters may be read now
    });
  }
}

ServerReport HttpServer::run() {
  try {
    start_threads();
  } catch (...) {  // the system has no thread left: those that it had end before the caller hears
    for (const auto& worker : workers_) {
      worker->reactor->request_stop();
      if (worker->thread.joinable()) worker->thread.join();
    }
    throw;
  }
  if (options_.pin) pin_to_cpu(0);
  workers_.front()->reactor->run();
  wait_for_workers();
  ServerReport report;
  for (const auto& worker : workers_) {
    report.connections += worker->reactor->counters().accepted;
    report.cut_off += worker->reactor->counters().cut_off;
    report.requests += worker->protocol.counters().requests;
    report.failures += worker->protocol.counters().handler_failures;
  }
  return report;
}

// The first reactor has drained, the others may still be at it, and a second signal still counts.
void HttpServer::wait_for_workers() {
  for (unsigned index = 1; index < workers_.size(); ++index) {
    Worker& worker = *workers_[index];
    while (!worker.ended.load(std::memory_order_acquire)) {
      const timespec wait{0, 20'000'000};
      if (sigtimedwait(&signals_->set(), nullptr, &wait) > 0) on_signal();
    }
    worker.thread.join();
  }
}

void HttpServer::on_signal() noexcept {
  for (const auto& worker : workers_) {
    if (draining_) {
      worker->reactor->request_stop();
    } else {
      worker->reactor->request_drain(options_.drain_timeout);
    }
  }
  draining_ = true;
}

void HttpServer::pin_to_cpu(unsigned index) const {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  unsigned position = index % static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || position-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    // Ignored: pinning is an optimisation, and the reactor is right without it.
    (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
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
