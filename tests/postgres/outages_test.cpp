// The table of outages in docs/guides/postgres.md, row by row: the reply to a request, the log and
// the metrics. It also shows when the program can use its database again.
//
// KATANA_UPDATE=1 writes the times into the table; they are reported and never gate.
#include <libpq-fe.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/source_tree_test.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/wire/tls/client_test.hpp"
#include "tests/postgres/outage_program_test.hpp"
#include "tests/postgres/proxy_test.hpp"

namespace katana::app {
namespace {

using database::postgres::Cluster;
using database::postgres::Proxy;
using ::testing::HasSubstr;

constexpr const char* guide = "docs/guides/postgres.md";

// | what happens | kind | status | the log has | metric | again after |
struct Row {
  std::string kind;
  std::string status;
  std::string logged;
  std::string metric;
};

std::string in_code(const std::string& cell) {
  const std::size_t begin = cell.find('`');
  return begin == std::string::npos ? cell : cell.substr(begin + 1, cell.rfind('`') - begin - 1);
}

// The log has what a row says, which may be one of two: "`a`, or `b`".
bool has_logged(const std::string& log, const std::string& wanted) {
  const std::string between = "`, or `";
  const std::size_t at = wanted.find(between);
  if (at == std::string::npos) return log.find(wanted) != std::string::npos;
  return has_logged(log, wanted.substr(0, at)) ||
         has_logged(log, wanted.substr(at + between.size()));
}

class Table {
 public:
  static Table& shared() {
    static Table table;
    return table;
  }
  std::map<std::string, Row> rows;

  void write_time(const std::string& name, std::int64_t ms) {
    if (std::getenv("KATANA_UPDATE") == nullptr) return;
    const std::size_t begin = text_.find("\n| " + name + " |");
    const std::size_t end = text_.find('\n', begin + 1);
    const std::size_t cell = text_.rfind('|', text_.rfind('|', end) - 1);
    text_.replace(cell, end - cell, fmt::format("| {} ms |", ms));
    std::ofstream(in_tree(guide)) << text_;
  }

 private:
  Table() {
    std::ostringstream found;
    found << std::ifstream(in_tree(guide)).rdbuf();
    text_ = found.str();
    std::istringstream lines(text_.substr(std::min(text_.size(), text_.find("## Outages"))));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("| ")) continue;
      std::vector<std::string> cells;
      std::istringstream parts(line.substr(1));
      for (std::string cell; std::getline(parts, cell, '|');) {
        const std::size_t last = cell.find_last_not_of(' ');
        cells.push_back(last == std::string::npos ? "" : cell.substr(1, last));
      }
      if (cells.size() < 6 || cells[2].size() != 3) continue;
      rows[cells[0]] = {in_code(cells[1]), cells[2], in_code(cells[3]), in_code(cells[4])};
    }
  }
  std::string text_;
};

int count_of(const std::string& text, const std::string& wanted) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(wanted, at)) != text.npos; ++at) ++count;
  return count;
}

// A cluster with TLS and passwords, shared by the rows: each leaves it as it was.
class PostgresOutageTable : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_ = std::make_unique<Cluster>();
    authority_ = std::make_unique<tls::TestCertificate>(std::vector<std::string>{"authority"});
    const auto kept = [](const std::string& name, const std::string& text) {
      std::ofstream(cluster_->folder() + "/" + name) << text;
    };
    kept("authority.pem", authority_->certificate_text());
    show_certificate({"localhost"});
    kept("data/pg_hba.conf",
         "local all katana trust\nhost all katana 127.0.0.1/32 trust\n"
         "host all all 127.0.0.1/32 scram-sha-256\n");
    (void)cluster_->ask("ALTER SYSTEM SET ssl = on");
    reload();
    (void)cluster_->ask(fmt::format("CREATE ROLE app LOGIN PASSWORD '{}'", outage_password));
    make_database("shop");
  }
  static void TearDownTestSuite() {
    cluster_.reset();
    authority_.reset();
  }

  static void make_database(const std::string& name) {
    (void)cluster_->ask("CREATE DATABASE " + name + " OWNER app");
    (void)cluster_->ask("CREATE TABLE rows (filling TEXT)", name);
    (void)cluster_->ask("ALTER TABLE rows OWNER TO app", name);
  }
  static void reload() { (void)cluster_->ask("SELECT pg_reload_conf()"); }
  // Sets the certificate that the server shows from now on, signed by the cluster's authority or
  // `by`.
  static void show_certificate(const std::vector<std::string>& names, long days = 30,
                               const tls::TestCertificate* by = authority_.get()) {
    const tls::TestCertificate shown(names, false, by, days);
    const struct stat of = [] {
      struct stat found{};
      (void)::stat((cluster_->folder() + "/data").c_str(), &found);
      return found;
    }();
    for (const auto& [name, text] : {std::pair("server.key", shown.key_text()),
                                     std::pair("server.crt", shown.certificate_text())}) {
      const std::string path = cluster_->folder() + "/data/" + name;
      std::ofstream(path) << text;
      ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
      ASSERT_EQ(::chown(path.c_str(), of.st_uid, of.st_gid), 0);
    }
  }
  static std::string url(std::uint16_t port = cluster_->port(), const std::string& rest = "") {
    return fmt::format("app:{}@127.0.0.1:{}/shop{}", outage_password, port, rest);
  }
  static std::string verified_url() {
    return fmt::format("app:{}@localhost:{}/shop?sslmode=verify-full&sslrootcert={}/authority.pem",
                       outage_password, cluster_->port(), cluster_->folder());
  }
  // Ends the program's open sessions: it then has to connect again.
  static void end_sessions() {
    (void)cluster_->ask(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'app'");
  }

  template <class Condition>
  static bool until(Condition condition) {
    const Instant last = monotonic_now() + seconds(60);
    while (!condition()) {
      if (monotonic_now() >= last) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  // Asserts the row while its outage lasts; mends it; and waits until requests are answered.
  template <class Mend>
  void expect_row(const std::string& name, OutageProgram& program, const std::string& path,
                  Mend mend) {
    SCOPED_TRACE(name);
    const auto found = Table::shared().rows.find(name);
    ASSERT_NE(found, Table::shared().rows.end()) << "no such row in " << guide;
    const Row& row = found->second;
    const bool counts = row.metric.ends_with("_total");
    const double before = counts ? program.metric(row.metric) : 0;
    // The first requests may meet connections that were open before.
    const bool failed =
        until([&] { return program.status(path) == row.status && program.kind() == row.kind; });
    EXPECT_TRUE(failed) << program.kind() << program.ask(path);
    EXPECT_TRUE(until([&] { return has_logged(program.log(), row.logged); })) << program.log();
    const std::string usable = "katana_database_usable";
    if (counts) {
      EXPECT_GE(program.metric(row.metric), before + (failed && path != "/count" ? 1 : 0));
      EXPECT_GE(program.metric(row.metric), 1);
    } else {
      ASSERT_EQ(row.metric, usable + " 0");
      EXPECT_TRUE(until([&] { return program.metric(usable) == 0; }));
      EXPECT_EQ(program.status("/ready"), "503");
    }
    EXPECT_EQ(program.status("/health"), "200") << "an outage is no reason to be restarted";
    mend();
    const Instant mended = monotonic_now();
    EXPECT_TRUE(until([&] { return program.status("/count") == "200"; })) << program.log();
    EXPECT_TRUE(until([&] { return program.status(path == "/slow" ? "/count" : path) == "200"; }));
    const std::int64_t ms = (monotonic_now() - mended).count_ms();
    EXPECT_TRUE(until([&] { return program.status("/ready") == "200"; }));
    RecordProperty("again_after_ms", std::to_string(ms));
    std::printf("again after %lld ms: %s\n", static_cast<long long>(ms), name.c_str());
    Table::shared().write_time(name, ms);
  }

  static inline std::unique_ptr<Cluster> cluster_;
  static inline std::unique_ptr<tls::TestCertificate> authority_;
};

TEST_F(PostgresOutageTable, a_program_starts_without_its_server) {
  cluster_->stop(false);
  OutageProgram program(url());
  expect_row("the server is not there when the program starts", program, "/count",
             [] { cluster_->start(); });
  EXPECT_THAT(program.log(), HasSubstr("is usable again after"));
}

TEST_F(PostgresOutageTable, the_server_is_killed) {
  OutageProgram program(url());
  EXPECT_TRUE(until([&] { return program.status("/count") == "200"; })) << program.log();
  cluster_->stop(true);
  expect_row("the server is killed", program, "/count", [] { cluster_->start(); });
  EXPECT_GE(program.metric("katana_database_outages_total"), 1);
}

TEST_F(PostgresOutageTable, requests_fail_at_once_while_the_server_is_known_to_be_down) {
  OutageProgram program(url(), {"database.wait_max=3600s", "database.timeout=3600s"});
  EXPECT_TRUE(until([&] { return program.status("/count") == "200"; })) << program.log();
  cluster_->stop(false);
  // One that came before it was known is answered with the others.
  EXPECT_EQ(program.status("/count"), "503");
  EXPECT_TRUE(until([&] { return program.metric("katana_database_usable") == 0; }));
  const std::string reply = program.ask("/count");
  EXPECT_THAT(reply, HasSubstr("HTTP/1.1 503 "));
  EXPECT_THAT(reply, HasSubstr("\r\nRetry-After: "));
  for (int round = 0; round < 50; ++round) EXPECT_EQ(program.status("/count"), "503");
  EXPECT_GE(program.metric("katana_database_refusals_unusable_total"), 52);
  cluster_->start();
  EXPECT_TRUE(until([&] { return program.status("/count") == "200"; }));
}

TEST_F(PostgresOutageTable, a_program_with_migrations_awaits_its_server_and_answers_meanwhile) {
  const std::string folder = cluster_->folder() + "/migrations";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/0001_applied.sql") << "CREATE TABLE applied (id int);";
  cluster_->stop(false);
  {
    OutageProgram program(url(), {"database.migrations=" + folder, "database.start_wait=1h"});
    EXPECT_EQ(program.status("/health"), "200");
    EXPECT_EQ(program.status("/ready"), "503");
    const std::string reply = program.ask("/count");
    EXPECT_THAT(reply, HasSubstr("HTTP/1.1 503 "));
    EXPECT_THAT(reply, HasSubstr("\r\nRetry-After: "));
    EXPECT_THAT(program.log(), HasSubstr("not there yet, and awaited: cannot connect to app@"));
    cluster_->start();
    EXPECT_TRUE(until([&] { return program.status("/ready") == "200"; })) << program.log();
    EXPECT_EQ(program.status("/count"), "200");
    EXPECT_EQ(cluster_->ask("SELECT count(*) FROM applied", "shop"), "0");
    EXPECT_THAT(program.log(), HasSubstr("there after "));
    // And as any other from then on.
    cluster_->stop(true);
    EXPECT_TRUE(until([&] { return program.status("/ready") == "503"; }));
    cluster_->start();
    EXPECT_TRUE(until([&] { return program.status("/ready") == "200"; }));
  }
  cluster_->stop(false);
  OutageProgram ended(url(), {"database.migrations=" + folder, "database.start_wait=1h"});
  EXPECT_EQ(ended.status("/ready"), "503") << "and its end waits for nothing";
  cluster_->start();
  (void)cluster_->ask("DROP TABLE applied, katana_migrations", "shop");
}

// The server takes no new connection, so that the one that listens stays away.
TEST_F(PostgresOutageTable, jobs_are_found_by_the_poll_while_no_notification_comes) {
  OutageProgram program(url(), {"database.connections_max=1"}, true);
  const auto lost = [&] { return count_of(program.log(), "not notified of jobs by app@"); };
  const auto again = [&] { return count_of(program.log(), "again, after "); };
  const std::string failed = R"("name":"queue notifications","kind":"readiness","status":"fail")";
  ASSERT_TRUE(until([&] { return program.ask("/ready").contains(R"({"status":"pass")"); }));
  (void)cluster_->ask("ALTER ROLE app CONNECTION LIMIT 0");
  (void)cluster_->ask(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
  ASSERT_TRUE(until([&] { return program.ask("/ready").contains(failed); }));
  EXPECT_EQ(program.status("/ready"), "200") << "a warning: jobs are done all the same";
  EXPECT_THAT(program.ask("/ready"), HasSubstr("notifications may be missed: "));
  EXPECT_EQ(program.status("/queue"), "200");
  EXPECT_TRUE(until([&] { return program.jobs_done() == 1; })) << program.log();
  EXPECT_TRUE(until([&] { return program.ask("/ready").contains("too many connections"); }));
  EXPECT_EQ(lost(), 1) << program.log();
  (void)cluster_->ask("ALTER ROLE app CONNECTION LIMIT -1");
  EXPECT_TRUE(until([&] { return again() == 1; })) << program.log();
  EXPECT_TRUE(until([&] { return program.ask("/ready").contains(R"({"status":"pass")"); }));
  cluster_->stop(true);
  EXPECT_TRUE(until([&] { return program.ask("/ready").contains(failed); }));
  cluster_->start();
  EXPECT_TRUE(until([&] { return program.ask("/ready").contains(R"({"status":"pass")"); }));
  EXPECT_EQ(program.status("/queue"), "200");
  EXPECT_TRUE(until([&] { return program.jobs_done() == 2; })) << program.log();
  EXPECT_EQ(lost(), 2) << program.log();
  EXPECT_EQ(again(), 2) << program.log();
}

TEST_F(PostgresOutageTable, connections_are_reset) {
  Proxy proxy(cluster_->port());
  OutageProgram program(url(proxy.port()));
  EXPECT_TRUE(until([&] { return program.status("/count") == "200"; })) << program.log();
  proxy.set(Proxy::Mode::resets);
  expect_row("connections are reset", program, "/count", [&] { proxy.set(Proxy::Mode::passes); });
}

TEST_F(PostgresOutageTable, the_network_drops_everything) {
  Proxy proxy(cluster_->port());
  OutageProgram program(url(proxy.port()), {"database.postgres.connect_timeout=1s"});
  EXPECT_TRUE(until([&] { return program.status("/count") == "200"; })) << program.log();
  proxy.set(Proxy::Mode::stalls);
  EXPECT_EQ(program.status("/count"), "504") << "a call on its way has its deadline";
  expect_row("the network drops everything", program, "/count",
             [&] { proxy.set(Proxy::Mode::passes); });
}

TEST_F(PostgresOutageTable, the_server_of_open_connections_vanished) {
  Proxy proxy(cluster_->port());
  OutageProgram program(url(proxy.port()), {"database.timeout=400ms"});
  EXPECT_TRUE(until([&] { return program.status("/count") == "200"; })) << program.log();
  proxy.set(Proxy::Mode::half_open);
  expect_row("the server of open connections vanished", program, "/count", [] {});
}

TEST_F(PostgresOutageTable, a_statement_is_too_slow) {
  OutageProgram program(url());
  expect_row("a statement is too slow", program, "/slow", [] {});
}

TEST_F(PostgresOutageTable, cancel_requests_that_nobody_answers_do_not_hold_the_program) {
  Proxy proxy(cluster_->port());
  // In the clear: else the connection is closed instead.
  OutageProgram program(url(proxy.port(), "?sslmode=disable"),
                        {"database.postgres.connect_timeout=500ms", "database.timeout=400ms"});
  EXPECT_TRUE(until([&] { return program.status("/count") == "200"; })) << program.log();
  for (int round = 0; round < 6; ++round) {
    std::atomic<bool> answered = false;
    std::thread slow([&] {
      // 503: on a busy machine no connection was free in time.
      EXPECT_THAT(program.status("/slow"), ::testing::AnyOf("504", "503"));
      answered = true;
    });
    EXPECT_TRUE(until([&] {
      return answered ||
             cluster_->ask(
                 "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND query "
                 "LIKE 'SELECT pg_sleep%' AND state = 'active'") != "0";
    }));
    proxy.set(Proxy::Mode::stalls);
    slow.join();
    proxy.set(Proxy::Mode::passes);
    EXPECT_TRUE(until([&] { return program.status("/count") == "200"; }));
    end_sessions();
    EXPECT_TRUE(until([&] { return program.status("/count") == "200"; }));
  }
}

TEST_F(PostgresOutageTable, the_server_has_no_connection_left) {
  OutageProgram program(url());
  EXPECT_TRUE(until([&] { return program.status("/count") == "200"; })) << program.log();
  (void)cluster_->ask("CREATE ROLE others LOGIN PASSWORD 'others'");
  std::vector<std::unique_ptr<PGconn, void (*)(PGconn*)>> taken;
  const std::string where = fmt::format(
      "host=127.0.0.1 port={} user=others password=others dbname=postgres", cluster_->port());
  const auto take_all = [&] {
    while (taken.size() < 1'000) {
      std::unique_ptr<PGconn, void (*)(PGconn*)> one(PQconnectdb(where.c_str()), &PQfinish);
      if (PQstatus(one.get()) != CONNECTION_OK) return;
      taken.push_back(std::move(one));
    }
  };
  take_all();
  EXPECT_EQ(program.status("/count"), "200") << "those that it has are its own";
  // A session that ends gives its place back a while later: only when all places are the others'
  // can the program not come back between.
  const auto places = static_cast<std::size_t>(
      std::stoi(cluster_->ask("SELECT current_setting('max_connections')::int - "
                              "current_setting('superuser_reserved_connections')::int")));
  EXPECT_TRUE(until([&] {
    end_sessions();
    take_all();
    return taken.size() == places;
  }));
  expect_row("the server has no connection left", program, "/count", [&] { taken.clear(); });
}

TEST_F(PostgresOutageTable, the_disk_of_the_server_is_full) {
  if (::geteuid() != 0) GTEST_SKIP() << "a small disk is mounted by root alone";
  const std::string disk = cluster_->folder() + "/disk";
  std::filesystem::create_directory(disk);
  struct stat data{};
  ASSERT_EQ(::stat((cluster_->folder() + "/data").c_str(), &data), 0);
  const std::string options =
      fmt::format("size=1m,uid={},gid={},mode=0700", data.st_uid, data.st_gid);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, options.c_str()) != 0) {
    GTEST_SKIP() << "no tmpfs can be mounted here";
  }
  const std::unique_ptr<const char, int (*)(const char*)> mounted(
      disk.c_str(), [](const char* path) { return ::umount2(path, MNT_DETACH); });
  (void)cluster_->ask("CREATE TABLESPACE small LOCATION '" + disk + "'");
  (void)cluster_->ask("ALTER TABLE rows SET TABLESPACE small", "shop");
  (void)cluster_->ask("ALTER TABLE rows ALTER filling SET STORAGE EXTERNAL", "shop");
  {
    OutageProgram program(url());
    expect_row("the disk of the server is full", program, "/write", [&] {
      ASSERT_EQ(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
    });
    EXPECT_EQ(program.metric("katana_database_usable"), 1);
  }
  (void)cluster_->ask("ALTER TABLE rows SET TABLESPACE pg_default", "shop");
  (void)cluster_->ask("DROP TABLESPACE small");
}

TEST_F(PostgresOutageTable, the_server_is_read_only) {
  OutageProgram program(url());
  (void)cluster_->ask("ALTER SYSTEM SET default_transaction_read_only = on");
  reload();
  expect_row("the server is read-only", program, "/write", [] {
    (void)cluster_->ask("ALTER SYSTEM RESET default_transaction_read_only");
    reload();
  });
}

TEST_F(PostgresOutageTable, the_password_is_wrong) {
  (void)cluster_->ask("ALTER ROLE app PASSWORD 'another'");
  OutageProgram program(url());
  expect_row("the password is wrong", program, "/count", [] {
    (void)cluster_->ask(fmt::format("ALTER ROLE app PASSWORD '{}'", outage_password));
  });
}

TEST_F(PostgresOutageTable, there_is_no_such_database) {
  OutageProgram program(
      fmt::format("app:{}@127.0.0.1:{}/nowhere", outage_password, cluster_->port()));
  expect_row("there is no such database", program, "/count", [] { make_database("nowhere"); });
}

TEST_F(PostgresOutageTable, the_certificate_is_not_one_of_the_authority) {
  show_certificate({"localhost"}, 30, nullptr);
  reload();
  OutageProgram program(verified_url());
  expect_row("the server's certificate signs itself", program, "/count", [] {
    show_certificate({"localhost"});
    reload();
  });
}

TEST_F(PostgresOutageTable, the_certificate_is_of_another_host) {
  show_certificate({"elsewhere.example"});
  reload();
  OutageProgram program(verified_url());
  expect_row("the server's certificate is of another host", program, "/count", [] {
    show_certificate({"localhost"});
    reload();
  });
}

TEST_F(PostgresOutageTable, the_certificate_has_expired) {
  show_certificate({"localhost"}, -1);
  reload();
  OutageProgram program(verified_url());
  expect_row("the server's certificate has expired", program, "/count", [] {
    show_certificate({"localhost"});
    reload();
  });
}

TEST_F(PostgresOutageTable, the_server_has_no_tls) {
  (void)cluster_->ask("ALTER SYSTEM SET ssl = off");
  reload();
  OutageProgram program(url(cluster_->port(), "?sslmode=require"));
  expect_row("the server has no TLS and `sslmode=require`", program, "/count", [] {
    (void)cluster_->ask("ALTER SYSTEM SET ssl = on");
    reload();
  });
}

// The table and the tests have the same rows.
TEST(PostgresOutageGuide, every_row_of_the_table_is_a_test) {
  std::ostringstream source;
  source << std::ifstream(in_tree("tests/postgres/outages_test.cpp")).rdbuf();
  EXPECT_GE(Table::shared().rows.size(), 15u);
  for (const auto& [name, row] : Table::shared().rows) {
    EXPECT_THAT(source.str(), HasSubstr("expect_row(\"" + name + "\""));
  }
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
