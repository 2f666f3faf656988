#include "katana/app/in_transaction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "katana/app/sqlite/sqlite.hpp"
#include "katana/base/system/propagate.hpp"
#include "katana/http/handlers/answer.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/stores/database/found.hpp"
#include "katana/testing/application/test_application.hpp"

namespace katana::testing {

struct Moved {
  std::int64_t to = 0;
};
KATANA_DESCRIBE(Moved, to)

namespace {

using database::Transaction;
using ::testing::HasSubstr;

int transfers = 0;

// Adds a row for `to` and for the number of the path, and refuses some.
Task<Answer<Reply>> move(Transaction& within, Path<std::int64_t> from, Json<Moved> given) {
  ++transfers;
  KATANA_CO_TRY_DONE(co_await within.execute("INSERT INTO places VALUES ($1)", *from));
  if (given->to == 409) co_return problem(409, "The place is reserved.");
  KATANA_CO_TRY_DONE(
      database::not_taken(co_await within.execute("INSERT INTO places VALUES ($1)", given->to)));
  co_return json_reply(Moved{given->to + *from}, 201);
}

Task<Answer<Reply>> list(Inject<database::Database> db) {
  KATANA_CO_TRY(const auto all, co_await db->query<std::int64_t>("SELECT id FROM places"));
  co_return json_reply(all);
}

app::ApplicationOptions options() {
  return {
      .name = "places",
      .config_file = "/nonexistent/places.yaml",
      .database = app::sqlite(),
      .migrations = {{"0001_places.sql", "CREATE TABLE places (id INTEGER PRIMARY KEY) STRICT"}}};
}
void configure_transfers(app::Application<app::SettingsWithDatabase>& program) {
  program.routes([](const registry::Services&, Router& router) {
    router.post("/places/{from}", app::in_transaction(move)).get("/places", list);
  });
}

class InTransaction : public ::testing::Test {
 protected:
  TestReply post(const std::string& from, int to) {
    return app_.post("/places/" + from, fmt::format(R"({{"to":{}}})", to));
  }
  std::string places() { return app_.get("/places").content(); }

  TestApplication app_{options(), configure_transfers};
};

TEST_F(InTransaction, a_handler_that_succeeds_is_committed_before_its_reply_is_sent) {
  const TestReply done = post("1", 2);
  EXPECT_EQ(done.status(), 201) << done;
  EXPECT_EQ(done.content(), R"({"to":3})");
  EXPECT_EQ(places(), "[1,2]");
}

TEST_F(InTransaction, a_handler_that_refuses_or_fails_did_nothing) {
  EXPECT_EQ(post("1", 409).status(), 409);
  const TestReply taken = post("5", 5);
  EXPECT_EQ(taken.status(), 409) << taken;
  EXPECT_THAT(taken.content(), HasSubstr("id has already been taken."));
  EXPECT_EQ(places(), "[]");
}

TEST_F(InTransaction, parameters_are_read_before_it_begins) {
  transfers = 0;
  EXPECT_EQ(post("x", 1).status(), 400);
  EXPECT_EQ(app_.post("/places/1", "{}").status(), 422);
  EXPECT_EQ(transfers, 0);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
