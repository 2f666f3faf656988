#include <filesystem>

#include "katana/application_caches.hpp"
#include "katana/batch.hpp"
#include "katana/csv_stream.hpp"
#include "katana/preconditions.hpp"
#include "katana/uploads.hpp"
#include "parts.hpp"

namespace deskbook {

struct Desk {
  std::int64_t id = 0;
  std::string code;
  int floor = 0;
  std::string description;
  std::int64_t version = 0;
};
KATANA_DESCRIBE(Desk, id, code, floor, description, version)
struct NewDesk {
  std::string code;
  int floor = 0;
  std::string description;
};
KATANA_DESCRIBE(NewDesk, (code, pattern("[0-9A-Z.-]{1,12}")), (floor, range(-5, 200)),
                (description, defaulted, length(0, 200)))
struct DeskPatch {
  Patch<std::string> code;
  Patch<int> floor;
  Patch<std::string> description;
};
KATANA_DESCRIBE(DeskPatch, (code, not_null, pattern("[0-9A-Z.-]{1,12}")),
                (floor, not_null, range(-5, 200)), (description, not_null, length(0, 200)))
struct Desks {
  std::vector<Desk> desks;
};
KATANA_DESCRIBE(Desks, desks)
struct FloorQuery {
  std::optional<int> floor;
};
KATANA_DESCRIBE(FloorQuery, floor)
struct Imported {
  std::int64_t rows = 0;
};
KATANA_DESCRIBE(Imported, rows)

#define SELECT_DESK "SELECT id, code, floor, description, version FROM desks "

constexpr const char* desks_tag = "desks";
// Loads the desks of a floor, or of all, for the cache.
struct DeskLoader {
  Db db;
  std::optional<int> floor;
  Task<Result<cache::Loaded<Desks>>> operator()(const std::string&) const {
    // katana: full scan is fine (of all floors)
    KATANA_CO_TRY(auto desks,
                  co_await db->query<Desk>(
                      SELECT_DESK "WHERE $1::int IS NULL OR floor = $1 ORDER BY code", floor));
    co_return cache::Loaded<Desks>{.value = Desks{std::move(desks)}, .tags = {desks_tag}};
  }
};
namespace {

// The desks of each floor, and of all floors. Instances share them by Redis, where the settings
// name one. A change removes all of them.
using DeskCache = cache::Cache<std::string, Desks>;
using Cache = Inject<DeskCache>;
using Photos = Inject<Folder>;
constexpr ProblemType desk_changed{
    .uri = "/problems/desk-changed", .status = 412, .title = "The desk has changed"};

Task<Answer<Json<Desks>>> list_desks(Query<FloorQuery> query, Cache cache, Db db) {
  const DeskLoader load{db, query->floor};
  const std::string key = query->floor ? std::to_string(*query->floor) : "all";
  KATANA_CO_TRY(const auto desks, co_await cache->get_or_load(key, load));
  co_return Json(*desks);
}

Task<Answer<Reply>> show_desk(Id id, Preconditions conditions, Db db) {
  KATANA_CO_TRY(const Desk desk,
                found(co_await db->query_one<Desk>(SELECT_DESK "WHERE id = $1", *id), "desk"));
  if (auto refusal = conditions.refusal(desk.version)) co_return *std::move(refusal);
  co_return json_reply(desk).with_version(desk.version);
}

Task<Answer<Reply>> add_desk(Json<NewDesk> given, Cache cache, Db db) {
  auto row = co_await db->query_one<Desk>(
      "INSERT INTO desks (code, floor, description) VALUES ($1, $2, $3) "
      "RETURNING id, code, floor, description, version",
      *given);
  KATANA_CO_TRY(const Desk desk, found(std::move(row), "desk"));
  cache->remove_tag(desks_tag);
  co_return json_reply(desk, 201)
      .with("Location", fmt::format("/api/desks/{}", desk.id))
      .with_version(desk.version);
}

Task<Answer<Reply>> change_desk(Id id, RequiredPreconditions conditions, Json<DeskPatch> patch,
                                Cache cache, Db db) {
  auto body = [&](Transaction& within) -> Task<Answer<Desk>> {
    auto row = co_await within.query_one<Desk>(SELECT_DESK "WHERE id = $1 FOR UPDATE", *id);
    KATANA_CO_TRY(Desk desk, found(std::move(row), "desk"));
    if (auto refusal = conditions.refusal(desk.version++, desk_changed)) {
      co_return std::unexpected(*std::move(refusal));
    }
    apply_patch(*patch, desk);
    KATANA_CO_TRY_DONE(co_await within.execute(
        "UPDATE desks SET code = $2, floor = $3, description = $4, version = $5 WHERE id = $1",
        desk));
    co_return desk;
  };
  KATANA_CO_TRY(const Desk desk, co_await database::transact(*db, body));
  cache->remove_tag(desks_tag);
  co_return json_reply(desk).with_version(desk.version);
}

Task<Answer<Reply>> remove_desk(Id id, Cache cache, Db db) {
  const auto rows = co_await db->execute("DELETE FROM desks WHERE id = $1", *id);
  if (!rows && rows.error().constraint() == database::Constraint::foreign_key) {
    co_return problem(409, "The desk has bookings.");
  }
  KATANA_CO_TRY(const std::int64_t removed, rows);
  if (removed == 0) co_return problem(404, "There is no such desk.");
  cache->remove_tag(desks_tag);
  co_return Reply::no_content();
}

Task<Answer<Reply>> save_photo(Id id, ContentReader content, Photos photos, Db db) {
  KATANA_CO_TRY_DONE(found(
      co_await db->query_one<std::int64_t>("SELECT id FROM desks WHERE id = $1", *id), "desk"));
  const std::string name = fmt::format("{}.jpg", *id);
  const SaveOptions options{.bytes_max = 5'000'000};
  KATANA_CO_TRY_DONE(co_await content.save_to(*photos, name, options));
  co_return Reply::no_content();
}

Reply show_photo(Id id, const RequestView& request, Photos photos) {
  return Reply::file(request, *photos, fmt::format("{}.jpg", *id));
}

Task<void> export_desks(ReplyWriter reply, Db db) {
  // katana: full scan is fine (of all desks)
  auto rows = db->stream<NewDesk>("SELECT code, floor, description FROM desks ORDER BY code");
  co_await send_csv(reply, rows);
}

// Adds the desks of a file, and changes those that are there: all of them or, if a row is wrong,
// none.
Task<Answer<Json<Imported>>> import_desks(ContentReader content, Cache cache, Db db) {
  CsvRowsReader<NewDesk> rows(content);
  std::vector<NewDesk> desks;
  while (true) {
    KATANA_CO_TRY(auto desk, co_await rows.next());
    if (!desk) break;
    desks.push_back(*std::move(desk));
  }
  KATANA_CO_TRY(const auto changes,
                co_await database::execute_many(
                    *db,
                    "INSERT INTO desks (code, floor, description) VALUES ($1, $2, $3) "
                    "ON CONFLICT (code) DO UPDATE SET floor = excluded.floor, "
                    "description = excluded.description, version = desks.version + 1",
                    std::move(desks)));
  cache->remove_tag(desks_tag);
  co_return Json(Imported{changes.rows_changed});
}

Result<std::unique_ptr<DeskCache>> make_cache(app::Caches& caches) {
  KATANA_TRY(auto made, caches.make_shared<std::string, Desks>(
                            {.name = "desks", .ttl = seconds(300), .ttl_jitter_percent = 10}));
  return std::make_unique<DeskCache>(std::move(made));
}

Result<std::unique_ptr<Folder>> open_photos(config::Config<Settings>& config) {
  const std::string path = config.get()->photos;
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  KATANA_TRY(Folder folder, Folder::open(path));
  return std::make_unique<Folder>(std::move(folder));
}

}  // namespace

void add_desks(registry::Registry& registry) {
  registry.singleton<DeskCache>(make_cache);
  registry.singleton<Folder>(open_photos);
}

void add_desk_routes(Groups& groups) {
  groups.api.get("/desks", list_desks)
      .get("/desks/{id}", show_desk)
      .get("/desks/{id}/photo", show_photo);
  Group& administration = groups.administration;
  administration.post("/desks", add_desk).get("/desks.csv", export_desks);
  administration.post("/desks.csv", import_desks, {.streamed_bytes_max = 1'000'000});
  administration.patch("/desks/{id}", change_desk).delete_("/desks/{id}", remove_desk);
  administration.put("/desks/{id}/photo", save_photo);
}

}  // namespace deskbook

// SPDX-License-Identifier: Apache-2.0
