// trace_server: the three processes of test_collector.py, by the routes that are called.
//
//   client    /start      calls the service at `service.url`
//   service   /orders     reads the database, and publishes a message
//   packer    orders.*    reads the database for each message
#include <string>
#include <utility>

#include "katana/app/application.hpp"
#include "katana/app/nats/nats.hpp"
#include "katana/app/postgres/postgres.hpp"
#include "katana/app/telemetry/telemetry.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/observe/trace/span.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/messages.hpp"

using namespace katana;

namespace {

struct Settings : app::SettingsWithDatabase {
  std::string service_url = "http://127.0.0.1:1";
};
KATANA_DESCRIBE_DERIVED(Settings, app::SettingsWithDatabase, service_url)

struct One {
  std::int64_t one = 0;
};
KATANA_DESCRIBE(One, one)

Task<Result<Reply>> start(client::HttpClient& http, std::string url) {
  auto reply = co_await http.fetch(client::Request(url + "/orders"));
  if (!reply) co_return std::unexpected(reply.error());
  co_return Reply::text(Text(reply->content()));
}

Task<Result<Reply>> order(database::Database& database, bus::Bus& bus) {
  auto read = co_await database.query<One>("-- name: find_order\nSELECT 1::bigint AS one");
  if (!read) co_return std::unexpected(read.error());
  auto published = bus.publish("orders.17", "tea");
  if (!published) co_return std::unexpected(published.error());
  co_return Reply::text("ordered");
}

// The packer: a coroutine that reads the messages.
Task<Result<void>> pack(bus::Bus& bus, database::Database& database) {
  auto opened = bus::Messages::open(bus, "orders.*");
  if (!opened) co_return std::unexpected(opened.error());
  while (auto next = co_await (*opened)->next()) {
    if (!next->message) continue;
    const bus::MessageSpan span(bus, *next->message);
    const trace::Span work("pack");
    (void)co_await database.query<One>("-- name: find_parcel\nSELECT 1::bigint AS one");
  }
  co_return Result<void>();
}

}  // namespace

int main(int count, char** arguments) {
  app::Application<Settings> app(
      {.name = "trace_server", .version = "1.2", .database = app::postgres(), .http_client = true});
  app.use(app::telemetry());
  app.use(app::nats());
  app.routes([](const registry::Services& services, Router& router) {
    auto& database = services.get<database::Database>();
    auto& bus = services.get<bus::Bus>();
    auto& http = services.get<client::HttpClient>();
    const std::string url = services.get<config::Config<Settings>>().get()->service_url;
    router.get("/start", [&http, url] { return start(http, url); });
    router.get("/orders", [&database, &bus] { return order(database, bus); });
    router.get("/pack", [&database, &bus]() -> Reply {
      // REQUIRES one reactor: the reader lives where the request was.
      auto spawned = net::spawn(pack(bus, database), "pack");
      return Reply(spawned ? 204 : 503);
    });
  });
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
