#include "katana/stores/database/postgres/options_target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace katana::database::postgres {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

target::Sources with_variables(const std::map<std::string, std::string>& variables) {
  target::Sources sources;
  sources.variable = [&variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  sources.file = [](const std::string& path) -> target::SourceFile {
    if (path != "/app/.pgpass") return {};
    return {.state = target::SourceFile::State::read,
            .content = SecretText("db1:5432:shop:app:of the file\n")};
  };
  sources.user = "system_user";
  sources.home = "/app";
  return sources;
}

const std::map<std::string, std::string> no_variables;

Options two_hosts() {
  Options options;
  options.hosts = {{"db1"}, {"/tmp", 7}};
  options.user = "app";
  options.database = "shop";
  return options;
}

TEST(PostgresOptionsTarget, the_members_of_options_become_a_target) {
  Options options = two_hosts();
  options.parameters = {{"sslmode", "verify-full"}, {"target_session_attrs", "primary"}};
  const auto made = target_of(options, "hunter2", with_variables(no_variables));
  ASSERT_TRUE(made) << made.error().describe();
  EXPECT_EQ(made->describe(), "app@db1:5432,/tmp:7/shop");
  EXPECT_EQ(made->servers[1].socket_path, "/tmp/.s.PGSQL.7");
  EXPECT_EQ(made->servers[1].password.reveal(), "hunter2");
  EXPECT_EQ(made->tls.mode, target::TlsMode::verify_full);
  EXPECT_EQ(made->session, target::SessionKind::primary);
  EXPECT_THAT(made->parameters, Contains(Pair("application_name", "katana")));
}

TEST(PostgresOptionsTarget, the_environment_has_what_options_do_not_have) {
  const std::map<std::string, std::string> variables = {
      {"PGHOST", "other"}, {"PGHOSTADDR", "10.0.0.1"}, {"PGPORT", "9"},
      {"PGUSER", "other"}, {"PGSSLMODE", "require"},   {"PGAPPNAME", "other"}};
  const auto made = target_of(two_hosts(), "", with_variables(variables));
  ASSERT_TRUE(made) << made.error().describe();
  EXPECT_EQ(made->describe(), "app@db1:5432,/tmp:7/shop");
  EXPECT_EQ(made->servers[0].address, "");
  EXPECT_EQ(made->tls.mode, target::TlsMode::require);
  EXPECT_EQ(made->servers[0].password.reveal(), "of the file");
  EXPECT_EQ(made->servers[1].password.reveal(), "");
}

TEST(PostgresOptionsTarget, a_parameter_replaces_a_default_of_keepalive) {
  Options options = two_hosts();
  const auto usual = target_of(options, "", with_variables(no_variables));
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->keepalive.idle, seconds(30));
  EXPECT_EQ(usual->keepalive.interval, seconds(10));
  EXPECT_EQ(usual->keepalive.count, 3u);
  EXPECT_EQ(usual->keepalive.user_timeout, seconds(60));
  options.parameters = {{"keepalives_idle", "5"}, {"tcp_user_timeout", "0"}};
  const auto given = target_of(options, "", with_variables(no_variables));
  ASSERT_TRUE(given);
  EXPECT_EQ(given->keepalive.idle, seconds(5));
  EXPECT_EQ(given->keepalive.user_timeout, Duration());
}

TEST(PostgresOptionsTarget, a_parameter_replaces_a_member) {
  Options options = two_hosts();
  options.parameters = {{"port", "8"}, {"user", "other"}};
  const auto made = target_of(options, "", with_variables(no_variables));
  ASSERT_TRUE(made) << made.error().describe();
  EXPECT_EQ(made->describe(), "other@db1:8,/tmp:8/shop");
}

TEST(PostgresOptionsTarget, an_error_names_the_parameter_and_not_the_password) {
  Options options = two_hosts();
  options.parameters = {{"sslmod", "require"}};
  const auto unknown = target_of(options, "hunter2", with_variables(no_variables));
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().describe(), HasSubstr("'sslmod'"));
  options.parameters = {{"sslmode", "on"}};
  const auto wrong = target_of(options, "hunter2", with_variables(no_variables));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().describe(), HasSubstr("sslmode is 'on'"));
  EXPECT_THAT(wrong.error().describe(), Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
