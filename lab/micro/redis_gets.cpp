// redis_gets URL COUNT WIDTH: sends COUNT GETs of one key, WIDTH at a time, and prints the cost of
// each for this process. The comparison is redis-benchmark -P WIDTH -c 1 -n COUNT GET key.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>

#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/stores/redis/client.hpp"

namespace {

using namespace katana;

struct Run {
  redis::Client redis;
  std::int64_t left;
  std::int64_t failures = 0;
};

Task<void> ask(Run& run) {
  while (run.left-- > 0) {
    const auto value = co_await run.redis.get("key");
    run.failures += value.has_value() ? 0 : 1;
  }
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "usage: redis_gets URL COUNT WIDTH\n");
    return 2;
  }
  auto options = redis::parse_url(arguments[1]);
  if (!options) {
    fmt::print(stderr, "{}\n", options.error().describe());
    return 2;
  }
  net::ReactorOn<engine::EpollEdgeEngine> reactor({}, 4096);
  if (auto started = reactor.start(); !started) return 1;
  reactor.turn({});
  Run run{redis::Client::make(*std::move(options)).value(), std::atoll(arguments[2])};
  const auto wanted = static_cast<double>(run.left);
  std::deque<Task<void>> tasks;
  for (int width = std::atoi(arguments[3]); width > 0; --width) {
    tasks.push_back(ask(run));
    tasks.back().start();
  }
  while (!std::ranges::all_of(tasks, [](const auto& task) { return task.done(); })) {
    reactor.turn(milliseconds(100));
  }
  fmt::print("{:.0f} GET for each second of processor time; {} failed\n",
             wanted / processor_seconds(), run.failures);
  return run.failures == 0 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
