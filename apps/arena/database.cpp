#include <algorithm>
#include <utility>

#include "arena/arena.hpp"
#include "katana/cache.hpp"
#include "katana/data/container/as_json.hpp"
#include "katana/http.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

namespace arena {
namespace {

using namespace katana;
using database::Database;
using ItemCache = cache::Cache<std::int64_t, Item>;

struct Row {
  int id = 0;
  std::string name, category;
  int price = 0, quantity = 0;
  bool active = false;
  container::AsJson<std::vector<std::string>> tags;
  int rating_score = 0, rating_count = 0;
};
KATANA_DESCRIBE(Row, id, name, category, price, quantity, active, tags, rating_score, rating_count)

struct Items {
  std::vector<Item> items;
  std::size_t count = 0;
};
KATANA_DESCRIBE(Items, items, count)

struct ListedItems {
  std::vector<Item> items;
  std::size_t total = 0;
  int page = 1, limit = 10;
};
KATANA_DESCRIBE(ListedItems, items, total, page, limit)

struct Prices {
  int min = 10, max = 50, limit = 50;
};
KATANA_DESCRIBE(Prices, min, max, limit)

struct Listing {
  std::string category = "electronics";
  int page = 1, limit = 10;
};
KATANA_DESCRIBE(Listing, category, (page, range(1, 1'000'000)), limit)

struct Change {
  std::string name, category;
  int price = 0, quantity = 0;
};
KATANA_DESCRIBE(Change, (name, required), (category, required), (price, required),
                (quantity, required))

struct NewItem : Change {
  int id = 0;
};
KATANA_DESCRIBE_DERIVED(NewItem, Change, (id, required))

Item item_of(Row&& row) {
  return {.id = row.id,
          .name = std::move(row.name),
          .category = std::move(row.category),
          .price = row.price,
          .quantity = row.quantity,
          .active = row.active,
          .tags = std::move(row.tags.value),
          .rating = {.score = row.rating_score, .count = row.rating_count}};
}

std::vector<Item> items_of(std::vector<Row>&& rows) {
  std::vector<Item> items;
  items.reserve(rows.size());
  for (Row& row : rows) items.push_back(item_of(std::move(row)));
  return items;
}

int at_most_50(int limit) { return std::clamp(limit, 1, 50); }

// Without a database there are no items: the profile wants it so.
Task<Result<Json<Items>>> find_by_price(const Database& db, Prices prices) {
  auto rows = co_await db.query<Row>(
      "SELECT id, name, category, price, quantity, active, tags, rating_score, rating_count "
      "FROM items WHERE price BETWEEN $1 AND $2 LIMIT $3",
      prices.min, prices.max, at_most_50(prices.limit));
  if (!rows && rows.error().kind() != database::Kind::unavailable) {
    co_return std::unexpected(rows.error());
  }
  Items found;
  if (rows) found.items = items_of(*std::move(rows));
  found.count = found.items.size();
  co_return Json(std::move(found));
}

Task<Result<std::optional<Item>>> load(const Database& db, std::int64_t id) {
  auto row = co_await db.query_one<Row>(
      "SELECT id, name, category, price, quantity, active, tags, rating_score, rating_count "
      "FROM items WHERE id = $1",
      id);
  if (!row) co_return std::unexpected(row.error());
  if (!*row) co_return std::nullopt;
  co_return item_of(**std::move(row));
}

Task<Result<Reply>> find(const Database& db, ItemCache cache, std::int64_t id) {
  const bool is_known = cache.get(id).is_known();
  const auto item =
      co_await cache.get_or_load(id, [&db](std::int64_t key) { return load(db, key); });
  if (!item) co_return std::unexpected(item.error());
  if (!*item) co_return problem(404, "There is no such item.");
  co_return json_reply(**item).with("X-Cache", is_known ? "HIT" : "MISS");
}

Task<Result<Json<ListedItems>>> list(const Database& db, Listing listing) {
  const int limit = at_most_50(listing.limit);
  auto rows = co_await db.query<Row>(
      "SELECT id, name, category, price, quantity, active, tags, rating_score, rating_count "
      "FROM items WHERE category = $1 ORDER BY id LIMIT $2 OFFSET $3",
      listing.category, limit, std::int64_t{listing.page - 1} * limit);
  if (!rows) co_return std::unexpected(rows.error());
  ListedItems listed{
      .items = items_of(*std::move(rows)), .total = 0, .page = listing.page, .limit = limit};
  listed.total = listed.items.size();
  co_return Json(std::move(listed));
}

Task<Result<Reply>> change(const Database& db, ItemCache cache, std::int64_t id, Change to) {
  const auto changed = co_await db.execute(
      "UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = $1", id,
      to.name, to.category, to.price, to.quantity);
  if (!changed) co_return std::unexpected(changed.error());
  if (*changed == 0) co_return problem(404, "There is no such item.");
  cache.remove(id);
  co_return json_reply(to);
}

Task<Result<Reply>> add(const Database& db, ItemCache cache, NewItem item) {
  const auto added = co_await db.execute(
      "INSERT INTO items (id, name, category, price, quantity, active, tags, rating_score, "
      "rating_count) VALUES ($1, $2, $3, $4, $5, true, '[\"bench\"]', 0, 0) "
      "ON CONFLICT (id) DO UPDATE SET name = $2, price = $4, quantity = $5",
      item.id, item.name, item.category, item.price, item.quantity);
  if (!added) co_return std::unexpected(added.error());
  cache.remove(item.id);
  co_return json_reply(item, 201);
}

}  // namespace

Result<Database> open_table(const std::string& url, unsigned connections_max) {
  auto options = database::postgres::Options::from_url(url);
  if (!options) return std::unexpected(options.error());
  const unsigned most = connections_max != 0 ? connections_max : options->connections_max;
  options->connections_max = std::min(options->connections_max, most);
  return database::postgres::open(*std::move(options));
}

Result<void> add_routes(Router& router, const Database& table) {
  auto cache = ItemCache::make(
      {.name = "items", .ttl = milliseconds(200), .negative_ttl = {}, .ttl_jitter_percent = 0});
  if (!cache) return std::unexpected(cache.error());
  router.get("/async-db", [&table](Query<Prices> prices) { return find_by_price(table, *prices); });
  router.group("/crud/items")
      .get("/{id}", [&table, items = *cache](Path<int> id) { return find(table, items, *id); })
      .put("/{id}", [&table, items = *cache](
                        Path<int> id, Json<Change> to) { return change(table, items, *id, *to); })
      .get("", [&table](Query<Listing> listing) { return list(table, *listing); })
      .post("", [&table, items = *cache](Json<NewItem> item) { return add(table, items, *item); });
  return {};
}

}  // namespace arena

// SPDX-License-Identifier: Apache-2.0
