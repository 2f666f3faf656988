// A bank whose accounts are in a FakePostgres of two servers.
//
// Thread     the test's.
// Allocates  yes.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/testing/postgres/fake/fake_postgres.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {

struct FakeAccount {
  std::int64_t id = 0;
  std::string owner;
  std::int64_t balance = 0;
  bool open = false;
};
KATANA_DESCRIBE(FakeAccount, id, owner, balance, open)
struct FakeNumber {
  std::int64_t id = 0;
};
KATANA_DESCRIBE(FakeNumber, id)

inline constexpr const char* fake_url =
    "postgresql://app@db1.example,db2.example/bank?target_session_attrs=read-write";

// A server of handlers over that database. The script keeps the balance of one account, and the
// payments that have taken effect.
struct FakeBankService {
  explicit FakeBankService(TestOptions how) : server(service(), std::move(how)) {
    postgres.answer("SELECT id, owner, balance, open FROM accounts WHERE id = $1",
                    {.parameters = {PgType::int8},
                     .columns = {{"id", PgType::int8},
                                 {"owner", PgType::text},
                                 {"balance", PgType::int4},
                                 {"open", PgType::boolean}},
                     .reply = [this](const FakeStatement& statement) {
                       return FakeReply{
                           .rows = {{statement.values.at(0), "Ada", std::to_string(balance), "t"}}};
                     }});
    postgres.answer("UPDATE accounts SET balance = balance - $1 WHERE id = 7",
                    {.parameters = {PgType::int8}, .reply = [this](const FakeStatement& statement) {
                       const std::int64_t amount = std::stoll(*statement.values.at(0));
                       if (commit_delay > Duration{}) {
                         postgres.delay(std::exchange(commit_delay, Duration{}));
                       }
                       return FakeReply{.on_commit = [this, amount] { balance -= amount; }};
                     }});
    postgres.answer("INSERT INTO payments (id) VALUES ($1)",
                    {.parameters = {PgType::int8}, .reply = [this](const FakeStatement& statement) {
                       const std::int64_t id = std::stoll(*statement.values.at(0));
                       return FakeReply{.on_commit = [this, id] { ++payments[id]; }};
                     }});
    auto options = database::postgres::Options::from_url(fake_url);
    EXPECT_TRUE(options) << options.error().describe();
    options->timeout = seconds(10);  // before that of a handler
    auto opened = postgres.open(*std::move(options));
    EXPECT_TRUE(opened) << opened.error().describe();
    if (opened) database.emplace(*std::move(opened));
  }

  Result<Service> service() {
    Router router;
    router.get("/account/{id}", [this](Path<std::int64_t> id) -> Task<Result<Reply>> {
      auto found = co_await database->query_one<FakeAccount>(
          "SELECT id, owner, balance, open FROM accounts WHERE id = $1", *id);
      if (!found) co_return note(found.error());
      if (!*found) co_return Reply::no_content();
      co_return json_reply(**found);
    });
    router.get("/unknown", [this]() -> Task<Result<Reply>> {
      auto found = co_await database->query<FakeNumber>("SELECT 2 AS id");
      if (!found) co_return note(found.error());
      co_return json_reply(*found);
    });
    router.post("/pay/{id}", [this](Path<std::int64_t> id) -> Task<Result<Reply>> {
      auto body = [&](database::Transaction& t) -> Task<database::Result<std::int64_t>> {
        auto noted = co_await t.execute("INSERT INTO payments (id) VALUES ($1)", *id);
        if (!noted) co_return noted;
        co_return co_await t.execute("UPDATE accounts SET balance = balance - $1 WHERE id = 7",
                                     std::int64_t{10});
      };
      auto paid = co_await database::transact(*database, body);
      if (!paid) co_return note(paid.error());
      co_return Reply::no_content();
    });
    return std::move(router).build();
  }

  Result<Reply> note(const database::Error& error) {
    last_error = error.describe();
    last_kind = error.kind();
    return Reply(500, "text/plain",
                 Text(std::string(database::kind_name(last_kind)) + ": " + last_error));
  }

  std::int64_t balance = 100;
  Duration commit_delay{};  // what the next UPDATE sets: the first to wait is its COMMIT
  std::map<std::int64_t, int> payments;  // by id: how often it took effect
  std::string last_error;
  database::Kind last_kind = database::Kind::syntax;
  std::optional<database::Database> database;
  TestServer server;
  FakePostgres postgres{server, fake_url};
};

class FakeBank : public ::testing::Test, public FakeBankService {
 protected:
  FakeBank() : FakeBankService(TestOptions{}) {}
  TestReply pay() { return server.post("/pay/" + std::to_string(++last_id), ""); }
  std::int64_t last_id = 0;
};

// Payments of one seed, among faults.
class FakeBankRun {
 public:
  explicit FakeBankRun(std::uint64_t seed)
      : random_(seed), bank_(TestOptions{.faults = faults_of(seed), .seed = seed}) {}

  void run();
  // Empty: each payment took effect once if it was acknowledged, and never twice.
  const std::string& mistake() const noexcept { return mistake_; }
  const std::string& summary() const noexcept { return summary_; }

 private:
  static engine::SimFaults faults_of(std::uint64_t seed);
  void make_fault();
  void judge(std::int64_t id, const TestReply& reply);

  Random random_;
  FakeBankService bank_;
  std::string mistake_;
  std::string summary_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
