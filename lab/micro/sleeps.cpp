// By how much do short pauses end late, and what does one cost? Many coroutines of one reactor
// pause again and again. The clock is read before and after each pause.
//
//   sleeps [ENGINE [COUNT [MILLISECONDS [SECONDS]]]]     epoll or io_uring; 32,000 of 10 ms for 3 s
//
// It prints one line: pauses a second, the mean and the highest lateness, and the share of pauses
// that ended more than 0.2 ms late. CPU time of a pause and turns of the reactor a second follow.
// Exit status 1: a pause ended early.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/engine/uring/uring_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/spawn.hpp"

namespace {

using namespace katana;

constexpr Duration late = microseconds(200);

struct Figures {
  std::int64_t pauses = 0, late_pauses = 0, early = 0, lateness_ns = 0, latest_ns = 0;
};

Duration cpu_time() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return {used.tv_sec * 1'000'000'000 + used.tv_nsec};
}

Task<void> pause_again_and_again(Figures& figures, Duration first, Duration pause) {
  co_await net::sleep_for(first);
  for (;;) {
    const Instant begun = engine::read_monotonic();
    co_await net::sleep_for(pause);
    const std::int64_t lateness_ns = (engine::read_monotonic() - begun - pause).ns;
    ++figures.pauses;
    figures.early += lateness_ns < 0 ? 1 : 0;
    figures.late_pauses += lateness_ns > late.ns ? 1 : 0;
    figures.lateness_ns += lateness_ns;
    figures.latest_ns = std::max(figures.latest_ns, lateness_ns);
  }
}

struct Measured {
  Figures figures;
  Duration cpu;
  std::uint64_t turns = 0;
};

// The first second is not measured: it spreads the pauses.
Task<void> measure(net::Reactor& reactor, Figures& figures, Duration length, Measured& measured) {
  co_await net::sleep_for(seconds(1));
  figures = {};
  const Duration cpu = cpu_time();
  const std::uint64_t turns = reactor.counters().turns;
  co_await net::sleep_for(length);
  measured = {figures, cpu_time() - cpu, reactor.counters().turns - turns};
  reactor.request_stop();
}

template <template <class> class Engine>
Measured run(int count, Duration pause, Duration length) {
  net::ReactorOptions options;
  options.engine.links_max = 16;
  options.tasks_max = static_cast<std::size_t>(count) + 1;
  Figures figures;
  Measured measured;
  net::ReactorOn<Engine> reactor(options, 64);
  if (auto started = reactor.start(); !started) {
    fmt::print(stderr, "{}\n", started.error().describe());
    std::exit(2);
  }
  reactor.turn(Duration{});  // spawn() needs a present reactor
  for (int index = 0; index < count; ++index) {
    const Duration first{pause.ns * index / count + 1};
    if (!net::spawn(pause_again_and_again(figures, first, pause))) std::exit(2);
  }
  if (!net::spawn(measure(reactor, figures, length, measured))) std::exit(2);
  reactor.run();
  return measured;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view engine = count > 1 ? arguments[1] : "epoll";
  const int sleeps = count > 2 ? std::atoi(arguments[2]) : 32'000;
  const Duration pause = milliseconds(count > 3 ? std::atoi(arguments[3]) : 10);
  const Duration length = seconds(count > 4 ? std::atoi(arguments[4]) : 3);
  if (sleeps <= 0 || pause <= Duration{} || length <= Duration{}) {
    fmt::print(stderr, "sleeps: counts, milliseconds and seconds must be above 0\n");
    return 2;
  }
  const Measured measured = engine == "io_uring"
                                ? run<engine::UringEngine>(sleeps, pause, length)
                                : run<engine::EpollEdgeEngine>(sleeps, pause, length);
  const Figures& figures = measured.figures;
  const double pauses = static_cast<double>(std::max<std::int64_t>(figures.pauses, 1));
  const double length_s = static_cast<double>(length.ns) / 1e9;
  fmt::print(
      "{} sleeps of {} ms, {}: {:.0f}/s, late by {:.1f} us on average, {:.1f} us at most, "
      "{:.2f} % by more than 200 us; CPU {:.0f} ns each; {:.0f} turns/s\n",
      sleeps, pause.count_ms(), engine, pauses / length_s,
      static_cast<double>(figures.lateness_ns) / pauses / 1e3,
      static_cast<double>(figures.latest_ns) / 1e3,
      100.0 * static_cast<double>(figures.late_pauses) / pauses,
      static_cast<double>(measured.cpu.ns) / pauses,
      static_cast<double>(measured.turns) / length_s);
  if (figures.early > 0) fmt::print("{} ended early\n", figures.early);
  return figures.early > 0 ? 1 : 0;
}

// SPDX-License-Identifier: Apache-2.0
