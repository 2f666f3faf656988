// techempower: TechEmpower's seven tests, and a user by its key, written as the guides recommend;
// lab/techempower.py and lab/postgres_http_cost.py measure it beside rivals of equal duties.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/base/coroutine/when.hpp"
#include "katana/base/values/text_form.hpp"
#include "katana/cache.hpp"
#include "katana/http.hpp"
#include "katana/postgres.hpp"
#include "katana/registry.hpp"

using namespace katana;
using database::Database;

namespace {

constexpr int rows = 10'000;

// The number of rows: a value that is no number, or below 1, is 1; above 500 it is 500.
struct Count {
  int value = 1;
};

}  // namespace

template <>
struct katana::TextForm<Count> {
  static constexpr Bytes expected = "a number from 1 to 500";
  static std::optional<Count> parse(Bytes text) {
    int value = 1;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end) return Count{1};
    return Count{std::clamp(value, 1, 500)};
  }
  static std::string write(const Count& count) { return std::to_string(count.value); }
};

namespace {

struct Queries {
  Count queries;
};
KATANA_DESCRIBE(Queries, queries)

struct CachedQueries {
  Count count;
};
KATANA_DESCRIBE(CachedQueries, count)

struct User {
  std::int64_t id = 0;
  std::string name;
  std::string email;
  std::optional<int> age;
};
KATANA_DESCRIBE(User, id, name, email, age)

struct Message {
  std::string message;
};
KATANA_DESCRIBE(Message, message)

struct World {
  int id = 0;
  int random_number = 0;
};
constexpr auto katana_describe(const World*) {
  using namespace katana::rules;
  return describe(field(&World::id, "id"), field(&World::random_number, "randomNumber"));
}
using Worlds = std::vector<World>;
using WorldCache = cache::Cache<int, World>;

struct Fortune {
  int id = 0;
  std::string message;
};
KATANA_DESCRIBE(Fortune, id, message)

int random_number() {
  thread_local std::mt19937 generator{std::random_device{}()};
  return std::uniform_int_distribution(1, rows)(generator);
}

Task<Result<Json<User>>> user(Path<std::int64_t> id, Inject<Database> db) {
  auto found =
      co_await db->query_one<User>("SELECT id, name, email, age FROM users WHERE id = $1", *id);
  if (!found) co_return std::unexpected(found.error());
  if (!*found) co_return fail(Code::not_found, "There is no such user.");
  co_return Json(**std::move(found));
}

Json<Message> json() { return {{.message = "Hello, World!"}}; }

Reply plaintext() { return Reply::text("Hello, World!"); }

Task<Result<World>> find_world(const Database& db, int id) {
  const auto found = co_await db.query_one<World>(
      "SELECT id, randomnumber AS \"randomNumber\" FROM world WHERE id = $1", id);
  if (!found) co_return std::unexpected(found.error());
  if (!*found) co_return fail(Code::unavailable, "the table has a hole");
  co_return **found;
}

Task<Result<Worlds>> find_worlds(const Database& db, int count) {
  std::vector<Task<Result<World>>> asked;
  asked.reserve(static_cast<std::size_t>(count));
  for (int number = 0; number < count; ++number) asked.push_back(find_world(db, random_number()));
  Worlds found;
  found.reserve(asked.size());
  for (const auto& each : co_await when_all(std::move(asked))) {
    if (!each) co_return std::unexpected(each.error());
    found.push_back(*each);
  }
  co_return found;
}

Task<Result<Json<World>>> one(Inject<Database> db) {
  const auto found = co_await find_world(*db, random_number());
  if (!found) co_return std::unexpected(found.error());
  co_return Json(*found);
}

Task<Result<Json<Worlds>>> many(Query<Queries> query, Inject<Database> db) {
  auto found = co_await find_worlds(*db, query->queries.value);
  if (!found) co_return std::unexpected(found.error());
  co_return Json(*std::move(found));
}

// In the order of ids, so that two requests lock rows in one order.
Task<Result<Json<Worlds>>> updates(Query<Queries> query, Inject<Database> db) {
  auto found = co_await find_worlds(*db, query->queries.value);
  if (!found) co_return std::unexpected(found.error());
  std::ranges::sort(*found, {}, &World::id);
  std::vector<int> ids;
  std::vector<int> numbers;
  for (World& each : *found) {
    each.random_number = random_number();
    ids.push_back(each.id);
    numbers.push_back(each.random_number);
  }
  const auto written = co_await db->execute(
      "UPDATE world SET randomnumber = given.number "
      "FROM (SELECT id, max(number) AS number FROM unnest($1::int[], $2::int[]) "
      "AS pairs(id, number) GROUP BY id ORDER BY id) AS given WHERE world.id = given.id",
      ids, numbers);
  if (!written) co_return std::unexpected(written.error());
  co_return Json(*std::move(found));
}

// The database outlives the loads.
Task<Result<Json<Worlds>>> cached(Query<CachedQueries> query, Inject<WorldCache> cache,
                                  Inject<Database> db) {
  Worlds found;
  found.reserve(static_cast<std::size_t>(query->count.value));
  const auto load = [database = &*db](int id) { return find_world(*database, id); };
  for (int number = 0; number < query->count.value; ++number) {
    const auto kept = co_await cache->get_or_load(random_number(), load);
    if (!kept) co_return std::unexpected(kept.error());
    found.push_back(**kept);
  }
  co_return Json(std::move(found));
}

Task<Result<Html>> fortunes(Inject<Database> db) {
  auto found = co_await db->query<Fortune>("SELECT id, message FROM fortune");
  if (!found) co_return std::unexpected(found.error());
  found->push_back({0, "Additional fortune added at request time."});
  std::ranges::sort(*found, {}, &Fortune::message);
  std::vector<Html> lines;
  lines.reserve(found->size());
  for (const Fortune& each : *found) {
    lines.push_back(html("<tr><td>{}</td><td>{}</td></tr>", each.id, each.message));
  }
  co_return html(
      "<!DOCTYPE html><html><head><title>Fortunes</title></head><body>"
      "<table><tr><th>id</th><th>message</th></tr>{}</table></body></html>",
      lines);
}

Result<Service> service_of(const registry::Services& services) {
  Router router;
  router.services(services);
  router.get("/health", [] { return Reply(200); });
  router.get("/users/{id}", user);
  router.get("/json", json).get("/plaintext", plaintext);
  router.get("/db", one).get("/queries", many).get("/updates", updates);
  router.get("/cached-queries", cached).get("/fortunes", fortunes);
  return std::move(router).build();
}

struct Flags {
  std::uint16_t port = 8080;
  std::string database;
  std::optional<unsigned> connections;
  std::optional<unsigned> reads_per_sync;
};

Result<void> serve(const Flags& flags) {
  auto options = database::postgres::Options::from_url(flags.database);
  if (!options) return std::unexpected(options.error());
  if (flags.connections) options->connections_max = *flags.connections + 1;  // health() has one
  if (flags.reads_per_sync) options->reads_per_sync = *flags.reads_per_sync;
  auto opened = database::postgres::open(*std::move(options));
  if (!opened) return std::unexpected(opened.error());
  auto worlds = WorldCache::make({.name = "worlds", .ttl = seconds(3600)});
  if (!worlds) return std::unexpected(worlds.error());

  registry::Registry registry;
  registry.singleton<Database>([&] { return std::make_unique<Database>(*std::move(opened)); });
  registry.instance<WorldCache>(*worlds);
  const auto services = std::move(registry).seal();
  if (!services) return std::unexpected(services.error());
  const Result<Service> service = service_of(**services);
  if (!service) return std::unexpected(service.error());
  server::HttpServer server({.port = flags.port, .reactors = 1}, *service);
  if (auto started = server.start(); !started) return std::unexpected(started.error());
  server.run();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Serve TechEmpower's seven tests, for lab/techempower.py.", "techempower");
  app.add_option("--port", flags.port, "port on 127.0.0.1")->capture_default_str();
  app.add_option("--database", flags.database, "postgresql://…")->required();
  app.add_option("--connections", flags.connections, "to the database; default: the framework's");
  app.add_option("--reads-per-sync", flags.reads_per_sync,
                 "statements that share a sync; default: the framework's");
  if (const auto status = command_line::parse(app, argc, argv)) return *status;
  if (const auto served = serve(flags); !served) {
    std::fprintf(stderr, "%s\n", served.error().describe().c_str());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
