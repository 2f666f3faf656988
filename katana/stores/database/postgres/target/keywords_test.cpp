#include "katana/stores/database/postgres/target/keywords.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "katana/base/system/source_tree_test.hpp"

namespace katana::database::postgres::target {
namespace {

std::string handling_name(Handling handling) {
  switch (handling) {
    case Handling::used: return "used";
    case Handling::ignored: return "no effect";
    default: return "refused";
  }
}

constexpr std::string_view page_begin = R"(# Parameters of PostgreSQL connections

Look up how KATANA treats each keyword of a connection string of libpq 15 to 18. The module
`stores/database/postgres/target` reads connection strings, the service file, the environment and
the password file, in libpq's order. The URL of a database may have fewer keywords: [the
guide](../guides/postgres.md#connect-to-the-server) names those that it refuses.

- used: the value changes the connection.
- no effect: the value is accepted. Without it the connection is as secure.
- refused: a value is an error, which names the keyword.

This page is drawn from the table in `katana/stores/database/postgres/target/keywords.cpp`. To draw
it again, run the tests of that folder with `KATANA_UPDATE=1`.

| keyword | variable | default | libpq | treatment | notes |
|---|---|---|---|---|---|
)";
constexpr std::string_view page_end = R"(
The older forms `requiressl=1` and `ssl=true` (in a URL) mean `sslmode=require`, and so does the
variable `PGREQUIRESSL=1`. `PGTZ` and `PGGEQO` set `TimeZone` and `geqo` of the session.

## Differences to libpq

- White space in a URL is read as by libpq 18. Spaces around a part do not count, and a space within
  one is `%20`.
- Every value is checked before the first server is tried. An error names the source of the value.
- If a server closes the connection during the start, the next address is tried. libpq ends there.
- A login that is refused with TLS is not repeated without it, whatever `sslmode` is.
- `PGDATESTYLE` has no effect: KATANA reads dates in one form. `PGCLIENTENCODING` is refused unless
  it is UTF-8.
- A line of a service file that asks LDAP is refused.
)";

std::string draw_parameters() {
  std::ostringstream page;
  page << page_begin;
  for (const KeywordFacts& each : keywords()) {
    page << "| `" << each.name << "` | ";
    if (each.environment != nullptr) page << "`" << each.environment << "`";
    page << " | ";
    if (each.fallback != nullptr && *each.fallback != '\0') page << "`" << each.fallback << "`";
    page << " | " << (each.since == 0 ? "all" : std::to_string(each.since)) << " | "
         << handling_name(each.handling) << " | " << each.note << " |\n";
  }
  page << page_end;
  return page.str();
}

TEST(PostgresKeywords, the_page_of_the_reference_is_drawn_from_the_table) {
  expect_drawn("docs/reference/postgres-parameters.md", draw_parameters());
}

TEST(PostgresKeywords, a_keyword_is_found_by_its_exact_name) {
  for (const KeywordFacts& each : keywords()) {
    EXPECT_EQ(find_keyword(each.name), each.keyword);
    EXPECT_EQ(&facts_of(each.keyword), &keywords()[static_cast<std::size_t>(each.keyword)]);
    EXPECT_TRUE(each.note.ends_with('.')) << each.name;
  }
  EXPECT_FALSE(find_keyword("SSLMODE"));
  EXPECT_FALSE(find_keyword(""));
}

TEST(PostgresKeywords, no_keyword_that_guards_a_connection_is_ignored) {
  for (const Keyword each :
       {Keyword::sslmode, Keyword::sslrootcert, Keyword::sslcrl, Keyword::sslcrldir,
        Keyword::sslcertmode, Keyword::requirepeer, Keyword::require_auth, Keyword::channel_binding,
        Keyword::ssl_min_protocol_version, Keyword::gssencmode, Keyword::scram_client_key,
        Keyword::sslkeylogfile}) {
    EXPECT_NE(facts_of(each).handling, Handling::ignored) << facts_of(each).name;
  }
}

}  // namespace
}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
