// FakePostgres: a PostgreSQL that the program's driver reaches in a test, in virtual time. It gives
// scripted answers, and makes the faults that a test asks for.
//
//   testing::FakePostgres postgres(app, "postgresql://app@db.example/shop");
//   postgres.answer("SELECT id, name FROM users WHERE id = $1",
//                   {.parameters = {PgType::int8},
//                    .columns = {{"id", PgType::int8}, {"name", PgType::text}},
//                    .reply = [](const FakeStatement& s) {
//                      return FakeReply{.rows = {{s.values[0], "Ada"}}};
//                    }});
//   app.use_database([&](const app::DatabaseSettings& settings) {
//     return postgres.open(*app::postgres_options(settings));
//   });
//   postgres.conflict_next(2);                    // two commits fail by 40001
//   EXPECT_EQ(app.post("/users", user).status(), 201u);
//
// The driver is the real one: its pools, pipelines, transactions, retries, timeouts, probes and
// back-off. TLS, authentication, name resolution, migrations, LISTEN and COPY are left out. The
// fake executes no SQL: a statement has the answer that was given for its text. BEGIN, COMMIT,
// ROLLBACK, savepoints, SET, DEALLOCATE and the driver's own questions have theirs.
//
// Owns       the script, the received statements, and the server's end of connections.
// Borrows    the TestServer, which must outlive it.
// Thread     the test's. Replies are made within turns.
// Allocates  for each statement.
// Fails      problem() names the mistake in the URL. A statement without an answer gets an error
//            that has its text. A value that does not fit its column fails its statement by 42804.
// Invariant  on_commit of a reply is called once, when the transaction commits, and before the
//            server says so; never, when it does not commit. The same seed and calls give the same
//            run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/postgres/options.hpp"
#include "katana/testing/postgres/fake/fake_answer.hpp"
#include "katana/testing/world_server.hpp"

namespace katana::testing {

class TestServer;

class FakePostgres final : public WorldServer {
 public:
  // `url`: one host or several, as in database.url. The first one is the primary; the others are
  // standbys.
  FakePostgres(TestServer& server, const std::string& url);
  // One server of a world, which its nodes share: World::add_server<FakePostgres>("postgres"). Give
  // it to a node by NodeOptions::database, which calls open().
  explicit FakePostgres(TestHost host);
  // Resets connections. Further attempts to connect are refused.
  ~FakePostgres() override;

  std::string_view kind() const noexcept override { return "postgresql"; }
  std::uint16_t port() const noexcept override;
  // Empty: it can be used.
  const std::string& problem() const noexcept;

  // A database of these servers, for a program or for handlers. Members of the options that a fake
  // has no use for are dropped: migrations, password, TLS.
  Result<database::Database> open(database::postgres::Options options) const;
  // The same with default options.
  Result<database::Database> open() const;

  // ---- the script

  // Gives statements of this text their answer; an earlier one is replaced. Spaces and line ends
  // count as one space.
  void answer(const std::string& text, FakeAnswer answer);
  // The same, with the same rows each time.
  void answer_rows(const std::string& text, std::vector<FakeColumn> columns,
                   std::vector<FakeRow> rows);

  // ---- what the servers have seen

  // Scripted statements, in the order of their execution.
  const std::vector<FakeStatement>& statements() const noexcept;
  void forget_statements() noexcept;
  std::size_t commits() const noexcept;      // of BEGIN … COMMIT, with success
  std::size_t connections() const noexcept;  // that are open
  std::size_t logins() const noexcept;       // sessions that were begun, since the start

  // ---- faults; each holds from now on.
  // A server executes the complete messages that it has received, even when their connection has
  // ended or was reset while a fault held them. Then they are not answered.

  // Scripted statements, and COMMIT, are answered so much later.
  void delay(Duration time) noexcept;
  // The next scripted statements fail.
  void fail_next(unsigned count, std::string sqlstate, std::string message = "a scripted error");
  // The next COMMITs undo their transaction: could not serialize access.
  void conflict_next(unsigned count) noexcept;
  // Resets the connection behind this many further bytes of all servers; once. 0: instead of the
  // next byte.
  void reset_after_sent(std::size_t bytes) noexcept;
  // Resets the connection once so many further bytes of clients were read; once.
  void reset_after_received(std::size_t bytes) noexcept;
  // The next sessions are refused: "the database system is starting up".
  void refuse_logins(unsigned count, std::string sqlstate = "57P03");
  // Accepts connections and bytes, and answers nothing, until go_on(). Then it answers all of it.
  void hang() noexcept;
  void go_on();
  // One server, or all of them: resets connections, loses what was not executed, and refuses
  // further connections until come_back().
  void go_down(std::size_t server);
  void go_down() override;
  void come_back(std::size_t server);
  void come_back() override;
  // Makes this server the primary, and the others standbys. Sessions stay, and are told of it.
  void fail_over(std::size_t to);
  // The next server is the primary; of a single one the connections are reset. Loses nothing.
  std::string fail_over() override;
  // Ends all faults. The roles of the servers stay.
  void heal();

 private:
  struct Core;
  std::unique_ptr<Core> core_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
