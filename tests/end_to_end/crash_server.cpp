// crash_server: a program with planted faults, for test_crash.py and test_live.py. GET /crash/{how}
// makes one of them on the reactor, GET /pool/{how} on a thread of the pool 'work'. GET /wait
// answers after a minute, as a request in flight; GET /waiting answers how many of these have
// begun. GET /spin keeps its reactor for five seconds.
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "katana/app/application.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/base/thread/run.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/observe/crash/crash.hpp"

using namespace katana;

namespace {

// Tests search for these names in stacks. Lambdas have names that compilers choose.
[[gnu::noinline]] void write_to(volatile char* address) { *address = 1; }

[[gnu::noinline]] void plant_bad_access() {
  write_to(static_cast<volatile char*>(
      ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
  asm volatile("");  // no tail call, which would leave no frame
}

[[gnu::noinline]] int plant_recursion(volatile int* depth) {
  volatile char room[1024];
  room[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  if (*depth < 0) return 0;  // never: the stack is full before
  return plant_recursion(depth) + room[0];
}

std::atomic<void (*)()> no_function{nullptr};
std::atomic<int> waiting{0};  // requests for /wait that have begun

// Memory as in a container that has no more. The exception cannot leave: the process ends.
[[gnu::noinline]] void exhaust_memory() noexcept {
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1;
  ::setrlimit(RLIMIT_AS, &limit);
  std::vector<std::unique_ptr<char[]>> all;
  while (true) all.push_back(std::make_unique<char[]>(1 << 20));
}

// Like a destructor that calls something that throws.
[[gnu::noinline]] void throw_planted() { throw std::runtime_error("the planted exception"); }
[[gnu::noinline]] void throw_where_none_may() noexcept { throw_planted(); }

// A fault within the handler of the crash.
class FaultySection final : public crash::Section {
 public:
  void write(crash::ReportWriter&) noexcept override { plant_bad_access(); }
};
FaultySection faulty;

Reply crash_by(const std::string& how) {
  if (how == "access") plant_bad_access();
  if (how == "null") no_function.load()();
  if (how == "abort") std::abort();
  if (how == "check") KATANA_CHECK(how.empty());
  if (how == "exception") throw_where_none_may();
  if (how == "memory") exhaust_memory();
  if (how == "recursion") {
    volatile int depth = 0;
    return Reply::text(format_text("{}", plant_recursion(&depth)));
  }
  if (how == "twice") {
    crash::add_section(faulty);
    plant_bad_access();
  }
  return Reply::text("there is no such fault");
}

void add_routes(const registry::Services& services, Router& router) {
  auto& pool = services.get<thread::Pool>();
  router.get("/crash/{how}", [](Path<std::string> how) { return crash_by(*how); });
  router.get("/pool/{how}", [&pool](Path<std::string> how) -> Task<Reply> {
    (void)co_await pool.run([name = Bytes(*how)] { (void)crash_by(std::string(name)); });
    co_return Reply::text("alive");
  });
  router.get("/waiting", [] { return Reply::text(format_text("{}", waiting.load())); });
  router.get("/spin", [] {
    const Instant end = monotonic_now() + seconds(5);
    while (monotonic_now() < end) continue;
    return Reply::text("spun");
  });
  router.get("/wait", []() -> Task<Reply> {
    ++waiting;
    co_await net::sleep_for(seconds(60));
    co_return Reply::text("waited");
  });
}

}  // namespace

int main(int count, char** arguments) {
  app::Application<> app({.name = "crash_server", .version = "1.2.3"});
  app.routes(add_routes);
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
