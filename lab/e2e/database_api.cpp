// What does a service on a database cost, by endpoint and by stage? What limits it: the CPU, or the
// disk that holds every acknowledged write?
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/registry/registry.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/http/handlers/built_service.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/routing/route_table.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"
#include "katana/wire/http1/machine.hpp"
#include "lab/e2e/bench.hpp"
#include "lab/e2e/places.hpp"
#include "lab/e2e/users.hpp"
#include "lab/micro/database/bare.hpp"
#include "lab/micro/database/turns.hpp"

namespace e2e {
namespace {

using namespace katana;

constexpr std::int64_t rows = 10'000;

StackOptions api() {
  StackOptions options;
  options.logging = Logging::background;
  options.pool_threads = 2;
  options.database = true;
  options.rows = rows;
  options.folder = folder_for("api");
  return options;
}

// ---- the five endpoints -----------------------------------------------------------------------

std::vector<Ask> get_user(const ServerProcess&, std::uint64_t) {
  std::vector<Ask> asks;
  for (std::int64_t count = 0; count < 1000; ++count) {
    asks.push_back({.path = fmt::format("/users/{}", 1 + count * 7919 % rows)});
  }
  return asks;
}

std::string user_text(std::uint64_t number) {
  return fmt::format(R"({{"name":"new {0}","email":"new{0}@example.org"}})", number);
}

std::vector<Ask> post_users(const ServerProcess&, std::uint64_t count) {
  static std::uint64_t number = 0;  // no address is taken twice
  std::vector<Ask> asks;
  for (std::uint64_t index = 0; index < count; ++index) {
    asks.push_back({.method = "POST", .path = "/users", .body = user_text(++number)});
  }
  return asks;
}

std::vector<Ask> put_user(const ServerProcess&, std::uint64_t) {
  std::vector<Ask> asks;
  for (std::int64_t id = 1; id <= 1000; ++id) {
    const std::string body =
        fmt::format(R"({{"name":"changed {0}","email":"changed{0}@example.org"}})", id);
    asks.push_back({.method = "PUT", .path = fmt::format("/users/{}", id), .body = body});
  }
  return asks;
}

// They are made before the time begins.
std::vector<Ask> delete_user(const ServerProcess& server, std::uint64_t count) {
  static std::uint64_t from = 1'000'000'000;
  (void)fetch(server.port(),
              {.method = "POST", .path = fmt::format("/fill?from={}&count={}", from, count)});
  std::vector<Ask> asks;
  for (std::uint64_t index = 0; index < count; ++index) {
    asks.push_back({.method = "DELETE", .path = fmt::format("/users/{}", from++)});
  }
  return asks;
}

struct Work {
  double statements;
  double writes;
  double commits;
};
Work work_of(const ServerProcess& server) {
  const std::uint16_t port = server.port();
  const double writes = statistic(port, "writes");
  return {statistic(port, "reads_here") + statistic(port, "reads_pooled") + writes, writes,
          statistic(port, "commits")};
}

void endpoint(benchmark::State& state, const ServerCommand& command, const AsksOf& asks_of) {
  ServerProcess* const server = kept_server(state, command);
  if (server == nullptr) return;
  // The first fill of the table writes its own statement, which is not part of a request.
  std::vector<Ask> asks = asks_of(*server, static_cast<std::uint64_t>(state.max_iterations));
  const Work before = work_of(*server);
  time_requests(state, command,
                [&](const ServerProcess&, std::uint64_t) { return std::move(asks); });
  if (state.error_occurred()) return;
  const Work after = work_of(*server);
  state.counters["queries_per_request"] =
      (after.statements - before.statements) / static_cast<double>(state.iterations());
  if (after.commits > before.commits) {
    state.counters["writes_per_commit"] =
        (after.writes - before.writes) / (after.commits - before.commits);
  }
}

void add_endpoints() {
  const ServerCommand command = serving(api());
  const std::pair<const char*, AsksOf> endpoints[] = {
      {"GET_users", always({.path = "/users?limit=20&after=5000"})},
      {"POST_users", post_users},
      {"PUT_user", put_user},
      {"DELETE_user", delete_user},
      {"GET_user", get_user}};
  for (const auto& [name, asks_of] : endpoints) {
    by_request(benchmark::RegisterBenchmark(
        fmt::format("DatabaseApi/{}", name).c_str(),
        [command, asks = asks_of](benchmark::State& state) { endpoint(state, command, asks); }));
  }
}

// ---- against what bounds them -----------------------------------------------------------------

std::vector<Compared> reads() {
  const auto server = started(serving(api()));
  const std::uint64_t count = settings().requests(12'000);
  return {{"health", cost_of(server, {count, always({.path = "/health"})})},
          {"get_user", cost_of(server, {count, get_user})},
          {"get_users", cost_of(server, {count, always({.path = "/users?limit=20&after=5000"})})}};
}

// SQLite's own calls on the same disk, 64 inserts a commit: the most that durable writes can do.
std::function<double()> bare_inserts(std::uint64_t count) {
  const std::string folder = folder_for("bare");
  std::filesystem::create_directories(folder);
  const auto bare = std::make_shared<bench::Bare>(folder + "/bare.db");
  bare->run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INT)");
  bare->run("CREATE TABLE visits (id INTEGER PRIMARY KEY, person INT, place TEXT)");
  bare->prepare();
  return [bare, count] {
    const std::string place = "somewhere";
    const std::int64_t begin_ns = micro::now_ns();
    for (std::uint64_t done = 0; done < count; done += 64) {
      bare->begin();
      for (std::int64_t index = 0; index < 64; ++index) bare->write(index, place);
      bare->commit();
    }
    return static_cast<double>(micro::now_ns() - begin_ns) / 1e3 / static_cast<double>(count);
  };
}

std::vector<Compared> writes() {
  const auto server = started(serving(api()));
  const std::uint64_t count = settings().requests(6'400) / 64 * 64 + 64;
  return {{"get_user", cost_of(server, {count, get_user, 64, Of::clock})},
          {"post_users", cost_of(server, {count, post_users, 64, Of::clock})},
          {"sqlite_64_a_commit", bare_inserts(count)}};
}

void add_bounds() {
  in_rounds(benchmark::RegisterBenchmark("DatabaseApi/reads_against_health", [](auto& state) {
    compare_made(state, "cpu_us", reads);
  }));
  in_rounds(benchmark::RegisterBenchmark("DatabaseApi/writes_against_the_disk",
                                         [](auto& state) { compare_made(state, "us", writes); }));
}

// Reads that reactors leave to the pool: a scan of all rows, and, made to, one row.
void add_pool_sizes() {
  for (const unsigned readers : {2u, 5u, 10u, 20u}) {
    StackOptions options = api();
    options.readers = readers;
    options.pool_reads = true;
    const ServerCommand command = serving(options);
    by_request(benchmark::RegisterBenchmark(
        fmt::format("DatabaseApi/pool_of_{}/one_row", readers).c_str(),
        [command](benchmark::State& state) { time_requests(state, command, get_user); }));
    by_request(
        benchmark::RegisterBenchmark(fmt::format("DatabaseApi/pool_of_{}/scan", readers).c_str(),
                                     [command](benchmark::State& state) {
                                       time_requests(state, command, always({.path = "/report"}));
                                     }));
  }
}

// ---- stages of GET /users/{id} ----------------------------------------------------------------

constexpr std::string_view request_text = "GET /users/4711 HTTP/1.1\r\nHost: localhost\r\n\r\n";
const Instant moment{seconds(1'000).ns};

void stage_parse(benchmark::State& state) {
  http1::Context context{http1::Limits{}};
  for (auto unused : state) {
    (void)unused;
    http1::Machine machine(context, moment);
    const http1::Step step = machine.next(request_text, moment);
    micro::expect(step.event == http1::Event::head && step.last, "parse");
    benchmark::DoNotOptimize(step);
  }
}

// The same, and the reply: what both take together is what Google Benchmark can time.
void stage_parse_and_respond(benchmark::State& state) {
  http1::Context context{http1::Limits{}};
  BlockPool blocks(4096, 16);
  Outbox outbox(blocks);
  const std::string content = R"({"id":4711,"name":"user 4711","email":"user4711@example.org"})";
  http::ReplyHead head;
  head.status = 200;
  head.content_type = "application/json";
  for (auto unused : state) {
    (void)unused;
    http1::Machine machine(context, moment);
    const http1::Step step = machine.next(request_text, moment);
    micro::expect(
        step.event == http1::Event::head && machine.respond(head, content, false, moment, outbox),
        "respond");
    outbox.advance(outbox.pending());
  }
}

void stage_route(benchmark::State& state) {
  Router router;
  const auto nothing = [] { return Reply(); };
  const auto with_id = [](Path<std::int64_t>) { return Reply(); };
  router.get("/health", nothing).get("/ready", nothing).get("/metrics", nothing);
  router.get("/users", nothing).post("/users", nothing).get("/users/{id}", with_id);
  router.put("/users/{id}", with_id).delete_("/users/{id}", with_id);
  const auto service = std::move(router).build();
  micro::expect(service.has_value(), "routes");
  PathParameters parameters;
  for (auto unused : state) {
    (void)unused;
    const RouteMatch match =
        service->built().table.match(http::Method::get, "/users/4711", parameters);
    micro::expect(match.kind == MatchKind::found && parameters.size() == 1, "route");
    benchmark::DoNotOptimize(match);
  }
}

struct Finder {
  virtual std::int64_t find(std::int64_t id) = 0;

 protected:
  ~Finder() = default;
};
struct PlainFinder {
  std::int64_t last = 0;
};
struct AdaptedFinder final : Finder {
  explicit AdaptedFinder(PlainFinder& of) : finder(of) {}
  std::int64_t find(std::int64_t id) override { return finder.last = id; }
  PlainFinder& finder;
};

// One lookup in the registry and one call through an adapter. A real handler keeps the result of
// the lookup; this one does not.
void stage_registry_and_adapter(benchmark::State& state) {
  registry::Registry registry;
  registry.singleton<PlainFinder>([] { return std::make_unique<PlainFinder>(); });
  registry.singleton<Finder>([](PlainFinder& of) { return std::make_unique<AdaptedFinder>(of); });
  const auto services = std::move(registry).seal();
  micro::expect(services.has_value(), "seal");
  std::int64_t id = 0;
  for (auto unused : state) {
    (void)unused;
    Finder* finder = &(*services)->get<Finder>();
    asm volatile("" : "+r"(finder));
    benchmark::DoNotOptimize(finder->find(++id));
  }
  micro::expect((*services)->get<PlainFinder>().last == id, "calls");
}

Task<void> read_one(database::Database& db, std::int64_t id, std::int64_t& sum) {
  const auto user =
      co_await db.query_one<User>("SELECT id, name, email FROM users WHERE id = $1", id);
  if (user && *user) sum += (*user)->id;
}

// `state.range(0)` requests in a turn of the reactor share a snapshot.
void stage_query(benchmark::State& state) {
  const std::string folder = folder_for("stage");
  std::filesystem::create_directories(folder);
  auto db = database::sqlite::open({.path = folder + "/users.db"});
  micro::expect(db && make_users(*db, rows), "open");
  bench::Turns turns;
  std::int64_t sum = 0, expected = 0, id = 0;
  while (state.KeepRunningBatch(state.range(0))) {
    turns.turn([&] {
      for (std::int64_t count = 0; count < state.range(0); ++count) {
        id = id % rows + 1;
        expected += id;
        auto task = read_one(*db, id, sum);
        micro::expect(task.start(), "a point read is answered at once");
      }
    });
  }
  micro::expect(sum == expected, "every read found its row");
}

void stage_serialise(benchmark::State& state) {
  const User user{4711, "user 4711", "user4711@example.org"};
  for (auto unused : state) {
    (void)unused;
    Text text;
    container::write_json(user, text);
    benchmark::DoNotOptimize(text.bytes().data());
  }
}

void add_stages() {
  benchmark::RegisterBenchmark("DatabaseApi/stage/parse", stage_parse);
  benchmark::RegisterBenchmark("DatabaseApi/stage/parse_and_respond", stage_parse_and_respond);
  benchmark::RegisterBenchmark("DatabaseApi/stage/route", stage_route);
  benchmark::RegisterBenchmark("DatabaseApi/stage/registry_and_adapter",
                               stage_registry_and_adapter);
  benchmark::RegisterBenchmark("DatabaseApi/stage/query", stage_query)->Arg(1)->Arg(16);
  benchmark::RegisterBenchmark("DatabaseApi/stage/serialise", stage_serialise);
}

}  // namespace

void add_database_api() {
  add_endpoints();
  add_bounds();
  add_pool_sizes();
  add_stages();
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
