#include "katana/stores/database/postgres/options.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <string>
#include <utility>

#include "katana/base/system/signal_masks_test.hpp"
#include "katana/stores/database/postgres/link_options.hpp"
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

TEST(PostgresOptions, a_list_of_ports_has_one_for_each_host_of_the_same_name_too) {
  const auto two =
      Options::from_url("postgresql:///b?host=db,db&hostaddr=10.0.0.1,10.0.0.2&port=5433,5434");
  ASSERT_TRUE(two) << two.error().describe();
  ASSERT_THAT(two->hosts, testing::SizeIs(2));
  EXPECT_EQ(two->hosts[0].port, 5433);
  EXPECT_EQ(two->hosts[1].port, 5434);
  EXPECT_EQ(two->hosts[1].address, "10.0.0.2");
  const auto one = Options::from_url("postgresql://a,b/c?port=6000");
  ASSERT_TRUE(one) << one.error().describe();
  EXPECT_EQ(one->hosts[0].port, 6000);
  EXPECT_EQ(one->hosts[1].port, 6000);
}

TEST(PostgresOptions, hostaddr_has_an_address_for_each_host_and_the_name_stays_for_tls) {
  const auto two = Options::from_url("postgresql://db1,db2:7/b?hostaddr=10.0.0.1,fe80::1%25lo");
  ASSERT_TRUE(two) << two.error().describe();
  EXPECT_EQ(two->hosts[0].name, "db1");
  EXPECT_EQ(two->hosts[0].address, "10.0.0.1");
  EXPECT_EQ(two->hosts[1].address, "fe80::1%lo");
  EXPECT_TRUE(two->parameters.empty());
  EXPECT_TRUE(check_parameters(*two));
  const auto later = Options::from_url("postgresql:///b?hostaddr=10.0.0.1&host=db1");
  ASSERT_TRUE(later);
  EXPECT_EQ(later->hosts[0].name, "db1");
  EXPECT_EQ(later->hosts[0].address, "10.0.0.1");
  const auto unnamed = Options::from_url("postgresql://:7/b?hostaddr=10.0.0.1,10.0.0.2");
  ASSERT_TRUE(unnamed);
  ASSERT_EQ(unnamed->hosts.size(), 2u);
  EXPECT_EQ(unnamed->hosts[1].name, "10.0.0.2") << "what TLS checks";
  EXPECT_EQ(unnamed->hosts[1].address, "10.0.0.2");
  EXPECT_EQ(unnamed->hosts[1].port, 7);
  EXPECT_THAT(error_of_url("postgresql://db1,db2/b?hostaddr=10.0.0.1"),
              HasSubstr("1 addresses in hostaddr for 2 hosts"));
  auto wrong = Options::from_url("postgresql://db1/b?hostaddr=db2");
  ASSERT_TRUE(wrong);
  EXPECT_THAT(check_parameters(*wrong).error().describe(), HasSubstr("hostaddr has 'db2'"));
  wrong->hosts[0].address = "";
  wrong->parameters = {{"hostaddr", "10.0.0.1"}};
  EXPECT_THAT(check_parameters(*wrong).error().describe(), HasSubstr("Host::address"));
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

TEST(PostgresOptions, a_database_on_reactors_alone_goes_without_what_needs_a_thread) {
  Options good;
  good.hosts = {{"127.0.0.1", 5432}};
  good.is_on_reactors_only = true;
  EXPECT_TRUE(check(good));
  Options migrates = good;
  migrates.migrations = "migrations";
  Options reads_password = good;
  reads_password.password_file = "password";
  Options has_replica = good;
  has_replica.replica_lag_max = seconds(1);
  for (const Options& each : {migrates, reads_password, has_replica}) {
    const auto refused = check(each);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("is_on_reactors_only"));
  }
}

TEST(PostgresOptions, the_same_seed_balances_hosts_in_the_same_order) {
  Options options;
  options.user = "app";
  options.hosts = {{"10.0.0.1"}, {"10.0.0.2"}, {"10.0.0.3"}, {"10.0.0.4"}};
  options.parameters = {{"load_balance_hosts", "random"}};
  const auto order_of = [&](std::uint64_t seed) {
    std::string order;
    const std::vector<Target> targets = {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"f"}};
    for (const Target& each : link_options(options, targets, "", seed)->targets) order += each.name;
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
}

TEST(PostgresOptions, a_parameter_of_the_url_replaces_a_default) {
  Options options;
  options.user = "app";
  options.parameters = {{"port", "7"}, {"keepalives_idle", "5"}, {"sslmode", "verify-full"}};
  const auto link = link_options(options, {{"db1", 5432, "10.0.0.1"}, {"db2", 5432}}, "secret");
  ASSERT_TRUE(link) << link.error().describe();
  EXPECT_EQ(link->targets[0].port, 7);
  EXPECT_EQ(link->targets[1].port, 7);
  EXPECT_EQ(link->targets[0].address, "10.0.0.1");
  EXPECT_EQ(link->password.reveal(), "secret");
  EXPECT_EQ(link->probes.idle_s, 5u);
  EXPECT_EQ(link->probes.interval_s, 10u);
  EXPECT_EQ(link->tls.mode, LinkTlsOptions::Mode::required);
  EXPECT_EQ(link->tls.check, LinkTlsOptions::Check::name);
  EXPECT_THAT(link->settings,
              testing::Contains(std::pair<std::string, std::string>("client_encoding", "UTF8")));
}

std::string refusal_of(const std::string& name, const std::string& value) {
  Options options;
  options.hosts = {{"db1"}};
  options.user = "app";
  options.parameters = {{name, value}};
  const auto good = check_parameters(options);
  return good ? "none" : good.error().describe();
}

TEST(PostgresOptions, a_parameter_that_would_protect_is_obeyed_or_refused) {
  EXPECT_THAT(refusal_of("sslmode", "verify_full"), HasSubstr("sslmode is 'verify_full'"));
  EXPECT_THAT(refusal_of("gssencmode", "require"), HasSubstr("GSSAPI"));
  EXPECT_THAT(refusal_of("sslnegotiation", "direct"), HasSubstr("sslmode=require"));
  EXPECT_EQ(refusal_of("sslrootcert", "system"), "none") << "sslmode is verify-full then";
  EXPECT_EQ(refusal_of("sslpassword", "hunter2"), "none");
  EXPECT_THAT(refusal_of("channel_binding", "always"), HasSubstr("channel_binding is 'always'"));
  EXPECT_THAT(refusal_of("require_auth", "!password,md5"),
              HasSubstr("require_auth is '!password,md5'"));
  EXPECT_THAT(refusal_of("scram_client_key", "abc"), HasSubstr("not supported"));
  EXPECT_THAT(refusal_of("keepalives_count", "x"), HasSubstr("whole number"));
  EXPECT_THAT(refusal_of("port", "0"), HasSubstr("the port of host 'db1'"));
  for (const char* const mode : {"disable", "allow", "prefer", "require", "verify-full"}) {
    EXPECT_EQ(refusal_of("sslmode", mode), "none");
  }
  EXPECT_THAT(refusal_of("sslmode", "verify-ca"), HasSubstr("any public authority would do"));
  EXPECT_THAT(refusal_of("sslcertmode", "require"),
              HasSubstr("cannot see whether the server asks"));
}

TEST(PostgresOptions, the_environment_has_what_the_url_does_not_have) {
  Options options;
  options.hosts = {{"db1"}};
  ::setenv("PGSSLMODE", "verify-full", 1);
  ::setenv("PGUSER", "of_environment", 1);
  const auto from_environment = link_options(options, {{"db1", 5432, "10.0.0.1"}}, "");
  options.user = "app";
  options.parameters = {{"sslmode", "disable"}};
  const auto from_url = link_options(options, {{"db1", 5432, "10.0.0.1"}}, "");
  ::setenv("PGSSLMODE", "on", 1);
  options.parameters.clear();
  const auto wrong = check_parameters(options);
  ::unsetenv("PGSSLMODE");
  ::unsetenv("PGUSER");
  ASSERT_TRUE(from_environment && from_url);
  EXPECT_EQ(from_environment->user, "of_environment");
  EXPECT_EQ(from_environment->tls.check, LinkTlsOptions::Check::name);
  EXPECT_EQ(from_url->user, "app");
  EXPECT_EQ(from_url->tls.mode, LinkTlsOptions::Mode::off);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().describe(), HasSubstr("sslmode (of PGSSLMODE) is 'on'"));
}

TEST(PostgresOptions, a_password_file_has_a_password_for_each_target) {
  std::string name = std::filesystem::temp_directory_path() / "katana_options_XXXXXX";
  const std::string folder = ::mkdtemp(name.data());
  std::ofstream(folder + "/pass") << "db1:5432:shop:app:one\ndb2:7:shop:app:two\n";
  std::filesystem::permissions(folder + "/pass", std::filesystem::perms::owner_read);
  Options options;
  options.hosts = {{"db1"}, {"db2", 7}};
  options.user = "app";
  options.database = "shop";
  options.parameters = {{"passfile", folder + "/pass"}};
  const std::vector<Target> targets = {{"db2", 7, "10.0.0.2"}, {"db1", 5432, "10.0.0.1"}};
  const auto link = link_options(options, targets, "");
  const auto given = link_options(options, targets, "own");
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(link && given);
  ASSERT_EQ(link->target_passwords.size(), 2u);
  EXPECT_EQ(link->target_passwords[0].reveal(), "two");
  EXPECT_EQ(link->target_passwords[1].reveal(), "one");
  EXPECT_THAT(given->target_passwords, testing::IsEmpty());
  EXPECT_EQ(given->password.reveal(), "own");
}

TEST(PostgresOptions, methods_of_authentication_are_those_that_are_named) {
  const auto methods_of = [](const std::string& list) {
    Options options;
    options.user = "app";
    options.parameters = {{"require_auth", list}};
    const protocol::Methods made = link_options(options, {}, "")->methods;
    return fmt::format("{:d}{:d}{:d}{:d}", made.scram, made.md5, made.cleartext, made.nothing);
  };
  EXPECT_EQ(methods_of(""), "1001") << "the others show the server a password or its digest";
  EXPECT_EQ(methods_of("scram-sha-256"), "1000");
  EXPECT_EQ(methods_of("md5,password"), "0110");
  EXPECT_EQ(methods_of("!none,!password"), "1100");
}

TEST(PostgresOptions, balanced_hosts_have_another_order_for_each_connection) {
  Options options;
  options.user = "app";
  std::vector<Target> targets;
  for (int number = 1; number <= 9; ++number) {
    options.hosts.push_back({fmt::format("10.0.0.{}", number), 5432});
    targets.push_back({options.hosts.back().name, 5432, options.hosts.back().name});
  }
  const auto order_of = [&](const char* balance) {
    options.parameters = {{"load_balance_hosts", balance}};
    std::vector<std::string> order;
    for (const Target& each : link_options(options, targets, "")->targets) {
      order.push_back(each.address);
    }
    return order;
  };
  const std::vector<std::string> given = order_of("disable");
  EXPECT_EQ(given.front(), "10.0.0.1");
  bool differs = false;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const std::vector<std::string> order = order_of("random");
    EXPECT_THAT(order, testing::UnorderedElementsAreArray(given));
    differs = differs || order != given;
  }
  EXPECT_TRUE(differs);
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
