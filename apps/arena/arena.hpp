// The items of the benchmark, and the paths of its profiles.
//
// Owns       an Item all of it; a PricedItem borrows the fields of one.
// Borrows    the routes borrow their arguments, for as long as they are served.
// Thread     the handlers': any reactor's.
// Fails      read_dataset() and open_table() name the mistake and its place.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/described.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/stores/database/database.hpp"

namespace arena {

struct Rating {
  int score = 0, count = 0;
};
KATANA_DESCRIBE(Rating, score, count)

struct Item {
  int id = 0;
  std::string name, category;
  int price = 0, quantity = 0;
  bool active = false;
  std::vector<std::string> tags;
  Rating rating;
};
KATANA_DESCRIBE(Item, id, name, category, price, quantity, active, tags, rating)

katana::Result<std::vector<Item>> read_dataset(const std::string& file);
// /json/{count} of the items, and /static/ of the folder; without them if they are empty.
void add_routes(katana::Router& router, const std::vector<Item>& items, const std::string& folder);

// The table `items` of PostgreSQL, at most `connections_max` at a time, if it is not 0.
katana::Result<katana::database::Database> open_table(const std::string& url,
                                                      unsigned connections_max);
katana::Result<void> add_routes(katana::Router& router, const katana::database::Database& table);

}  // namespace arena

// SPDX-License-Identifier: Apache-2.0
