// profile_server: a program with planted uses of CPU time, for test_profile.py. GET /burn computes
// for ?ms= milliseconds of CPU time on the reactor, GET /pool does so on a thread of the pool
// 'work'. GET /quick does next to nothing. GET /grow keeps ?kib= KiB for ever, as a cache without a
// bound; GET /churn allocates as much and frees it.
#include <ctime>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "katana/app/application.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/base/thread/run.hpp"

using namespace katana;

namespace {

struct BurnQuery {
  std::int64_t ms = 200;
};
KATANA_DESCRIBE(BurnQuery, (ms, range(1, 60'000)))

struct SizeQuery {
  std::int64_t kib = 1024;
};
KATANA_DESCRIBE(SizeQuery, (kib, range(1, 65'536)))

using Blocks = std::vector<std::unique_ptr<std::string>>;

// Tests search for these names in stacks.
[[gnu::noinline]] void planted_allocation(Blocks& blocks) {
  blocks.push_back(std::make_unique<std::string>(1000, 'x'));
}

[[gnu::noinline]] void planted_leak(std::int64_t kib) {
  static std::mutex mutex;
  static Blocks kept;
  const std::lock_guard lock(mutex);
  for (std::int64_t each = 0; each < kib; ++each) planted_allocation(kept);
}

[[gnu::noinline]] void planted_churn(std::int64_t kib) {
  Blocks blocks;
  for (std::int64_t each = 0; each < kib; ++each) planted_allocation(blocks);
}

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
  router.get("/grow", [](Query<SizeQuery> query) {
    planted_leak(query->kib);
    return Reply::text("kept");
  });
  router.get("/churn", [](Query<SizeQuery> query) {
    planted_churn(query->kib);
    return Reply::text("freed");
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
