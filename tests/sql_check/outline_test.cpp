#include "katana_tool/sql/outline.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::tool::sql {
namespace {

Catalog catalog(Language language = Language::sqlite) {
  const SqlType integer{"integer", Storage::integer}, text{"text", Storage::text};
  Catalog made;
  made.language = language;
  made.tables["a"] = {
      {"id", integer, true, true}, {"name", text, true, false}, {"email", text, false, false}};
  made.tables["b"] = {
      {"id", integer, true, true}, {"a_id", integer, true, false}, {"note", text, true, false}};
  return made;
}

bool never_null(const std::string& expression, const std::string& rest = " FROM a",
                Language language = Language::sqlite) {
  const Catalog tables = catalog(language);
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

TEST(Outline, proves_that_a_subquery_of_one_row_is_never_null) {
  for (const char* expression :
       {"(SELECT count(*) FROM b)", "(SELECT count(*) FROM b WHERE b.a_id = a.id) AS n",
        "(SELECT count(*) FROM b)::text", "(SELECT coalesce(sum(id), 0) FROM b)",
        "(SELECT coalesce(max(b.id), 0) + 1 AS next FROM b WHERE note = $1)",
        "(SELECT concat('x', count(DISTINCT note)) FROM b)", "(SELECT 1)", "(SELECT a.name)",
        "coalesce((SELECT email FROM a WHERE id = $1), '')", "coalesce(email, 1)",
        "EXISTS (SELECT 1 FROM b WHERE a_id = a.id) AS has", "(EXISTS (SELECT 1 FROM b))",
        "CASE WHEN EXISTS (SELECT 1 FROM b) THEN 1 ELSE 0 END",
        "(SELECT count(*) FILTER (WHERE note = 'x') FROM b)",
        "(SELECT count(*) FROM (SELECT id FROM b LIMIT 3))", "((SELECT count(*) FROM b) + 1)"}) {
    EXPECT_TRUE(never_null(expression)) << expression;
    EXPECT_TRUE(never_null(expression, " FROM a", Language::postgres)) << expression;
  }
  for (const char* expression :
       {"(SELECT count(*) FROM b GROUP BY note)", "(SELECT count(*) FROM b HAVING count(*) > 1)",
        "(SELECT count(*) FROM b LIMIT 1 OFFSET 1)", "(SELECT count(*) OVER () FROM b)",
        "(SELECT note FROM b)", "(SELECT max(id) FROM b)", "(SELECT max(id, 1) FROM b)",
        "(SELECT 1 FROM b)", "(SELECT 1 WHERE $1 > 2)", "(SELECT b.id + count(*) FROM b)",
        "(SELECT count(*) FROM b UNION SELECT email FROM a)", "(SELECT count(a.id) FROM b)",
        "(SELECT count(email) FROM b)", "(SELECT email)", "coalesce((SELECT email FROM a), $1)"}) {
    EXPECT_FALSE(never_null(expression)) << expression;
    EXPECT_FALSE(never_null(expression, " FROM a", Language::postgres)) << expression;
  }
}

TEST(Outline, knows_which_functions_of_json_are_never_null) {
  for (const char* expression :
       {"json_object('id', id, 'email', email, 'n', (SELECT count(*) FROM b))", "json_array(email)",
        "json_group_array(email)", "json_group_object(name, email)", "json_quote(email)",
        "(SELECT json_group_array(json_object('note', note, 'x', $1)) FROM b)",
        "(SELECT json_group_array(note ORDER BY note) FROM b WHERE a_id = a.id)",
        "(SELECT json_group_array(value) FROM json_each(email))",
        "(SELECT json_group_array(id) FROM (SELECT id FROM made ORDER BY id LIMIT $1))",
        "json_object('inner', json_object('email', email))",
        "json((SELECT json_group_array(email) FROM a))"}) {
    EXPECT_TRUE(never_null(expression)) << expression;
  }
  for (const char* expression :
       {"json(email)", "json_extract(name, '$')", "(SELECT json_object('n', note) FROM b)",
        "(SELECT json_agg(note) FROM b)", "json_build_object('a', 1)"}) {
    EXPECT_FALSE(never_null(expression)) << expression;
  }
  const auto in_postgres = [](const std::string& expression, const std::string& rest = " FROM a") {
    return never_null(expression, rest, Language::postgres);
  };
  for (const char* expression :
       {"jsonb_build_object('id', id, 'email', email)", "json_build_array(email, $1)",
        "ARRAY(SELECT email FROM a)", "ARRAY[id, 1]", "coalesce(json_agg(email), '[]')",
        "(SELECT coalesce(jsonb_agg(jsonb_build_object('n', note)), '[]'::jsonb) FROM b)",
        "to_jsonb(name)", "interval '1 day'"}) {
    EXPECT_TRUE(in_postgres(expression)) << expression;
  }
  EXPECT_TRUE(in_postgres("json_agg(email)", " FROM a GROUP BY name"));
  for (const char* expression :
       {"json_agg(email)", "(SELECT jsonb_agg(note) FROM b)", "to_jsonb(email)",
        "json_object('{a,b}', email)", "jsonb_build_object(VARIADIC $1)", "array_agg(id)",
        "json_group_array(id)", "ARRAY[1, 2][3]"}) {
    EXPECT_FALSE(in_postgres(expression)) << expression;
  }
  EXPECT_FALSE(in_postgres("json_agg(email) FILTER (WHERE id > 1)", " FROM a GROUP BY name"));
}

TEST(Outline, asks_of_a_case_for_its_values_alone) {
  for (const char* expression :
       {"CASE WHEN email = 'x' THEN 1 ELSE 2 END", "(CASE email WHEN $1 THEN name ELSE '' END)",
        "CASE WHEN id = 1 THEN CASE WHEN email = '' THEN 1 ELSE 2 END ELSE 3 END",
        "CASE WHEN id = 1 THEN 1 ELSE 2 END + 1", "email IS NULL AND id > 1"}) {
    EXPECT_TRUE(never_null(expression)) << expression;
  }
  for (const char* expression :
       {"CASE WHEN id = 1 THEN CASE WHEN id = 2 THEN 1 END ELSE 2 END",
        "CASE WHEN id = 1 THEN 1 ELSE email END", "email = 'x' AND name IS NULL",
        "CASE WHEN id = 1 THEN 1 ELSE 2", "CASE"}) {
    EXPECT_FALSE(never_null(expression)) << expression;
  }
}

TEST(Outline, of_one_row_for_all_rows_has_columns_that_are_null_of_none) {
  const Catalog tables = catalog();
  const Outline outline("SELECT count(*), name, max(id, 1) FROM a", tables);
  EXPECT_TRUE(outline.aggregates_all());
  EXPECT_TRUE(outline.never_null(outline.results()[0]));
  EXPECT_FALSE(outline.never_null(outline.results()[1]));
  for (const char* text : {"SELECT count(*), name FROM a GROUP BY name", "SELECT max(id, 1) FROM a",
                           "SELECT name, count(*) OVER () FROM a", "SELECT name FROM a",
                           "SELECT name, (SELECT count(*) FROM b) FROM a"}) {
    EXPECT_FALSE(Outline(text, tables).aggregates_all()) << text;
  }
}

TEST(Outline, proves_what_windows_and_the_clock_give) {
  for (const char* expression : {"row_number() OVER (ORDER BY email)", "count(*) OVER w",
                                 "count(email) FILTER (WHERE id > 1)", "datetime('now')",
                                 "unixepoch()", "strftime('%s', 'now', 'utc')"}) {
    EXPECT_TRUE(never_null(expression)) << expression;
  }
  for (const char* expression : {"lag(id) OVER (ORDER BY id)", "sum(id) OVER ()", "date(name)",
                                 "datetime('now', $1)", "strftime(name, 'now')"}) {
    EXPECT_FALSE(never_null(expression)) << expression;
  }
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
