// The programs of this folder, checked with each database: what their comments want is found, and
// nothing else.
#include "katana_tool/sql/check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/stores/database/postgres/blocking_session.hpp"
#include "katana_tool/files.hpp"
#include "katana_tool/sql/postgres_server.hpp"
#include "sql_check_objects.hpp"

namespace katana::tool::sql {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

fs::path folder() { return fs::path(source_dir) / "tests/sql_check"; }

struct Want {
  std::string file;
  std::size_t line = 0;
  std::string rule;
  std::string words;
};

// `// want RULE: words` is about the line above it, and above other such lines; with want-above N
// about the line N above the first of these.
void add_wants(const fs::path& path, std::vector<Want>& wants) {
  std::ifstream file(path);
  std::string text;
  std::size_t number = 0, last = 0;
  while (std::getline(file, text)) {
    ++number;
    const std::size_t at = text.find("// want");
    if (at == text.npos || text.find_first_not_of(' ') != at) {
      last = number;
      continue;
    }
    std::string rest = text.substr(at + 7);
    std::size_t line = last;
    if (rest.starts_with("-above ")) {
      std::size_t digits = 0;
      line -= std::stoul(rest.substr(7), &digits) - 1;
      rest = rest.substr(7 + digits);
    }
    const std::size_t colon = rest.find(": ");
    ASSERT_NE(colon, rest.npos) << path << ":" << number;
    wants.push_back({path.string(), line, rest.substr(1, colon - 1), rest.substr(colon + 2)});
  }
}

Target target_of(const std::string& dialect, const std::string& name, const char* object) {
  Target target;
  target.name = name;
  target.folder = folder();
  target.sources = {name + "_statements.cpp"};
  target.includes = {folder().parent_path()};
  target.objects = {object};
  target.dialects = {dialect};
  target.migrations[dialect] = folder() / "migrations" / dialect;
  return target;
}

void expect_what_is_wanted(const std::string& dialect, const std::string& name,
                           const char* object) {
  const auto report = check(target_of(dialect, name, object), {});
  ASSERT_TRUE(report) << report.error().describe();
  std::vector<Want> wants;
  add_wants(folder() / (name + "_statements.cpp"), wants);
  if (name == "common") add_wants(folder() / "shared_statements.hpp", wants);
  EXPECT_GT(report->statements, wants.size() / 2);
  for (const Finding& finding : report->findings) {
    const auto want = std::ranges::find_if(wants, [&](const Want& each) {
      return each.file == finding.file && each.line == finding.line && each.rule == finding.rule &&
             finding.message.find(each.words) != finding.message.npos;
    });
    if (want == wants.end()) {
      ADD_FAILURE() << finding.file << ":" << finding.line << " not wanted: " << finding.rule
                    << ": " << finding.message;
    } else {
      wants.erase(want);
    }
  }
  for (const Want& want : wants) {
    ADD_FAILURE() << want.file << ":" << want.line << " not found: " << want.rule << ": "
                  << want.words;
  }
}

TEST(SqlCheck, statements_for_sqlite_and_postgres_are_judged_by_sqlite) {
  expect_what_is_wanted("sqlite", "common", common_checked);
}

TEST(SqlCheck, statements_for_sqlite_and_postgres_are_judged_by_postgres) {
  expect_what_is_wanted("postgres", "common", common_checked);
}

TEST(SqlCheck, statements_for_postgres_are_judged) {
  expect_what_is_wanted("postgres", "postgres", postgres_checked);
}

TEST(SqlCheck, statements_for_sqlite_are_judged) {
  expect_what_is_wanted("sqlite", "sqlite", sqlite_checked);
}

TEST(SqlCheck, a_refusal_points_into_the_line_of_the_statement) {
  const auto report = check(target_of("sqlite", "sqlite", sqlite_checked), {});
  ASSERT_TRUE(report);
  const auto found = std::ranges::find_if(report->findings, [](const Finding& each) {
    return each.message.find("aeg") != each.message.npos;
  });
  ASSERT_NE(found, report->findings.end());
  EXPECT_EQ(found->message,
            "no such column: aeg\n    SELECT \"aeg\" FROM users WHERE id = 1\n           ^");
  EXPECT_EQ(found->column, 53u) << "the backslash is in the source alone";
}

class LockedCheck : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "katana-sql-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    home_ = name;
    fs::create_directory(home_ / "migrations");
    fs::copy(folder() / "migrations/sqlite/0001_tables.sql", home_ / "migrations");
    target_ = target_of("sqlite", "sqlite", sqlite_checked);
    target_.migrations["sqlite"] = home_ / "migrations";
    target_.lock = home_ / "sql.lock";
    const auto report = check(target_, {.update = true});
    ASSERT_TRUE(report) << report.error().describe();
    from_database_ = report->findings;
    lock_ = report->lock;
    write(lock_.write());
  }
  void TearDown() override { fs::remove_all(home_); }
  void write(const std::string& text) { ASSERT_TRUE(replace_file(target_.lock, text)); }
  std::string what_is_stale() {
    const auto report = check(target_, {});
    if (!report) return std::string(report.error().message());
    std::string all;
    for (const Finding& each : report->findings) {
      if (each.rule == "stale_lock") all += each.message + "\n";
    }
    return all;
  }

  fs::path home_;
  Target target_;
  LockFile lock_;
  std::vector<Finding> from_database_;
};

TEST_F(LockedCheck, says_the_same_as_the_database_but_for_what_it_refused) {
  const auto report = check(target_, {});
  ASSERT_TRUE(report) << report.error().describe();
  for (const Finding& each : from_database_) {
    if (each.rule == "refused") continue;
    EXPECT_THAT(report->findings, testing::Contains(each));
  }
  EXPECT_EQ(report->findings.size(), from_database_.size());
}

TEST_F(LockedCheck, needs_no_database) {
  // There is no server at this address, and its dialect has nothing else to ask.
  LockFile renamed;
  renamed.migrations["postgres"] = lock_.migrations.at("sqlite");
  for (const auto& [key, description] : lock_.statements) {
    renamed.statements[{key.first, "postgres"}] = description;
  }
  write(renamed.write());
  target_.dialects = {"postgres"};
  target_.migrations["postgres"] = target_.migrations["sqlite"];
  const auto report = check(target_, {.database = "host=/nowhere"});
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_GT(report->statements, 0u);
}

TEST_F(LockedCheck, is_stale_when_a_migration_was_added) {
  std::ofstream(home_ / "migrations/0002_more.sql") << "ALTER TABLE users ADD COLUMN a TEXT;";
  EXPECT_THAT(what_is_stale(), HasSubstr("the migrations are not those that it was written for"));
}

TEST_F(LockedCheck, is_stale_when_a_statement_is_new) {
  const auto before = check(target_, {});
  lock_.statements.erase(lock_.statements.begin());
  write(lock_.write());
  const auto report = check(target_, {});
  ASSERT_TRUE(before && report);
  const auto stale = [](const Report& each) {
    return std::ranges::count(each.findings, "stale_lock", &Finding::rule);
  };
  EXPECT_EQ(stale(*report), stale(*before) + 1);
  EXPECT_THAT(what_is_stale(), HasSubstr("run katana sql check --update"));
}

TEST_F(LockedCheck, warns_of_statements_that_are_gone) {
  lock_.statements[{"SELECT 1", "sqlite"}] = {};
  write(lock_.write());
  EXPECT_THAT(what_is_stale(), HasSubstr("no statement 'SELECT 1' any more"));
}

TEST_F(LockedCheck, of_another_form_names_its_line) {
  write("katana sql.lock 1\n<<<<<<< HEAD\n");
  EXPECT_THAT(what_is_stale(), HasSubstr("sql.lock:2: this line is not understood"));
}

TEST(SqlCheck, a_server_that_is_named_is_asked_and_left_unchanged) {
  const auto server = PostgresServer::start();
  ASSERT_TRUE(server) << server.error().describe();
  const database::postgres::Options where = (*server)->options();
  const std::string url =
      fmt::format("postgresql://{}@/{}?host={}", where.user, where.database, where.hosts[0].name);
  const auto report = check(target_of("postgres", "postgres", postgres_checked), {.database = url});
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_GT(report->statements, 0u);
  auto session = database::postgres::BlockingSession::connect(where, {});
  ASSERT_TRUE(session) << session.error().describe();
  const auto left =
      session->ask("SELECT count(*) FROM pg_namespace WHERE nspname = 'katana_sql_check'");
  ASSERT_TRUE(left);
  EXPECT_EQ(left->at(0).at(0), "0");
}

// Migrations of a test, in a new folder.
class MigratedCheck : public testing::Test {
 protected:
  MigratedCheck() {
    fs::remove_all(migrations_);
    fs::create_directories(migrations_);
    target_.migrations["postgres"] = migrations_;
  }
  ~MigratedCheck() override { fs::remove_all(migrations_); }
  void add(const char* file, const char* text) { std::ofstream(migrations_ / file) << text; }
  std::string said(const CheckOptions& options = {}) {
    const auto report = check(target_, options);
    return report ? "good" : std::string(report.error().message());
  }

  const fs::path migrations_ = fs::path(testing::TempDir()) / "katana_sql_check_migrations";
  Target target_ = target_of("postgres", "postgres", postgres_checked);
};

// A value of an enum may be used after a commit only, and a table that is named with its schema is
// looked for there.
TEST_F(MigratedCheck, migrations_that_the_program_applies_are_applied) {
  add("0001_a.sql", "CREATE TYPE k AS ENUM ('a'); CREATE TABLE public.t (x k);");
  add("0002_b.sql", "ALTER TYPE k ADD VALUE 'b';");
  add("0003_c.sql", "CREATE INDEX i ON public.t (x) WHERE x = 'b'; SET search_path = '';");
  add("0004_d.sql", "CREATE TABLE u (id int);");
  EXPECT_EQ(said(), "good");
}

TEST_F(MigratedCheck, one_that_fails_is_named_with_its_line) {
  add("0001_a.sql", "CREATE TABLE t (id int);\nSELECT nothing;");
  EXPECT_THAT(said(), testing::AllOf(HasSubstr("0001_a.sql, line 2"), HasSubstr("nothing")));
}

TEST_F(MigratedCheck, what_a_named_server_cannot_try_in_a_transaction_says_the_remedy) {
  const auto server = PostgresServer::start();
  ASSERT_TRUE(server) << server.error().describe();
  const database::postgres::Options where = (*server)->options();
  add("0001_a.sql", "CREATE TABLE t (id int); CREATE INDEX i ON public.t (id);");
  EXPECT_THAT(said({.database = fmt::format("postgresql://{}@/{}?host={}", where.user,
                                            where.database, where.hosts[0].name)}),
              testing::AllOf(HasSubstr("0001_a.sql"), HasSubstr("Without --database")));
}

TEST(SqlCheck, a_server_that_is_not_there_is_named) {
  const auto report = check(target_of("postgres", "postgres", postgres_checked),
                            {.database = "postgresql://ada:secret@127.0.0.1:1/shop"});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().describe(), HasSubstr("ada@127.0.0.1:1/shop"));
  EXPECT_THAT(report.error().describe(), testing::Not(HasSubstr("secret")));
}

TEST(SqlCheck, what_cannot_be_read_is_named) {
  Target target = target_of("sqlite", "sqlite", sqlite_checked);
  target.objects = {"/nowhere/a.o"};
  EXPECT_THAT(check(target, {}).error().message(), HasSubstr("is target sqlite built?"));
  target = target_of("sqlite", "sqlite", sqlite_checked);
  target.migrations["sqlite"] = "/nowhere";
  EXPECT_THAT(check(target, {}).error().message(), HasSubstr("/nowhere"));
}

TEST(SqlCheck, an_object_without_its_source_is_reported) {
  Target target = target_of("sqlite", "sqlite", sqlite_checked);
  target.sources.clear();
  const auto report = check(target, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->statements, 0u);
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings[0].rule, "not_found");
}

TEST(SqlCheck, a_target_says_what_it_does_not_understand) {
  EXPECT_THAT(Target::parse("dialect oracle\n", "a.target").error().message(),
              HasSubstr("'dialect oracle'"));
  EXPECT_THAT(Target::parse("name a\n", "a.target").error().message(), HasSubstr("no objects"));
  const auto target = Target::parse(
      "name a\nfolder /a b\nsource x.cpp\nobject /b/x.o\ndialect sqlite\nmigrations sqlite /m n\n"
      "include \nwarnings errors\n",
      "a.target");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->folder, "/a b");
  EXPECT_EQ(target->migrations.at("sqlite"), "/m n");
  EXPECT_TRUE(target->warnings_are_errors);
  EXPECT_THAT(target->includes, IsEmpty());
}

}  // namespace
}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
