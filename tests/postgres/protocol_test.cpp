// The machines of wire/postgres beside libpq, with the same PostgreSQL server. The same statements
// have the same columns, values, tags, errors, notices and states. Other tests need a server's own
// behaviour: passwords, channel binding, cancellation, and a limit that holds.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/wire/tls/client_test.hpp"
#include "tests/postgres/protocol_client_test.hpp"

namespace katana::postgres {
namespace {

using database::postgres::Cluster;

constexpr const char* known_password = "correct horse";
constexpr const char* letters =
    "Gr\xc3\xb6\xc3\x9f"
    "e \xd0\xbf\xe5\xaf\x86";

// A server with TLS, and a user for each method of authentication.
class PostgresProtocol : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Cluster& cluster = Cluster::shared();
    show_certificate();
    std::ofstream(cluster.folder() + "/data/pg_hba.conf")
        << "local all katana trust\nhost all katana 127.0.0.1/32 trust\n"
           "local all scram_user scram-sha-256\nhost all scram_user 127.0.0.1/32 scram-sha-256\n"
           "local all letters_user scram-sha-256\nlocal all md5_user md5\nlocal all plain_user "
           "password\nlocal all trusted_user trust\n"
           "local all refused_user reject\n";
    (void)cluster.ask("ALTER SYSTEM SET ssl = on");
    (void)cluster.ask("SELECT pg_reload_conf()");
    for (const char* user : {"scram_user", "plain_user", "trusted_user", "refused_user"}) {
      (void)cluster.ask(fmt::format("CREATE ROLE {} LOGIN PASSWORD '{}'", user, known_password));
    }
    (void)cluster.ask(fmt::format(
        "SET password_encryption = md5; CREATE ROLE md5_user LOGIN PASSWORD '{}'", known_password));
    // SASLprep leaves these letters as they are.
    (void)cluster.ask(fmt::format("CREATE ROLE letters_user LOGIN PASSWORD '{}'", letters));
    database_ = cluster.options().database;
  }

  static void show_certificate() {
    const Cluster& cluster = Cluster::shared();
    const tls::TestCertificate shown;
    struct stat of{};
    ASSERT_EQ(::stat((cluster.folder() + "/data").c_str(), &of), 0);
    for (const auto& [name, text] : {std::pair("server.key", shown.key_text()),
                                     std::pair("server.crt", shown.certificate_text())}) {
      const std::string path = cluster.folder() + "/data/" + name;
      std::ofstream(path) << text;
      ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
      ASSERT_EQ(::chown(path.c_str(), of.st_uid, of.st_gid), 0);
    }
  }

  static ProtocolClient::Where local() {
    return {.folder = Cluster::shared().folder(), .port = Cluster::shared().port()};
  }
  static ProtocolClient::Where remote() { return {.port = Cluster::shared().port()}; }
  static StartupOptions options(Bytes user) {
    StartupOptions made;
    made.user = user;
    made.database = database_;
    made.tls = TlsStart::off;
    return made;
  }
  static StartupOptions trusting() {
    StartupOptions made = options("katana");
    made.methods.nothing = true;
    return made;
  }
  static std::string libpq_text() {
    return fmt::format("host={} port={} user=katana dbname={}", Cluster::shared().folder(),
                       Cluster::shared().port(), database_);
  }

  static std::string database_;
};
std::string PostgresProtocol::database_;

// Without what differs between two sessions: the numbers of their tables and temporary schemas.
std::string normal(const std::string& results) {
  static const std::regex table(R"((columns| )(\S*):(\d+):(1[6-9]\d{3}|[2-9]\d{4}):)");
  static const std::regex schema(R"(pg_temp_\d+)");
  return std::regex_replace(std::regex_replace(results, table, "$1$2:$3:table:"), schema,
                            "pg_temp");
}

// Runs each by both, in the simple protocol.
void expect_same(ProtocolClient& ours, LibpqClient& theirs, const std::vector<std::string>& all) {
  for (const std::string& sql : all) {
    const ProtocolLog expected = theirs.query(sql);
    EXPECT_EQ(ours.query(sql).results, expected.results) << sql;
  }
}

// ---- beside libpq ------------------------------------------------------------------------------

TEST_F(PostgresProtocol, a_session_has_the_settings_that_libpq_sees) {
  const ProtocolClient ours(local(), trusting(), "");
  ASSERT_TRUE(ours.is_ready()) << ours.problem();
  const LibpqClient theirs(libpq_text());
  EXPECT_GT(ours.settings().size(), 10u);
  for (const auto& [name, value] : ours.settings()) {
    const char* const expected = PQparameterStatus(theirs.pg(), name.c_str());
    if (name == "application_name") continue;
    EXPECT_EQ(value, expected == nullptr ? "none" : expected) << name;
  }
  EXPECT_GT(ours.process(), 0u);
  // PostgreSQL before 18 speaks 3.0 alone, and negotiates.
  EXPECT_EQ(ours.version(), PQserverVersion(theirs.pg()) < 180000 ? version_3_0 : version_3_2);
}

TEST_F(PostgresProtocol, simple_queries_have_the_results_of_libpq) {
  ProtocolClient ours(local(), trusting(), "");
  LibpqClient theirs(libpq_text());
  (void)ours.query("CREATE SCHEMA ours; SET search_path = ours");
  (void)theirs.query("CREATE SCHEMA theirs; SET search_path = theirs");
  expect_same(ours, theirs,
              {"SELECT 1",
               "SELECT 1 AS a, 'two' AS b, NULL AS c, '' AS d",
               "SELECT",
               "",
               ";",
               " ",
               "SELECT 1; SELECT 2, 3; SELECT",
               "SELECT * FROM generate_series(1, 300)",
               "SELECT 'a\tb\nc', E'\\001', chr(8364)",
               "SELECT repeat('x', 200000)",
               "SELECT 1.5::numeric(6, 2), 'x'::varchar(7), now() IS NULL, '{1,2}'::int[]",
               "VALUES (1, NULL), (NULL, 2)",
               "SHOW server_encoding",
               "EXPLAIN SELECT 1",
               "BEGIN",
               "SELECT 1",
               "SELECT 1/0",
               "SELECT 1",
               "ROLLBACK",
               "COMMIT",
               "BEGIN; SELECT 1; COMMIT",
               "BEGIN; SELECT 1/0; COMMIT",
               "ROLLBACK",
               "SELECT 1; SELECT 1/0; SELECT 2",
               "SELEC 1",
               "SELECT nothing_there",
               "SELECT * FROM nowhere",
               "SELECT 'abc'::int",
               "SELECT 1 FROM"});
}

TEST_F(PostgresProtocol, errors_and_notices_have_every_field_of_libpq) {
  ProtocolClient ours(local(), trusting(), "");
  LibpqClient theirs(libpq_text());
  const std::vector<std::string> all = {
      "CREATE TEMP TABLE parent (id int PRIMARY KEY, age int NOT NULL CHECK (age > 0))",
      "CREATE TEMP TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)",
      "INSERT INTO parent VALUES (1, 2), (2, 3)",
      "INSERT INTO parent VALUES (1, 2)",
      "INSERT INTO parent VALUES (3, NULL)",
      "INSERT INTO parent VALUES (3, -1)",
      "INSERT INTO child VALUES (9)",
      "UPDATE parent SET age = age + 1",
      "DELETE FROM parent WHERE id = 2",
      "INSERT INTO parent VALUES (5, 5) RETURNING id, age",
      "CREATE TABLE IF NOT EXISTS pg_temp.parent (id int)",
      "DO $$ BEGIN RAISE NOTICE 'seen %', 7 USING DETAIL = 'd', HINT = 'h'; END $$",
      "DO $$ BEGIN RAISE EXCEPTION 'own' USING ERRCODE = 'KA001', DETAIL = 'd', HINT = 'h', "
      "COLUMN = 'c', CONSTRAINT = 'n', DATATYPE = 't', TABLE = 'b', SCHEMA = 's'; END $$",
      "DO $$ BEGIN EXECUTE 'SELECT wrong syntax here'; END $$",
      "DROP TABLE IF EXISTS nowhere",
      "SET client_min_messages = debug5",
      "SELECT 1",
  };
  for (const std::string& sql : all) {
    const ProtocolLog expected = theirs.query(sql);
    const ProtocolLog got = ours.query(sql);
    EXPECT_EQ(normal(got.results), normal(expected.results)) << sql;
    if (sql != "SELECT 1") {
      EXPECT_EQ(got.notices, expected.notices) << sql;
    }
  }
}

// Values of many types, drawn by a seed, in both formats of results.
TEST_F(PostgresProtocol, drawn_statements_have_the_values_of_libpq) {
  ProtocolClient ours(local(), trusting(), "");
  LibpqClient theirs(libpq_text());
  const std::vector<std::pair<std::string, std::vector<std::string>>> types = {
      {"int4", {"0", "-1", "2147483647", "x"}},
      {"int8", {"9223372036854775807", "-9223372036854775808", ""}},
      {"text", {"", "plain", "\xc3\xa4", "a\\b\"c", std::string(9000, 'y')}},
      {"bytea", {"\\x", "\\x00ff10", "\\xzz"}},
      {"numeric", {"0", "-12345.678", "NaN", "1e300"}},
      {"float8", {"1.5", "-Infinity", "NaN"}},
      {"bool", {"t", "false", "maybe"}},
      {"timestamptz", {"2026-11-29 07:00:00+00", "infinity", "yesterday-ish"}},
      {"uuid", {"6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6"}},
      {"jsonb", {"{\"a\":[1,2]}", "null", "{"}},
      {"int4[]", {"{}", "{1,NULL,3}", "{{1},{2}}", "{"}},
      {"inet", {"::1", "10.0.0.0/8"}},
  };
  Random random(20261129);
  int errors = 0;
  for (int round = 0; round < 400; ++round) {
    ProtocolStatement statement;
    std::string list;
    for (std::uint64_t count = random.between(1, 5); count > 0; --count) {
      const auto& [type, texts] = types[random.below(types.size())];
      if (random.chance(200)) {
        statement.values.emplace_back(std::nullopt);
      } else {
        statement.values.emplace_back(texts[random.below(texts.size())]);
      }
      list += fmt::format("{}${}::{}", list.empty() ? "" : ", ", statement.values.size(), type);
    }
    statement.sql = "SELECT " + list;
    if (random.chance(300)) {
      statement.sql += fmt::format(" FROM generate_series(1, {})", random.below(40));
    }
    statement.results = random.chance(512) ? Format::text : Format::binary;
    const ProtocolLog expected = theirs.run(statement);
    EXPECT_EQ(ours.run(statement), expected) << statement.sql;
    errors += expected.results.starts_with("error") ? 1 : 0;
  }
  EXPECT_GT(errors, 20);
  EXPECT_LT(errors, 380);
}

TEST_F(PostgresProtocol, a_pipeline_with_errors_has_the_results_of_libpq) {
  ProtocolClient ours(local(), trusting(), "");
  LibpqClient theirs(libpq_text());
  Random random(7);
  const std::vector<ProtocolStatement> choices = {
      {"SELECT $1::int4 + 1", {"41"}},
      {"SELECT 1/0"},
      {"SELEC"},
      {"SET application_name = 'x'"},
      {""},
      {"SELECT generate_series(1, 9)"},
      {"SELECT $1::int4", {"no"}},
      {"VALUES (1), (NULL)"},
  };
  for (int round = 0; round < 100; ++round) {
    std::vector<ProtocolStatement> statements;
    for (std::uint64_t count = random.between(1, 12); count > 0; --count) {
      // Most groups end well.
      statements.push_back(choices[random.chance(150) ? random.below(choices.size()) : 0]);
    }
    EXPECT_EQ(ours.pipeline(statements), theirs.pipeline(statements)) << round;
  }
}

TEST_F(PostgresProtocol, rows_by_portals_are_those_of_one_result) {
  ProtocolClient ours(local(), trusting(), "");
  LibpqClient theirs(libpq_text());
  const ProtocolStatement statement{"SELECT n, repeat('z', n) FROM generate_series(0, 99) AS n"};
  const ProtocolLog expected = theirs.run(statement);
  for (const std::uint32_t rows_max : {7u, 100u, 101u}) {
    ProtocolLog got = ours.run_in_parts(statement, rows_max);
    // The tag counts the rows of the last part.
    got.results.erase(got.results.find("SELECT "));
    EXPECT_EQ(got.results, expected.results.substr(0, expected.results.find("SELECT ")));
  }
  EXPECT_EQ(ours.run({"SELECT 1"}).results, theirs.run({"SELECT 1"}).results);
}

TEST_F(PostgresProtocol, copy_in_both_directions_is_that_of_libpq) {
  ProtocolClient ours(local(), trusting(), "");
  LibpqClient theirs(libpq_text());
  const std::string make = "CREATE TEMP TABLE copied (a int, b text)";
  (void)ours.query(make);
  (void)theirs.query(make);
  const std::vector<std::pair<std::string, std::string>> all = {
      {"COPY copied FROM STDIN", "1\tone\n2\t\\N\n"},
      {"COPY copied FROM STDIN (FORMAT csv)", "3,\"a,b\"\n4,\n"},
      {"COPY copied FROM STDIN", "no number\tx\n"},
      {"COPY copied FROM STDIN", ""},
      {"COPY copied TO STDOUT", ""},
      {"COPY copied TO STDOUT (FORMAT binary)", ""},
      {"COPY (SELECT 1/0) TO STDOUT", ""},
      {"COPY (SELECT n, 1/(50 - n) FROM generate_series(1, 99) AS n) TO STDOUT", ""},
      {"SELECT 1; COPY copied TO STDOUT; COPY copied FROM STDIN; SELECT count(*) FROM copied",
       "5\tfive\n"},
      {"SELECT * FROM copied", ""},
  };
  for (const auto& [sql, data] : all) {
    const ProtocolLog expected = theirs.query(sql, data);
    EXPECT_EQ(normal(ours.query(sql, data).results), normal(expected.results)) << sql;
  }
  // By the extended protocol: the Sync before the data has no answer.
  const std::uint64_t first = ours.machine().next_request();
  ASSERT_EQ(ours.machine().parse({.sql = "COPY copied FROM STDIN"}, ours.sink()), Submitted::ok);
  ASSERT_EQ(ours.machine().bind({}, ours.sink()), Submitted::ok);
  ASSERT_EQ(ours.machine().execute({}, ours.sink()), Submitted::ok);
  ASSERT_EQ(ours.machine().sync(ours.sink()), Submitted::ok);
  Step step = ours.next();
  while (step.event != Event::copy_in) step = ours.next();
  ASSERT_EQ(ours.machine().copy_data("6\tsix\n", ours.sink()), Submitted::ok);
  ASSERT_EQ(ours.machine().end_copy(ours.sink()), Submitted::ok);
  ASSERT_EQ(ours.machine().sync(ours.sink()), Submitted::ok);
  step = ours.next();
  EXPECT_EQ(step.event, Event::complete);
  EXPECT_EQ(tag_of(step.body).rows, 1u);
  step = ours.next();
  EXPECT_EQ(step.event, Event::ready);
  EXPECT_EQ(step.request, first + 4);
  EXPECT_EQ(ours.query("SELECT 1").results, theirs.query("SELECT 1").results);
}

TEST_F(PostgresProtocol, notifications_come_between_results_as_libpq_has_them) {
  ProtocolClient ours(local(), trusting(), "");
  LibpqClient theirs(libpq_text());
  (void)ours.query("LISTEN news");
  (void)theirs.query("LISTEN news");
  std::vector<std::string> ours_told, theirs_told;
  for (int at = 0; at < 5; ++at) {
    (void)Cluster::shared().ask(fmt::format("NOTIFY news, 'number {}'", at), database_);
    // A server tells of it before it is ready again.
    const ProtocolLog ours_log = ours.query("SELECT 1");
    const ProtocolLog theirs_log = theirs.query("SELECT 1");
    EXPECT_EQ(ours_log.results, theirs_log.results);
    for (const std::string& each : ours_log.notified) ours_told.push_back(each);
    for (const std::string& each : theirs_log.notified) theirs_told.push_back(each);
  }
  // A session that notifies itself reads all notifications up to that one.
  for (const std::string& each : ours.query("NOTIFY news, 'end'").notified) {
    ours_told.push_back(each);
  }
  for (const std::string& each : theirs.query("NOTIFY news, 'end'").notified) {
    theirs_told.push_back(each);
  }
  EXPECT_EQ(ours_told.size(), 6u);
  ASSERT_GE(theirs_told.size(), 5u);
  for (std::size_t at = 0; at < 5; ++at) EXPECT_EQ(ours_told[at], theirs_told[at]);
}

// ---- authentication by a server ----------------------------------------------------------------

TEST_F(PostgresProtocol, each_method_is_answered_where_it_is_allowed) {
  const ProtocolClient scram(local(), options("scram_user"), known_password);
  EXPECT_TRUE(scram.is_ready()) << scram.problem();
  EXPECT_TRUE(ProtocolClient(local(), options("letters_user"), letters).is_ready());
  const ProtocolClient wrong(local(), options("scram_user"), "wrong");
  EXPECT_EQ(wrong.problem(), "28P01");

  StartupOptions md5 = options("md5_user");
  EXPECT_EQ(ProtocolClient(local(), md5, known_password).problem(),
            text_of(Refusal::method_not_allowed));
  md5.methods.md5 = true;
  EXPECT_TRUE(ProtocolClient(local(), md5, known_password).is_ready());
  EXPECT_EQ(ProtocolClient(local(), md5, "wrong").problem(), "28P01");

  StartupOptions plain = options("plain_user");
  EXPECT_EQ(ProtocolClient(local(), plain, known_password).problem(),
            text_of(Refusal::method_not_allowed));
  plain.methods.cleartext = true;
  EXPECT_TRUE(ProtocolClient(local(), plain, known_password).is_ready());

  StartupOptions trusted = options("trusted_user");
  EXPECT_EQ(ProtocolClient(local(), trusted, known_password).problem(),
            text_of(Refusal::not_authenticated));
  trusted.methods.nothing = true;
  EXPECT_TRUE(ProtocolClient(local(), trusted, known_password).is_ready());
  EXPECT_EQ(ProtocolClient(local(), options("refused_user"), known_password).problem(), "28000");
}

TEST_F(PostgresProtocol, tls_and_channel_binding_are_accepted_by_a_server) {
  StartupOptions bound = options("scram_user");
  bound.tls = TlsStart::request;
  bound.binding = ChannelBinding::required;
  ProtocolClient client(remote(), bound, known_password);
  ASSERT_TRUE(client.is_ready()) << client.problem();
  EXPECT_TRUE(client.is_bound());
  const ProtocolLog seen =
      client.query("SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
  EXPECT_NE(seen.results.find("row [true]"), std::string::npos) << seen.results;
  // A Unix socket has no TLS: the server says N.
  EXPECT_EQ(ProtocolClient(local(), bound, known_password).problem(),
            text_of(Refusal::encryption_refused));
}

// ---- limits and cancellation -------------------------------------------------------------------

TEST_F(PostgresProtocol, a_row_beyond_the_limit_is_refused_and_not_kept) {
  Limits limits;
  limits.row_bytes_max = 100'000;
  ProtocolClient small(local(), trusting(), "", limits);
  EXPECT_GT(small.query("SELECT repeat('x', 90000)").results.size(), 90'000u);
  (void)small.query("SELECT repeat('x', 100000000)");
  EXPECT_EQ(small.problem(), text_of(Refusal::message_too_large));
  // The limit of a message, and one read of the socket.
  EXPECT_LE(small.kept_max(), limits.bytes_max() + 16 * 1024);
}

TEST_F(PostgresProtocol, a_statement_is_cancelled_by_its_key) {
  ProtocolClient client(local(), trusting(), "");
  ASSERT_EQ(client.machine().query("SELECT pg_sleep(600)", client.sink()), Submitted::ok);
  client.flush();
  // The request may come before the statement: then it does nothing, and is repeated.
  const std::string running =
      fmt::format("SELECT count(*) FROM pg_stat_activity WHERE pid = {} AND wait_event = 'PgSleep'",
                  client.process());
  while (Cluster::shared().ask(running) != "1") {
  }
  client.cancel(local());
  const Step step = client.next();
  ASSERT_EQ(step.event, Event::columns);
  const Step failed = client.next();
  ASSERT_EQ(failed.event, Event::error);
  EXPECT_EQ(report_of(failed.body).sqlstate, "57014");
  EXPECT_EQ(client.next().event, Event::ready);
}

TEST_F(PostgresProtocol, the_end_of_a_session_by_the_server_is_fatal) {
  ProtocolClient client(local(), trusting(), "");
  (void)Cluster::shared().ask(fmt::format("SELECT pg_terminate_backend({})", client.process()));
  const Step step = client.next();
  EXPECT_EQ(step.event, Event::error);
  EXPECT_TRUE(step.is_fatal);
  EXPECT_EQ(report_of(step.body).sqlstate, "57P01");
  EXPECT_EQ(client.machine().query("SELECT 1", client.sink()), Submitted::wrong_state);
}

// ---- somebody between client and server --------------------------------------------------------

// Takes the offer of SCRAM-SHA-256-PLUS out, as somebody who cannot bind would.
std::string without_plus(std::string bytes) {
  const std::string offer("SCRAM-SHA-256-PLUS\0", 19);
  const std::size_t at = bytes.find(offer);
  if (at == std::string::npos) return bytes;
  bytes.erase(at, offer.size());
  char& length = bytes[at - 5];  // the code of the method stands between
  length = static_cast<char>(length - static_cast<char>(offer.size()));
  return bytes;
}

TEST_F(PostgresProtocol, a_server_notices_that_its_offer_of_binding_was_removed) {
  StartupOptions preferred = options("scram_user");
  preferred.tls = TlsStart::request;
  EXPECT_TRUE(ProtocolClient(remote(), preferred, known_password).is_bound());
  const ProtocolClient cheated(remote(), preferred, known_password, {}, without_plus);
  EXPECT_FALSE(cheated.is_ready());
  EXPECT_EQ(cheated.problem(), "28000");
  StartupOptions required = preferred;
  required.binding = ChannelBinding::required;
  EXPECT_EQ(ProtocolClient(remote(), required, known_password, {}, without_plus).problem(),
            text_of(Refusal::channel_binding_missing));
}

}  // namespace
}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
