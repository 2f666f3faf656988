// postgres_http_server: what lab/postgres_http_cost.py asks, written as the guides recommend: a
// user by its key, and TechEmpower's database tests (a query, many queries, fortunes, updates).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "katana/base/when.hpp"
#include "katana/http.hpp"
#include "katana/postgres.hpp"
#include "katana/registry.hpp"
#include "katana/service/html.hpp"

using namespace katana;
using database::Database;

namespace {

struct User {
  std::int64_t id = 0;
  std::string name;
  std::string email;
  std::optional<int> age;
};
KATANA_DESCRIBE(User, id, name, email, age)

struct World {
  int id = 0;
  int random_number = 0;
};
constexpr auto katana_describe(const World*) {
  using namespace katana::rules;
  return describe(field(&World::id, "id"), field(&World::random_number, "randomNumber"));
}

struct Fortune {
  int id = 0;
  std::string message;
};
KATANA_DESCRIBE(Fortune, id, message)

struct Count {
  int count = 1;
};
KATANA_DESCRIBE(Count, (count, range(1, 500)))

int random_id() {
  thread_local std::uint32_t state = 1;
  state = state * 1'664'525U + 1'013'904'223U;
  return 1 + static_cast<int>((std::uint64_t{state} * 10'000) >> 32U);
}

Task<Result<Reply>> user(Path<std::int64_t> id, Inject<Database> db) {
  const auto found =
      co_await db->query_one<User>("SELECT id, name, email, age FROM users WHERE id = $1", *id);
  if (!found) co_return std::unexpected<Error>(found.error());
  if (!*found) co_return problem(404, "There is no such user.");
  co_return json_reply(**found);
}

Task<Result<World>> world(const Database& db) {
  auto found = co_await db.query_one<World>(
      "SELECT id, random_number AS \"randomNumber\" FROM world WHERE id = $1", random_id());
  if (!found) co_return std::unexpected<Error>(found.error());
  if (!*found) co_return fail(Code::unavailable, "the table has a hole");
  co_return **std::move(found);
}

Task<Result<Reply>> one(Inject<Database> db) {
  const auto found = co_await world(*db);
  if (!found) co_return std::unexpected(found.error());
  co_return json_reply(*found);
}

Task<Result<std::vector<World>>> worlds(const Database& db, int count) {
  std::vector<Task<Result<World>>> asked;
  for (int number = 0; number < count; ++number) asked.push_back(world(db));
  std::vector<World> found;
  for (auto& each : co_await when_all(std::move(asked))) {
    if (!each) co_return std::unexpected(each.error());
    found.push_back(*each);
  }
  co_return found;
}

Task<Result<Reply>> many(Query<Count> query, Inject<Database> db) {
  const auto found = co_await worlds(*db, query->count);
  if (!found) co_return std::unexpected(found.error());
  co_return json_reply(*found);
}

// In the order of ids, so that two requests lock rows in one order.
Task<Result<Reply>> updates(Query<Count> query, Inject<Database> db) {
  auto found = co_await worlds(*db, query->count);
  if (!found) co_return std::unexpected(found.error());
  std::ranges::sort(*found, {}, &World::id);
  std::vector<int> ids;
  std::vector<int> numbers;
  for (World& each : *found) {
    each.random_number = random_id();
    ids.push_back(each.id);
    numbers.push_back(each.random_number);
  }
  const auto written = co_await db->execute(
      "UPDATE world SET random_number = given.number "
      "FROM (SELECT id, max(number) AS number FROM unnest($1::int[], $2::int[]) "
      "AS pairs(id, number) GROUP BY id ORDER BY id) AS given WHERE world.id = given.id",
      ids, numbers);
  if (!written) co_return std::unexpected<Error>(written.error());
  co_return json_reply(*found);
}

Task<Result<Reply>> fortunes(Inject<Database> db) {
  auto found = co_await db->query<Fortune>("SELECT id, message FROM fortune");
  if (!found) co_return std::unexpected<Error>(found.error());
  found->push_back({0, "Additional fortune added at request time."});
  std::ranges::sort(*found, {}, &Fortune::message);
  std::vector<Html> rows;
  for (const Fortune& each : *found) {
    rows.push_back(html("<tr><td>{}</td><td>{}</td></tr>", each.id, each.message));
  }
  co_return Reply::html(html("<!DOCTYPE html><html><head><title>Fortunes</title></head><body>"
                             "<table><tr><th>id</th><th>message</th></tr>{}</table></body></html>",
                             rows)
                            .markup());
}

}  // namespace

int main(int argc, char** argv) {
  std::uint16_t port = 8080;
  std::string url;
  unsigned connections = 1;
  CLI::App app("Rows of PostgreSQL over HTTP, for lab/postgres_http_cost.py");
  app.add_option("--port", port, "on 127.0.0.1")->capture_default_str();
  app.add_option("--database", url, "postgresql://…")->required();
  app.add_option("--connections", connections, "to the database")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto failed = [](const auto& error) {
    return std::fprintf(stderr, "%s\n", error.describe().c_str()), 1;
  };

  auto options = database::postgres::Options::from_url(url);
  if (!options) return failed(options.error());
  options->connections_max = connections + 1;  // one is that of health()
  auto opened = database::postgres::open(*std::move(options));
  if (!opened) return failed(opened.error());
  registry::Registry registry;
  registry.singleton<Database>([&] { return std::make_unique<Database>(*std::move(opened)); });
  const auto services = std::move(registry).seal();
  if (!services) return failed(services.error());

  Router router;
  router.services(**services);
  router.get("/health", [] { return Reply(200); });
  router.get("/users/{id}", user);
  router.get("/db", one);
  router.get("/queries", many);
  router.get("/updates", updates);
  router.get("/fortunes", fortunes);
  const Result<Service> service = std::move(router).build();
  if (!service) return failed(service.error());
  server::HttpServer server({.port = port, .reactors = 1}, *service);
  if (auto started = server.start(); !started) return failed(started.error());
  server.run();
}

// SPDX-License-Identifier: Apache-2.0
