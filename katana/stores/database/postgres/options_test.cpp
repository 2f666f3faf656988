#include "katana/stores/database/postgres/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "katana/base/system/signal_masks_test.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

namespace katana::database::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string error_of_url(std::string_view url) {
  const auto options = Options::from_url(url);
  return options ? "none" : options.error().describe();
}

TEST(PostgresOptions, a_url_has_hosts_a_user_a_database_and_parameters) {
  const auto options = Options::from_url(
      "postgresql://app%40x:s%3Acret@db1,[::1]:5433/shop?sslmode=verify-full&connect_timeout=3");
  ASSERT_TRUE(options) << options.error().describe();
  EXPECT_EQ(options->user, "app@x");
  EXPECT_EQ(options->password, "s:cret");
  EXPECT_EQ(options->database, "shop");
  ASSERT_EQ(options->hosts.size(), 2u);
  EXPECT_EQ(options->hosts[0].name, "db1");
  EXPECT_EQ(options->hosts[0].port, 5432);
  EXPECT_EQ(options->hosts[1].name, "::1");
  EXPECT_EQ(options->hosts[1].port, 5433);
  EXPECT_THAT(options->parameters, testing::ElementsAre(std::pair("sslmode", "verify-full"),
                                                        std::pair("connect_timeout", "3")));
  EXPECT_EQ(options->describe(), "app@x@db1:5432,::1:5433/shop");
}

TEST(PostgresOptions, a_folder_of_a_unix_socket_is_a_host) {
  for (const char* const url : {"postgresql:///shop?host=/var/run/pg&user=app",
                                "postgresql://app@%2Fvar%2Frun%2Fpg/shop"}) {
    const auto options = Options::from_url(url);
    ASSERT_TRUE(options) << options.error().describe();
    EXPECT_EQ(options->hosts.at(0).name, "/var/run/pg");
    EXPECT_EQ(options->user, "app");
  }
}

TEST(PostgresOptions, an_error_names_the_part_and_never_the_password) {
  EXPECT_THAT(error_of_url("mysql://a/b"), HasSubstr("does not begin with postgresql://"));
  EXPECT_THAT(error_of_url("postgresql://a:hunter2%zz@h/b"), HasSubstr("password"));
  EXPECT_THAT(error_of_url("postgresql://a:hunter2%zz@h/b"), Not(HasSubstr("hunter2")));
  EXPECT_THAT(error_of_url("postgresql://a:hunter2@h:port/b"), HasSubstr("port of host 'h'"));
  EXPECT_THAT(error_of_url("postgresql://a:hunter2@h:70000/b"), Not(HasSubstr("hunter2")));
  EXPECT_THAT(error_of_url("postgresql://h/b?sslmod=require"), HasSubstr("'sslmod'"));
  EXPECT_THAT(error_of_url("postgresql://h/b?sslmode"), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(error_of_url("postgresql://[::1/b"), HasSubstr("']'"));
  EXPECT_THAT(error_of_url("postgresql://h%00/b"), HasSubstr("host"));
  EXPECT_THAT(error_of_url("postgresql://h/b?options=-c%20a=b"), HasSubstr("'options'"));
}

TEST(PostgresOptions, limits_that_make_no_sense_are_refused_by_name) {
  Options options;
  EXPECT_THAT(check(options).error().describe(), HasSubstr("'hosts'"));
  options.hosts = {{"localhost"}};
  EXPECT_TRUE(check(options));
  options.connections_max = 0;
  EXPECT_THAT(check(options).error().describe(), HasSubstr("'connections_max'"));
  options.connections_max = 1;
  options.timeout = {};
  EXPECT_THAT(check(options).error().describe(), HasSubstr("'timeout'"));
  options.timeout = seconds(1);
  options.password = "a";
  options.password_file = "b";
  EXPECT_THAT(check(options).error().describe(), HasSubstr("'password_file'"));
  options.password.clear();
  EXPECT_THAT(password_of(options).error().describe(), HasSubstr("'b'"));
}

TEST(PostgresOptions, a_parameter_of_the_url_replaces_a_default) {
  Options options;
  options.parameters = {{"gssencmode", "require"}};
  const ConnectParameters parameters(options, {{"db1", 5432, "10.0.0.1"}, {"db2", 7}}, "secret");
  std::vector<std::pair<std::string, std::string>> found;
  for (std::size_t index = 0; parameters.keywords()[index] != nullptr; ++index) {
    found.emplace_back(parameters.keywords()[index], parameters.values()[index]);
  }
  EXPECT_THAT(found, testing::IsSupersetOf({std::pair<std::string, std::string>("host", "db1,db2"),
                                            {"port", "5432,7"},
                                            {"hostaddr", "10.0.0.1,"},
                                            {"password", "secret"},
                                            {"gssencmode", "require"}}));
}

TEST(PostgresOptions, no_thread_of_a_database_takes_a_signal_of_the_program) {
  Options options;
  options.hosts = {{"127.0.0.1", 1}};
  options.user = "app";
  const auto opened = postgres::open(options);
  ASSERT_TRUE(opened) << opened.error().describe();
  EXPECT_EQ(quiet_threads("db-postgres"), 1u);
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
