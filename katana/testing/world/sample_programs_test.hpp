// The programs of the tests of worlds: a store of values, and a front that asks it.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "katana/app/application.hpp"
#include "katana/app/sqlite/sqlite.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/http/client/request.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/world/world.hpp"

namespace katana::testing::sample {

struct Value {
  std::string value;
};
KATANA_DESCRIBE(Value, value)

inline app::ApplicationOptions store_options() {
  return {.name = "store",
          .database = app::sqlite(),
          .migrations = {{"0001_entries.sql",
                          "CREATE TABLE entries (name TEXT PRIMARY KEY, value TEXT NOT NULL, "
                          "writes INTEGER NOT NULL DEFAULT 1) STRICT"}}};
}

inline Task<Result<Reply>> read_value(Path<std::string> name, Inject<database::Database> db) {
  auto found = co_await db->query_one<Value>("SELECT value FROM entries WHERE name = $1", *name);
  if (!found) co_return std::unexpected(found.error());
  if (!*found) co_return problem(404, "nothing");
  co_return Reply::text((*found)->value);
}

inline Task<Result<Reply>> write_value(Path<std::string> name, Json<Value> given,
                                       Inject<database::Database> db) {
  auto done = co_await db->execute(
      "INSERT INTO entries (name, value) VALUES ($1, $2) "
      "ON CONFLICT (name) DO UPDATE SET value = $2, writes = writes + 1",
      *name, given->value);
  if (!done) co_return std::unexpected(done.error());
  co_return Reply::no_content();
}

inline void configure_store(app::Application<app::SettingsWithDatabase>& app) {
  app.routes([](const registry::Services&, Router& router) {
    router.get("/values/{name}", read_value);
    router.put("/values/{name}", write_value);
    router.get("/time", [] {
      const auto time = TextForm<Timestamp>::write(current_time());
      return Reply::text(std::string(Bytes(time)));
    });
  });
}

inline app::ApplicationOptions front_options() { return {.name = "front", .http_client = true}; }

inline Task<Result<Reply>> ask_store(Path<std::string> name, Inject<client::HttpClient> http) {
  auto reply =
      co_await http->fetch(client::Request("http://store/values/" + *name).timeout(seconds(5)));
  if (!reply) co_return problem(502, reply.error().describe());
  Reply passed = Reply::text(std::string(reply->content()));
  passed.set_status(reply->status());
  co_return passed;
}

inline void configure_front(app::Application<app::ApplicationSettings>& app) {
  app.routes([](const registry::Services&, Router& router) { router.get("/{name}", ask_store); });
}

inline std::string json_of(const std::string& value) {
  return fmt::format(R"({{"value":"{}"}})", value);
}

}  // namespace katana::testing::sample

// SPDX-License-Identifier: Apache-2.0
