// profile_server: a program with planted uses of CPU time, for test_profile.py. GET /burn computes
// for ?ms= milliseconds of CPU time on the reactor, GET /pool does so on a thread of the pool
// 'work'. GET /quick does next to nothing.
#include <ctime>

#include <cstdint>

#include "katana/app/application.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/base/thread/run.hpp"

using namespace katana;

namespace {

struct BurnQuery {
  std::int64_t ms = 200;
};
KATANA_DESCRIBE(BurnQuery, (ms, range(1, 60'000)))

std::int64_t cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// Tests search for these names in stacks.
[[gnu::noinline]] void planted_loop(volatile std::uint64_t* sum) {
  for (std::uint64_t step = 0; step < 200'000; ++step) *sum = *sum + step;
}

[[gnu::noinline]] std::uint64_t planted_burn(std::int64_t ms) {
  volatile std::uint64_t sum = 0;
  const std::int64_t end = cpu_ms() + ms;
  while (cpu_ms() < end) planted_loop(&sum);
  return sum;
}

void add_routes(const registry::Services& services, Router& router) {
  auto& pool = services.get<thread::Pool>();
  router.get("/burn", [](Query<BurnQuery> query) {
    return Reply::text(format_text("{}", planted_burn(query->ms)));
  });
  router.get("/pool", [&pool](Query<BurnQuery> query) -> Task<Reply> {
    (void)co_await pool.run([ms = query->ms] { (void)planted_burn(ms); });
    co_return Reply::text("done");
  });
  router.get("/quick", [] { return Reply::text("quick"); });
}

}  // namespace

int main(int count, char** arguments) {
  app::Application<> app({.name = "profile_server", .version = "1.2.3"});
  app.routes(add_routes);
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
