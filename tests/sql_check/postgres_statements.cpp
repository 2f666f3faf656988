// Statements of PostgreSQL alone. The expected finding of a line stands below it.
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/values/decimal.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/stores/database/database.hpp"

namespace sql_check {
namespace {

using katana::Decimal;
using katana::Task;
using katana::Timestamp;
using katana::Uuid;
using katana::database::Database;

enum class Mood { glad, sad };
KATANA_DESCRIBE_ENUM(Mood, glad, sad)

struct Extra {
  std::int64_t id = 0;
  std::vector<std::string> tags;
  Mood mood = Mood::glad;
  Timestamp made;
  Decimal price;
};
KATANA_DESCRIBE(Extra, id, tags, mood, made, price)

struct Place {
  std::string street;
  std::optional<std::int64_t> zip;
};
KATANA_DESCRIBE(Place, street, zip)

struct Home {
  std::int64_t id = 0;
  std::optional<Place> place;
  std::vector<Place> others;
};
KATANA_DESCRIBE(Home, id, place, others)

struct WrongHome {
  std::int64_t place = 0;
};
KATANA_DESCRIBE(WrongHome, place)

struct WrongExtra {
  std::int64_t tags = 0;
  std::int64_t mood = 0;
  Uuid made;
  double price = 0;
};
KATANA_DESCRIBE(WrongExtra, tags, mood, made, price)

}  // namespace

Task<void> right_in_postgres(Database& db) {
  (void)co_await db.query<Extra>("SELECT id, tags, mood, made, price FROM extras WHERE id = $1", 1);
  (void)co_await db.execute("UPDATE extras SET tags = $1 WHERE id = $2",
                            std::vector<std::string>{"a"}, 1);
  (void)co_await db.query_one<Uuid>("SELECT token FROM users WHERE id = $1::bigint", 1);
  (void)co_await db.execute("UPDATE extras SET mood = $1, made = $2, price = $3 WHERE id = $4",
                            Mood::sad, Timestamp(), Decimal(), 1);
  (void)co_await db.query_one<std::string>(
      "SELECT array_to_string(tags, ',') AS t FROM extras WHERE id = $1", 1);
  // want unproved_null: column 't'
}

Task<void> json_in_postgres(Database& db) {
  (void)co_await db.query_one<std::string>(
      "SELECT jsonb_build_object('id', id, 'email', email, 'totals',"
      " (SELECT json_agg(total) FROM orders WHERE user_id = users.id))"
      " FROM users WHERE id = $1",
      1);
  (void)co_await db.query_one<std::tuple<std::string, std::int64_t>>(
      "SELECT (SELECT coalesce(json_agg(o.total), '[]') FROM orders o WHERE o.user_id = u.id),"
      " (SELECT count(*) FROM orders o WHERE o.user_id = u.id) FROM users u WHERE u.id = $1",
      1);
  (void)co_await db.query_one<std::string>(
      "SELECT (SELECT json_agg(total) FROM orders WHERE user_id = u.id) AS j FROM users u"
      " WHERE u.id = $1",
      1);
  // want-above 3 unproved_null: column 'j'
  (void)co_await db.query_one<std::string>("SELECT to_json(email) AS j FROM users WHERE id = $1",
                                           1);
  // want-above 2 unproved_null: column 'j'
}

Task<void> composites_in_postgres(Database& db) {
  (void)co_await db.query<Home>("SELECT id, place, others FROM homes WHERE id = $1", 1);
  (void)co_await db.execute("INSERT INTO homes VALUES ($1, $2, $3)", Home());
}

Task<void> wrong_in_postgres(Database& db) {
  (void)co_await db.query<WrongExtra>(
      "SELECT tags, "
      "mood, "
      "made, "
      "price FROM extras WHERE id = $1",
      1);
  // want-above 5 column_type: column 'tags' is text[], and
  // want-above 4 column_type: column 'mood' is mood
  // want-above 3 column_type: make it katana::Timestamp, katana::Date or std::string
  // want-above 2 column_type: make it katana::Decimal or std::string
  (void)co_await db.execute("UPDATE users SET token = $1 WHERE id = $2", Timestamp(), 1);
  // want parameter_type: parameter $1 is uuid
  (void)co_await db.query_one<std::int64_t>("SELECT id FROM users WHERE name = 1");
  // want refused: operator does not exist
  (void)co_await db.query_one<std::int64_t>("SELECT id FROM users WHERE id = $2", 1, 2);
  // want refused: could not determine data type of parameter $1
}

}  // namespace sql_check

// SPDX-License-Identifier: Apache-2.0
