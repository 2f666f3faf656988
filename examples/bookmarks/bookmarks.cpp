#include "bookmarks.hpp"

#include "katana/application_auth.hpp"
#include "katana/application_sqlite.hpp"
#include "katana/base.hpp"
#include "katana/client.hpp"
#include "katana/http.hpp"
#include "katana/openapi.hpp"
#include "migrations.hpp"  // made from migrations/ by the build

namespace bookmarks {

using namespace katana;
using client::HttpClient;
using database::Database;

struct Bookmark {
  std::int64_t id = 0;
  std::string url;
  std::optional<std::string> title;
  Timestamp added;
};
KATANA_DESCRIBE(Bookmark, id, url, title, added)
struct NewBookmark {
  std::string url;
  std::optional<std::string> title;
};
KATANA_DESCRIBE(NewBookmark, (url, required, length(8, 2000)), (title, length(1, 200)))
struct BookmarkPatch {
  Patch<std::string> url, title;
};
KATANA_DESCRIBE(BookmarkPatch, (url, not_null, length(8, 2000)), (title, length(1, 200)))
struct PageQuery {
  std::int64_t after = 0;
  int limit = 20;
};
KATANA_DESCRIBE(PageQuery, after, (limit, range(1, 100)))
namespace {

// The title of a page on another server; nothing: it cannot be fetched at present.
Task<std::optional<std::string>> title_of(const HttpClient& http, std::string url) {
  const auto reply = co_await http.fetch(client::Request(url).timeout(seconds(2)));
  const Bytes text = reply ? reply->content() : Bytes();
  const std::size_t begin = text.find("<title>"), end = text.find("</title>");
  if (end == text.npos || begin > end) co_return std::nullopt;
  co_return std::string(text.substr(begin + 7, end - begin - 7));
}

constexpr ProblemType known_already{.uri = "/problems/known-already",
                                    .status = 409,
                                    .title = "You have this bookmark already",
                                    .description = "A user has each URL once. Change the other."};

Reply no_such(std::int64_t id) { return problem(404, fmt::format("There is no bookmark {}.", id)); }

Task<Result<Json<std::vector<Bookmark>>>> list(FromContext<auth::Principal> user,
                                               Query<PageQuery> page, Inject<Database> db) {
  auto rows = co_await db->query<Bookmark>(
      "SELECT id, url, title, added FROM bookmarks WHERE owner = $1 AND id > $2 ORDER BY 1 LIMIT "
      "$3",
      user->id(), page->after, page->limit);
  if (!rows) co_return std::unexpected(rows.error());
  co_return Json(*std::move(rows));
}

Task<Result<Reply>> add(FromContext<auth::Principal> user, Json<NewBookmark> given,
                        Inject<Database> db, Inject<HttpClient> http, Inject<EventTopic> changes) {
  std::optional<std::string> title = given->title;
  if (!title) title = co_await title_of(*http, given->url);
  auto made = co_await db->query_one<Bookmark>(
      "INSERT INTO bookmarks (owner, url, title, added) VALUES ($1, $2, $3, $4) "
      "RETURNING id, url, title, added",
      user->id(), given->url, title, current_time());
  if (!made && made.error().kind() == database::Kind::constraint_violation) {
    co_return problem(known_already, "You have a bookmark of this URL.");
  }
  if (!made) co_return std::unexpected(made.error());
  (void)changes->publish({.data = container::to_json(**made), .name = "added"});
  co_return json_reply(**made, 201).with("Location", fmt::format("/bookmarks/{}", (*made)->id));
}

Task<Result<Reply>> change(Path<std::int64_t> id, FromContext<auth::Principal> user,
                           Json<BookmarkPatch> patch, Inject<Database> db) {
  auto changed = [&](database::Transaction& within) -> Task<Result<Reply>> {
    auto found = co_await within.query_one<Bookmark>(
        "SELECT id, url, title, added FROM bookmarks WHERE id = $1 AND owner = $2", *id,
        user->id());
    if (!found) co_return std::unexpected(found.error());
    if (!*found) co_return no_such(*id);
    apply_patch(*patch, **found);
    auto done = co_await within.execute("UPDATE bookmarks SET url = $2, title = $3 WHERE id = $1",
                                        *id, (*found)->url, (*found)->title);
    if (!done) co_return std::unexpected(done.error());
    co_return json_reply(**found);
  };
  co_return co_await database::transact(*db, changed);
}

Task<Result<Reply>> remove(Path<std::int64_t> id, FromContext<auth::Principal> user,
                           Inject<Database> db) {
  auto gone =
      co_await db->execute("DELETE FROM bookmarks WHERE id = $1 AND owner = $2", *id, user->id());
  if (!gone) co_return std::unexpected(gone.error());
  co_return *gone == 0 ? no_such(*id) : Reply::no_content();
}

Task<Result<Html>> page(FromContext<auth::Principal> user, Inject<Database> db) {
  auto rows = co_await db->query<Bookmark>(
      "SELECT id, url, title, added FROM bookmarks WHERE owner = $1 ORDER BY id DESC LIMIT 100",
      user->id());
  if (!rows) co_return std::unexpected(rows.error());
  std::vector<Html> items;
  for (const Bookmark& each : *rows) {
    items.push_back(
        html(R"(<li><a href="{}">{}</a></li>)", SafeUrl(each.url), each.title.value_or(each.url)));
  }
  co_return html("<!doctype html><title>Bookmarks</title><h1>Bookmarks of {}</h1><ul>{}</ul>",
                 user->name(), items);
}

// Asks again for the titles that are not known yet.
Task<Result<void>> find_titles(const registry::Services& services) {
  auto& db = services.get<Database>();
  // katana: full scan is fine
  auto rows = co_await db.query<Bookmark>(
      "SELECT id, url, title, added FROM bookmarks WHERE title IS NULL ORDER BY id LIMIT 50");
  if (!rows) co_return std::unexpected(rows.error());
  for (const Bookmark& each : *rows) {
    const auto title = co_await title_of(services.get<HttpClient>(), each.url);
    if (!title) continue;  // next time
    auto done =
        co_await db.execute("UPDATE bookmarks SET title = $2 WHERE id = $1", each.id, *title);
    if (!done) co_return std::unexpected(done.error());
  }
  co_return Result<void>();
}

openapi::Document described() {
  openapi::Document document({.title = "Bookmarks",
                              .version = "1.0.0",
                              .description = "Bookmarks of users who send a token.",
                              .contact = {.name = "The operator of this service"}});
  document.tag({.name = "bookmarks", .description = "Pages that a user wants to find again."});
  document.problem_types({known_already});
  return document;
}

void add_routes(openapi::Routes routes) {
  routes.get("/", page,
             {.id = "page",
              .summary = "Bookmarks as a page",
              .description = "The newest hundred, as HTML.",
              .replies = {openapi::text_reply(200, "A page.", "text/html")}});
  routes.get("/bookmarks", list,
             {.id = "listBookmarks",
              .summary = "Bookmarks, by id, a page at a time",
              .description = "`after` is the id of the last one of the page before."});
  routes.post("/bookmarks", add,
              {.id = "addBookmark",
               .summary = "Keeps a bookmark",
               .description = "Without a title it has that of its page, if that can be had.",
               .replies = {openapi::json_reply<Bookmark>(201, "It is kept.",
                                                         {{"Location", "Of the bookmark."}})},
               .example = openapi::to_value(NewBookmark{"https://example.org/", {}}),
               .types = {&known_already}});
  routes.patch("/bookmarks/{id}", change,
               {.id = "changeBookmark",
                .summary = "Changes a bookmark",
                .description = "What the content does not name stays (RFC 7396).",
                .problems = {404},
                .replies = {openapi::json_reply<Bookmark>(200, "As it is from here on.")}});
  routes.delete_("/bookmarks/{id}", remove,
                 {.id = "removeBookmark",
                  .summary = "Forgets a bookmark",
                  .description = "For good.",
                  .problems = {404},
                  .replies = {openapi::empty_reply(204, "It is gone.")}});
  const auto events = [](const RequestView& request, Inject<EventTopic> changes) {
    return changes->subscribe(request);
  };
  routes.get("/events", events,
             {.id = "events",
              .summary = "Bookmarks as they are added",
              .description = "Server-sent events, each called `added`.",
              .replies = {openapi::events_reply<Bookmark>("A stream that does not end.")}});
}

}  // namespace

app::ApplicationOptions options() {
  return {.name = "bookmarks",
          .database = app::sqlite(),
          .http_client = true,
          .migrations = embedded::migrations()};
}

void configure(Program& app) {
  app.services([](registry::Registry& registry) {
    registry.singleton<EventTopic>([] { return std::make_unique<EventTopic>(); });
  });
  app.routes([](const registry::Services& services, Router& router) {
    router.deny_by_default();
    router.use(services.get<app::Authentication>().bearer());
    router.use(auth::require(auth::authenticated()));
    openapi::Document document = described();
    add_routes(document.describe(router).tagged("bookmarks"));
    document.serve(router.anonymous());
    openapi::ProblemTypes({known_already}).serve(router.anonymous());
  });
  app.job("titles", jobs::every(seconds(600)), find_titles);
}

}  // namespace bookmarks

// SPDX-License-Identifier: Apache-2.0
