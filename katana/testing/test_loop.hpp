// TestLoop: the turns of a test: reactors on one simulated network, whose time passes only in them.
//
// Owns       nothing but its position.
// Borrows    the network and the reactors, until they are removed.
// Thread     one; all work of the reactors runs on it. Threads of the program post to them as
//            usual.
// Allocates  for each reactor.
// Fails      never.
// Invariant  time does not pass while a reactor has work. It does not pass while a thread, or a
//            server on a watched descriptor, works for a reactor (Executor::expected_work()). The
//            loop waits for that in real time, at most thread_wait, or until waits_for_time() says
//            that only virtual time helps. In a turn current_time() returns virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/random.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::engine {
class SimNetwork;
class SimSockets;
}  // namespace katana::engine
namespace katana::net {
class Destinations;
}

namespace katana::testing {

// "SCHEME://HOST:PORT", the key of TestLoop::upstreams(). `host` has no brackets.
std::string origin_text(std::string_view scheme, std::string_view host, std::uint16_t port);

class TestLoop final : private VirtualWallClock {
 public:
  TestLoop(engine::SimNetwork& network, Duration thread_wait,
           std::function<bool()> waits_for_time = {});
  ~TestLoop();

  // For connections and faults of the test.
  engine::SimNetwork& network() noexcept { return network_; }
  // Virtual time; only turns move it.
  Instant now() const noexcept;
  // Virtual time, too.
  Timestamp wall_time() const noexcept { return current_time(); }

  // Adds a reactor. The last one added takes its turns last, and is net::Reactor::current() between
  // turns. Its connections lead to upstreams() alone.
  void add(net::Reactor& reactor);
  // The same for a host of a world: its connections lead where `destinations` says.
  void add(net::Reactor& reactor, std::unique_ptr<net::Destinations> destinations,
           std::uint32_t host);
  // The same for a reactor that has its destinations.
  void add_attached(net::Reactor& reactor, std::uint32_t host);
  // The same, with its turns before those of the others.
  void add_before(net::Reactor& reactor);
  void remove(net::Reactor& reactor) noexcept {
    std::erase(reactors_, &reactor);
    hosts_.erase(&reactor);
  }

  // Ports of the network by origin, such as "https://api.example:443".
  std::map<std::string, std::uint16_t>& upstreams() noexcept { return upstreams_; }
  // Adds the problem of an upstream that could not be made: failing connections report it.
  void add_upstream_problem(const std::string& problem) { upstream_problems_ += "; " + problem; }

  // A turn of each reactor: runs due work, or else the next event within `wait_max`.
  void turn(Duration wait_max);
  // Turns as long as `holds` and less than `limit` has passed.
  template <class Condition>
  void run_while(Condition&& holds, Duration limit) {
    const Instant end = now() + limit;
    while (now() < end && holds()) turn(end - now());
  }
  // Turns while there is work that needs no timer; `done` ends it.
  template <class Done>
  void run_ready(Done&& done, Duration limit) {
    const Instant end = now() + limit;
    while (!done() && now() < end && (is_due() || is_moving() || await_threads())) {
      turn(step);
    }
  }
  // Calls f() like in a turn: with virtual time, by the clock of a host.
  template <class F>
  void within(F&& f, std::uint32_t host = 0) {
    const Entered entered(*this);
    const std::uint32_t outer = std::exchange(clock_of_, host);
    f();
    clock_of_ = outer;
  }
  // A seed for the random numbers of a reactor's work.
  std::uint64_t draw_seed() noexcept { return seeds_.next(); }

 private:
  class Upstreams;
  // The delivery times of a network are far below a program's shortest timer.
  static constexpr Duration step = microseconds(100);
  struct Entered {
    explicit Entered(const TestLoop& loop) noexcept : before(enter(&loop)) {}
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;
    ~Entered() { enter(before); }
    const VirtualWallClock* const before;
  };

  Timestamp current_time() const noexcept override;
  bool is_due() const noexcept;
  bool is_moving() const;  // something is in transit on the network
  // True: a message of another thread has arrived.
  bool await_threads();
  void pass(Duration wait_max);

  engine::SimNetwork& network_;
  const Duration thread_wait_;
  const std::function<bool()> waits_for_time_;
  std::vector<net::Reactor*> reactors_;
  std::map<const net::Reactor*, std::uint32_t> hosts_;  // of those that have a number
  std::uint32_t clock_of_ = 0;                          // the host whose work runs
  const std::unique_ptr<engine::SimSockets> sockets_;   // of clients that read them themselves
  Random seeds_;
  std::map<std::string, std::uint16_t> upstreams_;
  std::string upstream_problems_;
  std::uint64_t given_up_on_ = 0;  // amount of work that did not end within thread_wait_
  std::uint64_t blocked_ = 0;      // amount of work that waits for virtual time
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
