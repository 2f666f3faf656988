#include "katana/testing/test_loop.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "katana/net/engine/sim/sim_network.hpp"
#include "katana/net/engine/sim/sim_sockets.hpp"
#include "katana/net/reactor/destinations.hpp"

namespace katana::testing {
namespace {

// Work that ends sooner is not asked about.
constexpr auto question_interval = std::chrono::milliseconds(20);
// The end of a drain is no timer, so that time passes in steps until then.
constexpr Duration drain_step = milliseconds(10);

}  // namespace

std::string origin_text(std::string_view scheme, std::string_view host, std::uint16_t port) {
  const bool is_v6 = host.find(':') != std::string_view::npos;
  return fmt::format("{}://{}{}{}:{}", scheme, is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

// For one reactor; the loop outlives it.
class TestLoop::Upstreams final : public net::Destinations {
 public:
  explicit Upstreams(TestLoop& loop) noexcept : loop_(loop) {}
  Result<engine::ConnectOptions> find(std::string_view scheme, const std::string& host,
                                      std::uint16_t port) const override {
    const std::string origin = origin_text(scheme, host, port);
    const auto found = loop_.upstreams_.find(origin);
    if (found != loop_.upstreams_.end()) {
      return engine::ConnectOptions{.address = "127.0.0.1", .port = found->second};
    }
    std::string known;
    for (const auto& [each, unused] : loop_.upstreams_) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", each);
    }
    return fail(
        Code::unavailable,
        fmt::format("no network in a test: there is no upstream for {}; make a testing::{} for it "
                    "(there {}{})",
                    origin, scheme == "postgresql" ? "FakePostgres" : "FakeUpstream",
                    known.empty() ? "is none" : "are " + known, loop_.upstream_problems_));
  }
  engine::SocketCalls& sockets() const noexcept override { return *loop_.sockets_; }
  std::uint64_t draw_seed() noexcept override { return loop_.seeds_.next(); }

 private:
  TestLoop& loop_;
};

TestLoop::TestLoop(engine::SimNetwork& network, Duration thread_wait,
                   std::function<bool()> waits_for_time)
    : network_(network),
      thread_wait_(thread_wait),
      waits_for_time_(std::move(waits_for_time)),
      sockets_(std::make_unique<engine::SimSockets>(network)),
      seeds_(network.seed()) {
  // Connections to a real PostgreSQL have descriptors of the kernel, which a reactor watches.
  network_.ask_ready_with([](int fd, engine::Readiness wanted) {
    const int events = (wanted.read ? POLLIN : 0) | (wanted.write ? POLLOUT : 0);
    pollfd asked{.fd = fd, .events = static_cast<short>(events), .revents = 0};
    if (::poll(&asked, 1, 0) != 1) return engine::Readiness{};
    return engine::Readiness{(asked.revents & ~POLLOUT) != 0,
                             (asked.revents & (POLLOUT | POLLERR | POLLHUP)) != 0};
  });
}

TestLoop::~TestLoop() = default;

Instant TestLoop::now() const noexcept { return network_.now(); }

bool TestLoop::is_moving() const { return !network_.quiescent(); }

void TestLoop::add(net::Reactor& reactor) {
  net::Destinations::attach(reactor, std::make_unique<Upstreams>(*this));
  reactors_.push_back(&reactor);
}

void TestLoop::add(net::Reactor& reactor, std::unique_ptr<net::Destinations> destinations,
                   std::uint32_t host) {
  net::Destinations::attach(reactor, std::move(destinations));
  add_attached(reactor, host);
}

void TestLoop::add_attached(net::Reactor& reactor, std::uint32_t host) {
  reactors_.push_back(&reactor);
  hosts_[&reactor] = host;
}

void TestLoop::add_before(net::Reactor& reactor) {
  add(reactor);
  std::ranges::rotate(reactors_, reactors_.end() - 1);
}

// The network counts whole seconds from a whole second.
Timestamp TestLoop::current_time() const noexcept {
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  const std::int64_t skew_us = network_.topology().clock_skew(clock_of_).ns / 1000;
  return Timestamp(std::chrono::seconds(network_.wall_clock_s()) +
                   std::chrono::microseconds(network_.now().ns % ns_per_s / 1000 + skew_us));
}

bool TestLoop::is_due() const noexcept {
  return network_.has_work() || std::ranges::any_of(reactors_, [](const net::Reactor* each) {
           return each->turn_is_due();
         });
}

bool TestLoop::await_threads() {
  std::uint64_t under_way = 0;
  for (const net::Reactor* const each : reactors_) under_way += each->expected_work();
  if (under_way == 0) given_up_on_ = 0;
  if (under_way == given_up_on_ || under_way == blocked_) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(thread_wait_.ns);
  auto next_question = std::chrono::steady_clock::now() + question_interval;
  for (int looks = 0; !network_.has_work(); ++looks) {
    const auto now = std::chrono::steady_clock::now();
    const bool asks = waits_for_time_ && now >= next_question;
    if (asks) next_question = now + question_interval;
    if (asks && waits_for_time_() && !network_.has_work()) {
      blocked_ = under_way;
      return false;
    }
    if (now >= end) {
      given_up_on_ = under_way;
      return false;
    }
    // A database answers within microseconds: sleeping at once would be most of the wait.
    if (looks < 100) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  blocked_ = 0;  // the message may have released a lock
  return true;
}

void TestLoop::pass(Duration wait_max) {
  Instant until = now() + std::max(wait_max, Duration{});
  for (net::Reactor* const each : reactors_) {
    until = std::min(until, each->timers().next());
    if (each->draining()) until = std::min(until, now() + drain_step);
  }
  while (!network_.has_work() && network_.run_next(std::max(until, now()))) {
  }
}

void TestLoop::turn(Duration wait_max) {
  const Entered entered(*this);
  if (!is_due() && !await_threads()) pass(wait_max);
  // A handler may remove or add a reactor.
  for (std::size_t index = 0; index < reactors_.size(); ++index) {
    net::Reactor& reactor = *reactors_[index];
    const auto host = hosts_.empty() ? hosts_.end() : hosts_.find(&reactor);
    clock_of_ = host == hosts_.end() ? 0 : host->second;
    reactor.turn({});
  }
  clock_of_ = 0;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
