// A whole program: configuration, log, database, server. application --port PORT
#include "katana/application_sqlite.hpp"
#include "katana/http.hpp"

using namespace katana;

struct Note {
  std::int64_t id = 0;
  std::string text;
};
KATANA_DESCRIBE(Note, id, text)

int main(int count, char** arguments) {
  app::Application<app::SettingsWithDatabase> app(
      {.name = "notes",
       .version = "1.0",
       .database = app::sqlite(),
       .migrations = {{"0001_notes.sql",
                       "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT"}}});
  app.routes([](const registry::Services& services, Router& router) {
    auto& database = services.get<database::Database>();
    router.post("/notes", [&database](Json<Note> note) -> Task<Result<Json<Note>>> {
      const auto done = co_await database.execute("INSERT INTO notes (id, text) VALUES ($1, $2)",
                                                  note->id, note->text);
      if (!done) co_return std::unexpected(done.error());
      co_return note;
    });
  });
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
