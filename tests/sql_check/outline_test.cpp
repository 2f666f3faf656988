#include "katana_tool/sql/outline.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::tool::sql {
namespace {

Catalog catalog() {
  const SqlType integer{"integer", Storage::integer}, text{"text", Storage::text};
  Catalog made;
  made.tables["a"] = {
      {"id", integer, true, true}, {"name", text, true, false}, {"email", text, false, false}};
  made.tables["b"] = {
      {"id", integer, true, true}, {"a_id", integer, true, false}, {"note", text, true, false}};
  return made;
}

bool never_null(const std::string& expression, const std::string& rest = " FROM a") {
  const Catalog tables = catalog();
  const Outline outline("SELECT " + expression + rest, tables);
  EXPECT_EQ(outline.results().size(), 1u) << expression;
  return outline.results().size() == 1 && outline.never_null(outline.results()[0]);
}

TEST(Outline, proves_that_an_expression_is_never_null) {
  for (const char* expression :
       {"id", "a.id AS x", "count(*)", "count(email)", "length(name) + 1", "coalesce(email, name)",
        "coalesce(email, '')", "email IS NULL", "email IS NOT NULL", "EXISTS (SELECT email FROM a)",
        "NOT EXISTS (SELECT 1)", "'x' || name", "CAST(id AS TEXT)", "id::text",
        "CASE WHEN id > 1 THEN 'a' ELSE name END", "lower(name) n", "1", "CURRENT_TIMESTAMP",
        "ifnull(email, count(*))"}) {
    EXPECT_TRUE(never_null(expression)) << expression;
  }
  EXPECT_TRUE(never_null("max(id)", " FROM a GROUP BY name"));
}

TEST(Outline, does_not_claim_what_may_be_null) {
  for (const char* expression :
       {"email", "lower(email)", "max(id)", "nullif(id, 1)", "id / 2", "id % 2",
        "(SELECT id FROM a)", "CASE WHEN id > 1 THEN 'a' END",
        "CASE WHEN id > 1 THEN email ELSE name END", "$1", "NULL", "coalesce(email, NULL)",
        "unknown", "unknown(id)", "name -> 'x'", "ifnull(email, email)"}) {
    EXPECT_FALSE(never_null(expression)) << expression;
  }
  EXPECT_FALSE(never_null("b.note", " FROM a LEFT JOIN b ON b.a_id = a.id"));
  EXPECT_FALSE(never_null("a.name", " FROM a RIGHT JOIN b ON b.a_id = a.id"));
  EXPECT_FALSE(never_null("a.name", " FROM a FULL OUTER JOIN b ON b.a_id = a.id"));
  EXPECT_TRUE(never_null("a.name", " FROM a LEFT JOIN b ON b.a_id = a.id"));
  EXPECT_FALSE(never_null("y.name", " FROM a x LEFT JOIN a AS y ON y.id = x.id"));
  EXPECT_TRUE(never_null("x.name", " FROM a x LEFT JOIN a AS y ON y.id = x.id"));
}

std::string uses(const std::string& text, std::size_t count) {
  const Catalog tables = catalog();
  std::string all;
  for (const ParameterUse& use : Outline(text, tables).parameters(count)) {
    all += (use.used ? use.column + ":" + std::string(storage_name(use.type.storage)) : "unused") +
           (use.not_null ? "!" : "") + " ";
  }
  return all;
}

TEST(Outline, finds_where_parameters_go) {
  EXPECT_EQ(uses("INSERT INTO b (note, id) VALUES ($1, $2), ($3, 4)", 3),
            "note:text! id:integer note:text! ");
  EXPECT_EQ(uses("INSERT INTO b VALUES ($1, $2, lower($3))", 3), "id:integer a_id:integer! :any ");
  EXPECT_EQ(uses("UPDATE a SET name = $2, email = $3 WHERE id = $1", 3),
            "id:integer name:text! email:text ");
  EXPECT_EQ(uses("SELECT id FROM a WHERE $1 < a.id AND name <> $2 LIMIT $3 OFFSET $4", 4),
            "id:integer name:text :integer :integer ");
  EXPECT_EQ(uses("SELECT id FROM a WHERE id + 1 = $1 AND id = $2 + 1 AND lower(name) = $3", 3),
            ":any :any :any ");
  EXPECT_EQ(uses("SELECT id FROM a WHERE id = $3 OR '$1' = name -- $2", 3),
            "unused unused id:integer ");
  EXPECT_EQ(uses("SELECT x.id FROM b x, a WHERE x.note = $1 AND a.email = $2", 2),
            "note:text email:text ");
}

TEST(Outline, splits_the_result) {
  const Catalog tables = catalog();
  const auto count = [&](const char* text) { return Outline(text, tables).results().size(); };
  EXPECT_EQ(count("SELECT id, coalesce(a, b), (SELECT 1, 2) x FROM a"), 3u);
  EXPECT_EQ(count("WITH x AS (SELECT 1) SELECT DISTINCT id, name FROM a ORDER BY id, name"), 2u);
  EXPECT_EQ(count("INSERT INTO a VALUES (1, 2) RETURNING id, name"), 2u);
  EXPECT_EQ(count("DELETE FROM a"), 0u);
  EXPECT_TRUE(Outline("SELECT a.*, 1 FROM a", tables).has_star());
  EXPECT_FALSE(Outline("SELECT count(*), 2 * 3 FROM a", tables).has_star());
  EXPECT_TRUE(Outline("SELECT id FROM a UNION SELECT id FROM b", tables).is_compound());
}

TEST(Outline, of_what_is_no_sql_finds_nothing_and_ends) {
  const Catalog tables = catalog();
  for (const char* text :
       {"", "(", ")", "SELECT", "SELECT ,", "LEFT JOIN", "RIGHT JOIN a", "INSERT INTO",
        "INSERT INTO a VALUES (", "INSERT INTO a (", "UPDATE a SET =", ". . .", "'", "/*",
        "$1 = $1", "= $1", "SELECT a.", "LIMIT $0"}) {
    const Outline outline(text, tables);
    (void)outline.parameters(1);
    for (const Outline::Range& each : outline.results()) {
      if (each.begin < each.end) (void)outline.never_null(each);
    }
  }
}

}  // namespace
}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
