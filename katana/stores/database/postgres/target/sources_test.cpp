#include "katana/stores/database/postgres/target/sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "katana/stores/database/postgres/target/connection_string.hpp"
#include "katana/stores/database/postgres/target/defaults.hpp"
#include "katana/stores/database/postgres/target/password_file.hpp"
#include "katana/stores/database/postgres/target/service_file.hpp"
#include "katana/stores/database/postgres/target/sources_fixture_test.hpp"

namespace katana::database::postgres::target {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Sourced = test::FakeSources;

Settings settings_with_sources(Bytes text, const Sourced& fake) {
  auto settings = parse(text);
  EXPECT_TRUE(settings);
  const auto added = add_defaults(*settings, fake.sources());
  EXPECT_TRUE(added) << added.error().describe();
  return *std::move(settings);
}

std::string error_of_sources(Bytes text, const Sourced& fake) {
  auto settings = parse(text);
  EXPECT_TRUE(settings);
  const auto added = add_defaults(*settings, fake.sources());
  return added ? "none" : added.error().describe();
}

TEST(PostgresSources, a_value_comes_from_the_first_source_that_has_one) {
  const Sourced fake{
      .variables = {{"PGUSER", "e"}, {"PGPORT", "2"}, {"PGDATABASE", "e"}, {"PGSSLMODE", ""}},
      .files = {{"/app/.pg_service.conf", {"[s]\nport=3\ndbname=s"}}}};
  const Settings settings = settings_with_sources("service=s dbname=own", fake);
  EXPECT_EQ(settings.text(Keyword::dbname), "own");
  EXPECT_EQ(settings.origin(Keyword::dbname), Origin::connection_string);
  EXPECT_EQ(settings.text(Keyword::port), "3");
  EXPECT_EQ(settings.origin(Keyword::port), Origin::service_file);
  EXPECT_EQ(settings.text(Keyword::user), "e");
  EXPECT_EQ(settings.origin(Keyword::user), Origin::environment);
  EXPECT_EQ(settings.find(Keyword::sslmode), "") << "an empty value is a value";
  EXPECT_EQ(settings.text(Keyword::channel_binding), "prefer");
  EXPECT_EQ(settings.origin(Keyword::channel_binding), Origin::fallback);
  EXPECT_FALSE(settings.find(Keyword::host));
  EXPECT_EQ(settings_with_sources("", {}).text(Keyword::user), "system_user");
}

TEST(PostgresSources, an_error_can_name_the_source_of_a_value) {
  const Sourced fake{.variables = {{"PGUSER", "e"}},
                     .files = {{"/app/.pg_service.conf", {"[s]\nport=3"}}}};
  const Settings settings = settings_with_sources("service=s dbname=own", fake);
  EXPECT_EQ(settings.describe(Keyword::dbname), "dbname");
  EXPECT_EQ(settings.describe(Keyword::port), "port (of the service file)");
  EXPECT_EQ(settings.describe(Keyword::user), "user (of PGUSER)");
  EXPECT_EQ(settings.describe(Keyword::sslmode), "sslmode");
  EXPECT_EQ(settings.describe(Keyword::host), "host");
}

TEST(PostgresSources, the_authorities_of_the_system_make_verify_full_the_default) {
  EXPECT_EQ(settings_with_sources("sslrootcert=system", {}).text(Keyword::sslmode), "verify-full");
  EXPECT_EQ(settings_with_sources("sslrootcert=system sslmode=allow", {}).text(Keyword::sslmode),
            "allow");
  EXPECT_EQ(settings_with_sources("sslrootcert=/system", {}).text(Keyword::sslmode), "prefer");
}

TEST(PostgresServiceFile, an_error_names_the_file_and_the_line_and_no_content) {
  const auto error_of_line = [](const std::string& line) {
    const Sourced fake{.files = {{"/app/.pg_service.conf", {"[s]\n\n" + line + "\n"}}}};
    return error_of_sources("service=s", fake);
  };
  for (const auto& [line, expected] : std::vector<std::pair<std::string, std::string>>{
           {"ldap://host/hunter2", "LDAP are not supported"},
           {"hunter2", "no '='"},
           {"hunter2=1", "unknown keyword"},
           {"service=hunter2", "another service"},
           {"#" + std::string(2000, 'x'), "too long"},
           {std::string("port=1\0", 7), "zero byte"},
       }) {
    EXPECT_THAT(error_of_line(line), AllOf(HasSubstr("'/app/.pg_service.conf', line 3: "),
                                           HasSubstr(expected), Not(HasSubstr("hunter2"))));
  }
}

TEST(PostgresServiceFile, a_file_that_cannot_be_read_is_an_error) {
  Sourced fake{.variables = {{"PGSERVICEFILE", "/own"}}};
  EXPECT_THAT(error_of_sources("service=s", fake), HasSubstr("'/own' cannot be read"));
  fake.files["/own"] = {.state = SourceFile::State::too_large};
  EXPECT_THAT(error_of_sources("service=s", fake), HasSubstr("'/own' is larger than 1 MiB"));
  fake.variables.clear();
  fake.files["/app/.pg_service.conf"] = {.state = SourceFile::State::unreadable};
  EXPECT_THAT(error_of_sources("service=s", fake), HasSubstr(".pg_service.conf' cannot be read"));
}

TEST(PostgresServiceFile, a_service_is_looked_for_in_the_folder_of_the_system) {
  Sourced fake{.files = {{"/etc/postgresql-common/pg_service.conf", {"[s]\nport=3"}},
                         {"/other/pg_service.conf", {"[s]\nport=4"}}}};
  EXPECT_EQ(settings_with_sources("service=s", fake).text(Keyword::port), "3");
  fake.variables["PGSYSCONFDIR"] = "/other";
  EXPECT_EQ(settings_with_sources("service=s", fake).text(Keyword::port), "4");
  EXPECT_THAT(error_of_sources("service=t", fake), HasSubstr("section [t]"));
  EXPECT_EQ(error_of_sources("", fake), "none");
}

TEST(PostgresServiceFile, a_value_of_the_string_is_not_replaced) {
  const Sourced fake{.files = {{"/app/.pg_service.conf", {"[s]\nport=3\nport=4"}}}};
  EXPECT_EQ(settings_with_sources("service=s port=5", fake).text(Keyword::port), "5");
  EXPECT_EQ(settings_with_sources("service=s", fake).text(Keyword::port), "3");
}

TEST(PostgresPasswordFile, the_first_line_that_fits_has_the_password) {
  const PasswordQuestion question{.host = "h:1", .port = 5432, .database = "d", .user = "u\\"};
  const auto password = [&](Bytes content) -> std::string {
    const auto found = find_password(content, question);
    return found ? std::string(found->reveal()) : "(none)";
  };
  EXPECT_EQ(password("h\\:1:5432:d:u\\\\:a\nh\\:1:5432:d:u\\\\:b"), "a");
  EXPECT_EQ(password("*:5433:*:*:a\n*:*:*:*:b\\:\\\\c:d\r\r\n"), "b:\\c");
  EXPECT_EQ(password("#*:*:*:*:a"), "(none)");
  EXPECT_EQ(password("h:1:5432:d:u:a"), "(none)");
  EXPECT_EQ(password("**:*:*:*:a\n*:*:*:*"), "(none)");
  EXPECT_EQ(password(Bytes("*:*:*:*:a\0b", 11)), "(none)");
  EXPECT_EQ(password("*:*:*:*:"), "");
  EXPECT_EQ(password("*:*:*:*:a\\"), "a\\");
  EXPECT_EQ(password(""), "(none)");
}

TEST(PostgresPasswordFile, the_log_learns_why_a_file_is_not_used) {
  const auto problem = [](const SourceFile& file) { return password_file_problem(file, "/p"); };
  EXPECT_EQ(problem({.state = SourceFile::State::missing}), "");
  EXPECT_EQ(problem({.state = SourceFile::State::read}), "");
  EXPECT_THAT(problem({.state = SourceFile::State::read, .is_private = false}),
              HasSubstr("'/p' is not used: others have access to it (chmod 0600 it)"));
  EXPECT_THAT(problem({.state = SourceFile::State::unreadable, .is_plain = false}),
              HasSubstr("no plain file"));
  EXPECT_THAT(problem({.state = SourceFile::State::unreadable}), HasSubstr("cannot be read"));
  EXPECT_THAT(problem({.state = SourceFile::State::too_large}), HasSubstr("larger than 1 MiB"));
}

TEST(PostgresSystemSources, a_file_is_read_with_its_permissions) {
  const Sources sources = system_sources();
  std::string name = std::filesystem::temp_directory_path() / "katana_sources_XXXXXX";
  const std::string folder = ::mkdtemp(name.data());
  const std::string path = folder + "/file";
  std::ofstream(path) << "content\n";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(sources.file(path).content.reveal(), "content\n");
  EXPECT_TRUE(sources.file(path).is_private);
  ASSERT_EQ(::chmod(path.c_str(), 0610), 0);
  EXPECT_FALSE(sources.file(path).is_private);
  EXPECT_EQ(sources.file(folder + "/none").state, SourceFile::State::missing);
  EXPECT_EQ(sources.file(path + "/none").state, SourceFile::State::missing);
  EXPECT_EQ(sources.file(folder).state, SourceFile::State::unreadable);
  EXPECT_FALSE(sources.file(folder).is_plain);
  ASSERT_EQ(::symlink("loop", (folder + "/loop").c_str()), 0);
  EXPECT_EQ(sources.file(folder + "/loop").state, SourceFile::State::unreadable);
  ASSERT_EQ(::mkfifo((folder + "/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(sources.file(folder + "/pipe").is_plain) << "and nothing waits for its writer";
  std::filesystem::resize_file(path, source_file_bytes_max);
  EXPECT_EQ(sources.file(path).state, SourceFile::State::read);
  std::filesystem::resize_file(path, source_file_bytes_max + 1);
  EXPECT_EQ(sources.file(path).state, SourceFile::State::too_large);
  std::filesystem::remove_all(folder);
}

TEST(PostgresSystemSources, variables_and_the_user_are_those_of_the_process) {
  ::setenv("KATANA_TARGET_TEST", "a", 1);
  const Sources sources = system_sources();
  EXPECT_EQ(sources.variable("KATANA_TARGET_TEST"), "a");
  ::unsetenv("KATANA_TARGET_TEST");
  EXPECT_FALSE(sources.variable("KATANA_TARGET_TEST"));
  EXPECT_FALSE(sources.user.empty());
  const char* const before = std::getenv("HOME");
  const std::string home = before != nullptr ? before : "";
  ::setenv("HOME", "/some/home", 1);
  EXPECT_EQ(system_sources().home, "/some/home");
  ::setenv("HOME", "", 1);
  EXPECT_FALSE(system_sources().home.empty()) << "the system's entry of the user has it";
  if (before != nullptr) ::setenv("HOME", home.c_str(), 1);
  if (before == nullptr) ::unsetenv("HOME");
}

}  // namespace
}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
