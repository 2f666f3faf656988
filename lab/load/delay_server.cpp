// delay_server: a server of known latency, to check a generator of load.
//
//   delay_server PORT [--delay-us N] [--slow-every N --slow-us N] [--lose-every N]
//                     [--stall-at N --stall-ms N]
//
// Answers each request after a delay; every slow_every-th after another one. Every lose_every-th is
// never answered: its connection is ended. At request stall_at the whole server stands still once.
// On SIGTERM it prints, as JSON, how many requests it served and lost. It also prints the delays
// that it really took, from having read a request to writing its reply. Any latency that a
// generator measures beyond these delays comes from the network and the generator.
//
// One thread; requests have no content and are not pipelined.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <queue>
#include <string>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "lab/load/descriptor.hpp"
#include "lab/load/histogram.hpp"
#include "lab/load/json_report.hpp"

namespace {

using katana::load::Descriptor;
using katana::load::Histogram;

constexpr std::string_view reply =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";
constexpr int connections_max = 16 * 1024;

struct Options {
  std::uint16_t port = 0;
  std::uint64_t delay_us = 0;
  std::uint64_t slow_every = 0;
  std::uint64_t slow_us = 0;
  std::uint64_t lose_every = 0;
  std::uint64_t stall_at = 0;
  std::uint64_t stall_ms = 0;
};

[[noreturn]] void give_up(std::string_view what) {
  fmt::print(stderr, "delay_server: {}\n", what);
  std::exit(2);
}

void describe(CLI::App& app, Options& options) {
  app.add_option("port", options.port, "port on 127.0.0.1")
      ->required()
      ->check(CLI::Range(1u, 65535u));
  app.add_option("--delay-us", options.delay_us, "pause before each reply, in microseconds");
  app.add_option("--slow-every", options.slow_every, "each Nth request takes --slow-us instead");
  app.add_option("--slow-us", options.slow_us, "pause before such a reply, in microseconds");
  app.add_option("--lose-every", options.lose_every, "end each Nth connection in place of a reply");
  app.add_option("--stall-at", options.stall_at, "number of the request that stalls the server");
  app.add_option("--stall-ms", options.stall_ms, "duration of the stall, in milliseconds");
}

struct Pending {
  std::int64_t due_ns;
  std::int64_t asked_ns;
  int fd;
  std::uint32_t generation;
  bool operator<(const Pending& other) const { return due_ns > other.due_ns; }
};

struct Peer {
  std::uint32_t generation = 0;
  std::string head;
};

class Server {
 public:
  explicit Server(const Options& options) : options_(options), peers_(connections_max) {
    listen();
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    signal_ = Descriptor(::signalfd(-1, &signals, SFD_NONBLOCK));
    prctl(PR_SET_TIMERSLACK, 1);
    epoll_ = Descriptor(::epoll_create1(0));
    watch(listener_.get());
    watch(signal_.get());
  }

  void run() {
    epoll_event events[256];
    while (true) {
      const std::int64_t left_ns =
          pending_.empty()
              ? 1'000'000'000
              : std::max<std::int64_t>(0, pending_.top().due_ns - katana::monotonic_now().ns);
      const timespec timeout{.tv_sec = left_ns / 1'000'000'000, .tv_nsec = left_ns % 1'000'000'000};
      const int count = ::epoll_pwait2(epoll_.get(), events, 256, &timeout, nullptr);
      for (int index = 0; index < count; ++index) {
        const int fd = events[index].data.fd;
        if (fd == signal_.get()) return;
        if (fd == listener_.get()) {
          accept_all();
        } else {
          read(fd);
        }
        answer_due();
      }
      answer_due();
    }
  }

  void report() const {
    const katana::load::Json result{
        {"served", served_}, {"lost", lost_}, {"delay_us", katana::load::times_of(delays_)}};
    fmt::print("{}", katana::load::text_of(result));
  }

 private:
  void listen() {
    listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ::setsockopt(listener_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(options_.port);
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_.get(), 4096) != 0) {
      give_up(fmt::format("port {}: {}", options_.port, std::strerror(errno)));
    }
  }

  void watch(int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  void accept_all() {
    while (true) {
      const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK);
      if (fd < 0) return;
      if (fd >= connections_max) {
        ::close(fd);
        continue;
      }
      watch(fd);
    }
  }

  void end(int fd) {
    Peer& peer = peers_[static_cast<std::size_t>(fd)];
    ++peer.generation;
    peer.head.clear();
    ::close(fd);
  }

  void read(int fd) {
    char piece[4096];
    const ssize_t got = ::recv(fd, piece, sizeof piece, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return end(fd);
    Peer& peer = peers_[static_cast<std::size_t>(fd)];
    peer.head.append(piece, static_cast<std::size_t>(got));
    if (!peer.head.ends_with("\r\n\r\n")) return;
    peer.head.clear();
    on_request(fd, peer);
  }

  void on_request(int fd, const Peer& peer) {
    const std::int64_t now = katana::monotonic_now().ns;
    const std::uint64_t number = ++asked_;
    if (number == options_.stall_at) {
      const timespec stall{.tv_sec = static_cast<time_t>(options_.stall_ms / 1000),
                           .tv_nsec = static_cast<long>(options_.stall_ms % 1000) * 1'000'000};
      nanosleep(&stall, nullptr);
    }
    if (options_.lose_every != 0 && number % options_.lose_every == 0) {
      ++lost_;
      return end(fd);
    }
    const bool slow = options_.slow_every != 0 && number % options_.slow_every == 0;
    const auto delay_us = static_cast<std::int64_t>(slow ? options_.slow_us : options_.delay_us);
    pending_.push({now + delay_us * 1000, now, fd, peer.generation});
  }

  void answer_due() {
    while (!pending_.empty() && pending_.top().due_ns <= katana::monotonic_now().ns) {
      const Pending next = pending_.top();
      pending_.pop();
      if (peers_[static_cast<std::size_t>(next.fd)].generation != next.generation) continue;
      const std::int64_t delay_ns = katana::monotonic_now().ns - next.asked_ns;
      if (::send(next.fd, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) continue;
      ++served_;
      delays_.record(delay_ns);
    }
  }

  Options options_;
  Descriptor listener_;
  Descriptor signal_;
  Descriptor epoll_;
  std::vector<Peer> peers_;
  std::priority_queue<Pending> pending_;
  Histogram delays_;
  std::uint64_t asked_ = 0;
  std::uint64_t served_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Serve with a known latency, to check a load generator.", "delay_server");
  Options options;
  describe(app, options);
  if (const auto status = command_line::parse(app, count, arguments)) return *status;
  Server server(options);
  server.run();
  server.report();
}

// SPDX-License-Identifier: Apache-2.0
