#include <cstdint>
#include <string>
#include <vector>

#include "katana/base.hpp"
#include "katana/database.hpp"

struct Item {
  std::int64_t id = 0;
  std::string name;
};
KATANA_DESCRIBE(Item, id, name)

katana::Task<katana::Result<std::vector<Item>>> cheaper_than(katana::database::Database& db,
                                                             std::int64_t price) {
  auto items = co_await db.query<Item>(
      "SELECT id, name "
      "FROM items WHERE price < $1",
      price);
  if (!items) co_return std::unexpected(items.error());
  co_return *std::move(items);
}

// SPDX-License-Identifier: Apache-2.0
