// The sources against libpq's: the same environment and files give the same values.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "katana/stores/database/postgres/target/defaults.hpp"
#include "katana/stores/database/postgres/target/libpq_fixture_test.hpp"
#include "katana/stores/database/postgres/target/read_target.hpp"

extern char** environ;

namespace katana::database::postgres::target {
namespace {

using ::testing::Test;

// An environment without PG* variables, and a home that is a new folder.
class PostgresLibpqDefaults : public Test {
 protected:
  PostgresLibpqDefaults() {
    std::string name = std::filesystem::temp_directory_path() / "katana_target_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::vector<std::string> names;
    for (char** each = environ; *each != nullptr; ++each) {
      const std::string variable(*each);
      if (variable.starts_with("PG")) names.push_back(variable.substr(0, variable.find('=')));
    }
    for (const std::string& each : names) ::unsetenv(each.c_str());
    set("HOME", folder_);
    set("PGSYSCONFDIR", folder_ + "/system");
    std::filesystem::create_directory(folder_ + "/system");
  }
  ~PostgresLibpqDefaults() override {
    for (const auto& [name, before] : before_) {
      if (before) ::setenv(name.c_str(), before->c_str(), 1);
      if (!before) ::unsetenv(name.c_str());
    }
    std::filesystem::remove_all(folder_);
  }

  void set(const std::string& name, const std::string& value) {
    const char* const before = std::getenv(name.c_str());
    if (!before_.contains(name)) {
      before_[name] = before ? std::optional<std::string>(before) : std::nullopt;
    }
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::string write(const std::string& name, const std::string& content, mode_t mode = 0600) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << content;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

  // The values with which libpq would connect, and the password for the first server. Nothing: it
  // refuses them. The hosts are numeric or folders, so that no name is looked up.
  std::optional<test::KeywordValues> by_libpq(const std::string& text) {
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectStart(text.c_str()),
                                                                  &PQfinish);
    const std::string message = PQerrorMessage(connection.get());
    // The port of a test is closed; to find that out is past the options.
    const bool has_tried = message.empty() || message.starts_with("connection to server");
    if (PQstatus(connection.get()) == CONNECTION_BAD && !has_tried) return std::nullopt;
    const test::LibpqOptions options(PQconninfo(connection.get()), &PQconninfoFree);
    test::KeywordValues values = test::values_of(options.get());
    values["password"] = PQpass(connection.get());
    return normal(std::move(values));
  }
  std::optional<test::KeywordValues> by_katana(const std::string& text) {
    auto settings = parse(text);
    if (!settings || !add_defaults(*settings, system_sources())) return std::nullopt;
    const auto target = make_target(*settings, system_sources());
    if (!target) return std::nullopt;
    test::KeywordValues values = test::values_of(*settings);
    values["user"] = target->user;
    values["dbname"] = target->database;
    values["password"] = target->servers.front().password.reveal();
    return normal(std::move(values));
  }
  // Without the values that only libpq's object or only the table has.
  static test::KeywordValues normal(test::KeywordValues values) {
    for (const char* const name : {"service", "passfile", "krbsrvname", "gssencmode"}) {
      values.erase(name);
    }
    for (const KeywordFacts& each : keywords()) {
      if (!test::is_known_to_libpq(each.keyword)) values.erase(std::string(each.name));
    }
    return values;
  }
  void expect_same(const std::string& text, bool is_accepted) {
    const auto libpq = by_libpq(text);
    EXPECT_EQ(libpq.has_value(), is_accepted) << text;
    EXPECT_EQ(by_katana(text), libpq) << text;
  }

  std::string folder_;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(PostgresLibpqDefaults, without_any_source_the_defaults_are_the_same) {
  expect_same("", true);
  expect_same("hostaddr=127.0.0.1 port=1", true);
  expect_same("postgresql:///?port=1", true);
}

TEST_F(PostgresLibpqDefaults, a_variable_has_a_value_that_the_string_does_not_have) {
  for (const KeywordFacts& each : keywords()) {
    if (each.environment == nullptr || !test::is_known_to_libpq(each.keyword)) continue;
    // A service without a file is refused; the other tests have services.
    if (each.keyword == Keyword::service) continue;
    set(each.environment, each.fallback != nullptr ? each.fallback : "");
  }
  set("PGCONNECT_TIMEOUT", "5");  // libpq refuses an empty one later, when it waits
  set("PGUSER", "of_environment");
  set("PGHOST", "/nowhere");
  set("PGPORT", "7");
  set("PGDATABASE", "base");
  set("PGPASSWORD", "word");
  set("PGSSLMODE", "require");
  expect_same("", true);
  expect_same("user=own dbname='' port=8", true);
  expect_same("postgresql://own@/?sslmode=disable", true);
  set("PGSSLMODE", "");
  expect_same("", false);
  set("PGREQUIRESSL", "1");
  expect_same("", false);
  ::unsetenv("PGSSLMODE");
  expect_same("", true);
}

TEST_F(PostgresLibpqDefaults, a_service_has_a_value_before_the_environment) {
  write(".pg_service.conf",
        "# comment\n\n[other]\nport=9\n[shop] \r\n  host=/nowhere\r\nport=7\nport=8\n"
        "user= a b \npassword=p=q\n[shop]\nport=10\n");
  set("PGPORT", "6");
  set("PGHOST", "127.0.0.1");
  expect_same("service=shop", true);
  expect_same("service=shop port=5", true);
  expect_same("postgresql:///?service=other&hostaddr=127.0.0.1", true);
  set("PGSERVICE", "shop");
  expect_same("", true);
  expect_same("service=other", true);
  expect_same("service=nowhere", false);
  expect_same("service=''", false);
  write("system/pg_service.conf", "[nowhere]\nhost=127.0.0.1\nport=11");
  expect_same("service=nowhere", true);
  set("PGSERVICEFILE", folder_ + "/no_file");
  expect_same("", false);
  set("PGSERVICEFILE", write("own.conf", "[shop]\nport=12\n"));
  expect_same("", true);
  expect_same("service=nowhere", true);
}

TEST_F(PostgresLibpqDefaults, both_refuse_the_same_service_files) {
  const std::vector<std::pair<std::string, bool>> files = {
      {"[shop]\nport=1", true},
      {"[shop]\nport = 1", false},
      {"[shop]\nport", false},
      {"[shop]\nservice=other", false},
      {"[shop]\nnothing=1", false},
      {"[shop]\n=1", false},
      {"nothing\n[shop]\nport=1", true},
      {"[shop]\nport=1\n[x]\nnothing", true},
      {"[shop", false},
      {"[shop]x\nport=1", true},
      {"[ shop]\nport=1", false},
      {" [shop]\n\tport=1\v\n", true},
      {"[shop]\n#" + std::string(1020, 'x') + "\nport=1", true},
      {"[shop]\n#" + std::string(1021, 'x') + "\nport=1", false},
      {"[shop]\n#" + std::string(1021, 'x'), true},
      {"[shop]\n#" + std::string(1022, 'x'), false},
      {"[shop]\nport=1\n[x]\n#" + std::string(2000, 'x'), true},
  };
  for (const auto& [content, is_accepted] : files) {
    write(".pg_service.conf", content);
    expect_same("service=shop hostaddr=127.0.0.1", is_accepted);
    if (HasFailure()) FAIL() << content.substr(0, 80);
  }
}

TEST_F(PostgresLibpqDefaults, the_password_of_a_file_is_the_same) {
  const std::string to = "hostaddr=127.0.0.1 port=1 user=u dbname=d";
  const std::vector<std::string> files = {
      "127.0.0.1:1:d:u:word",
      "*:*:*:*:any",
      "127.0.0.1:1:d:u:a\\:b\\\\c\\d:e\n",
      "# 127.0.0.1:1:d:u:comment\n\n127.0.0.1:2:d:u:no\n127.0.0.1:1:d:u:yes\r\n*:*:*:*:late",
      "127.0.0.1:1:d:u",
      "127.0.0.1:1:d:u:",
      "12\\7.0.0.1:1:\\d:u:escaped",
      "127.0.0.1:1:d:u\\:word",
      "localhost:1:d:u:word",
      "*x:1:d:u:word",
      "*:1:*:u:\\",
  };
  for (const std::string& content : files) {
    write(".pgpass", content);
    expect_same(to, true);
    expect_same("host=127.0.0.1 " + to, true);
    expect_same("password=own " + to, true);
    expect_same("password='' " + to, true);
    if (HasFailure()) FAIL() << content;
  }
  write(".pgpass", "h\\:x:1:d:u:by name\n*:1:d:u:other");
  expect_same("host=h:x " + to, true);
  write(".pgpass", "localhost:5432:d:u:default socket\n/nowhere:5432:d:u:named socket");
  expect_same("user=u dbname=d", true);
  expect_same("user=u dbname=d host=/var/run/postgresql", true);
  expect_same("user=u dbname=d host=/nowhere", true);
}

TEST_F(PostgresLibpqDefaults, a_password_file_that_others_may_read_is_not_used) {
  const std::string to = "hostaddr=127.0.0.1 port=1 user=u dbname=d";
  for (const mode_t mode : {0600u, 0400u, 0640u, 0604u, 0610u, 0601u}) {
    ::unlink((folder_ + "/.pgpass").c_str());
    write(".pgpass", "*:*:*:*:word", mode);
    expect_same(to, true);
  }
  const std::string own = write("own", "*:*:*:*:own word");
  expect_same("passfile=" + own + " " + to, true);
  expect_same("passfile='' " + to, true);
  set("PGPASSFILE", own);
  expect_same(to, true);
  expect_same("passfile=/no/file " + to, true);
  expect_same("passfile=" + folder_ + " " + to, true);
}

TEST_F(PostgresLibpqDefaults, both_refuse_the_same_values) {
  const std::string to = "hostaddr=127.0.0.1 port=1 ";
  const std::vector<std::pair<std::string, bool>> cases = {
      {to + "sslmode=disable", true},
      {to + "sslmode=verify-ca", true},
      {to + "sslmode=Require", false},
      {to + "channel_binding=require", true},
      {to + "channel_binding=required", false},
      {to + "channel_binding=", false},
      {to + "ssl_min_protocol_version=tlsv1.3", true},
      {to + "ssl_min_protocol_version=1.3", false},
      {to + "ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2", false},
      {to + "ssl_min_protocol_version='' ssl_max_protocol_version=TLSv1.2", true},
      {to + "gssencmode=disable", true},
      {to + "gssencmode=never", false},
      {to + "target_session_attrs=prefer-standby", true},
      {to + "target_session_attrs=master", false},
      {to + "target_session_attrs=", false},
      {"hostaddr=127.0.0.1,127.0.0.1 port=1", true},
      {"hostaddr=127.0.0.1,127.0.0.1 port=1,2", true},
      {"hostaddr=127.0.0.1,127.0.0.1 port=1,2,3", false},
      {"hostaddr=127.0.0.1,127.0.0.1 port=1,", true},
      {"hostaddr=127.0.0.1 host=a,b port=1", false},
      {"hostaddr=127.0.0.1,127.0.0.1 host=a port=1", false},
      {"hostaddr=127.0.0.1 port=0", false},
      {"hostaddr=127.0.0.1 port=65536", false},
      {"hostaddr=127.0.0.1 port=' +1 '", true},
      {"hostaddr=127.0.0.1 port=1x", false},
      {"hostaddr=localhost port=1", false},
      {"hostaddr=::1 port=1", true},
      {"host=/" + std::string(95, 'x') + " port=1", true},
      {"host=/" + std::string(96, 'x') + " port=1", false},
      {"host=@abstract port=1", true},
  };
  for (const auto& [text, is_accepted] : cases) expect_same(text, is_accepted);
}

}  // namespace
}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
