#include "katana/stores/database/postgres/target/read_target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "katana/stores/database/postgres/target/sources_fixture_test.hpp"

namespace katana::database::postgres::target {
namespace {

using katana::postgres::ChannelBinding;
using katana::postgres::Methods;
using katana::postgres::version_3_0;
using katana::postgres::version_3_2;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

Target target_of(Bytes text, const test::FakeSources& fake = {}) {
  auto target = read_target(text, fake.sources());
  EXPECT_TRUE(target) << text << ": " << target.error().describe();
  return target ? *std::move(target) : Target();
}

std::string refusal_of(Bytes text, const test::FakeSources& fake = {}) {
  const auto target = read_target(text, fake.sources());
  return target ? "none" : target.error().describe();
}

std::string places(const Target& target) {
  std::string list;
  for (const Server& server : target.servers) {
    list += server.host + "|" + server.address + "|" + std::to_string(server.port) + "|" +
            server.socket_path + "\n";
  }
  return list;
}

TEST(PostgresTarget, servers_have_a_name_or_an_address_or_a_socket) {
  EXPECT_EQ(places(target_of("")), "/var/run/postgresql||5432|/var/run/postgresql/.s.PGSQL.5432\n");
  EXPECT_EQ(places(target_of("", {.socket_folder = ""})), "localhost||5432|\n");
  EXPECT_EQ(places(target_of("postgresql://db1,[::1]:7,%2Ftmp:8,")),
            "db1||5432|\n::1||7|\n/tmp||8|/tmp/.s.PGSQL.8\n"
            "/var/run/postgresql||5432|/var/run/postgresql/.s.PGSQL.5432\n");
  EXPECT_EQ(places(target_of("host=a,b, hostaddr=10.0.0.1,,::1 port=7")),
            "a|10.0.0.1|7|\nb||7|\n|::1|7|\n");
  EXPECT_EQ(places(target_of("host=@name")), "@name||5432|@name/.s.PGSQL.5432\n");
  EXPECT_EQ(places(target_of("host=/folder hostaddr=10.0.0.1")), "/folder|10.0.0.1|5432|\n");
  EXPECT_EQ(places(target_of("hostaddr=fe80::1%eth0 port=' 7 '")), "|fe80::1%eth0|7|\n");
}

TEST(PostgresTarget, servers_that_cannot_be_reached_are_refused) {
  EXPECT_THAT(refusal_of("host=a,b hostaddr=10.0.0.1"), HasSubstr("host has 2 parts and hostaddr"));
  EXPECT_THAT(refusal_of("host=a,b,c port=1,2"), HasSubstr("port has 2 parts for 3 hosts"));
  EXPECT_THAT(refusal_of("hostaddr=db1"), HasSubstr("hostaddr has 'db1'"));
  EXPECT_THAT(refusal_of("hostaddr=10.0.0.1%eth0"), HasSubstr("hostaddr has"));
  EXPECT_THAT(refusal_of("host=h port=65536"), HasSubstr("the port of host 'h'"));
  EXPECT_THAT(refusal_of("host=/" + std::string(100, 'x')), HasSubstr("at most 107 are possible"));
  std::string hosts = "host=a";
  for (std::size_t count = 1; count < servers_max; ++count) hosts += ",a";
  EXPECT_EQ(target_of(hosts).servers.size(), servers_max);
  EXPECT_THAT(refusal_of(hosts + ",a"), HasSubstr("at most 64"));
}

TEST(PostgresTarget, a_password_that_was_not_encoded_is_in_no_error) {
  for (const char* const text : {"postgresql://u:hunt/hunt@h/d", "postgresql://u:p@hunt@h/d"}) {
    const std::string error = refusal_of(text);
    EXPECT_THAT(error, HasSubstr(" a password"));
    EXPECT_THAT(error, Not(HasSubstr("hunt")));
  }
}

TEST(PostgresTarget, the_user_and_the_database_have_defaults) {
  EXPECT_EQ(target_of("").user, "system_user");
  EXPECT_EQ(target_of("").database, "system_user");
  EXPECT_EQ(target_of("user=u").database, "u");
  EXPECT_EQ(target_of("user='' dbname=d").user, "system_user");
  EXPECT_EQ(target_of("dbname=''", {.variables = {{"PGDATABASE", "e"}}}).database, "system_user");
  EXPECT_THAT(refusal_of("", {.user = ""}), HasSubstr("give 'user'"));
  EXPECT_EQ(target_of("postgresql://u@db1,%2Ftmp:7/d").describe(), "u@db1:5432,/tmp:7/d");
  EXPECT_EQ(target_of("hostaddr=10.0.0.1 user=u").describe(), "u@10.0.0.1:5432/u");
}

TEST(PostgresTarget, each_server_has_its_password) {
  test::FakeSources fake{.files = {{"/app/.pgpass",
                                    {"a:5432:d:u:of a\nlocalhost:*:*:*:of the socket\n"
                                     "10.0.0.1:5432:d:u:of the address"}}}};
  const auto passwords = [&](const Target& target) {
    std::string list;
    for (const Server& server : target.servers) list += std::string(server.password.reveal()) + "|";
    return list;
  };
  const std::string servers = "host=a,b,/var/run/postgresql, hostaddr=,,,10.0.0.1 user=u dbname=d ";
  EXPECT_EQ(passwords(target_of(servers, fake)), "of a||of the socket|of the address|");
  EXPECT_EQ(passwords(target_of(servers + "password=own", fake)), "own|own|own|own|");
  EXPECT_EQ(target_of(servers + "password=own", fake).password_file, "");
  EXPECT_EQ(passwords(target_of(servers + "passfile=/none", fake)), "||||");
  EXPECT_EQ(target_of(servers, {.home = ""}).password_file, "");

  Target target = target_of(servers, fake);
  fake.files["/app/.pgpass"].content = "b:5432:d:u:new";
  read_passwords(target, fake.sources());
  EXPECT_EQ(passwords(target), "|new|||");
  EXPECT_TRUE(target.warnings.empty());
  fake.files["/app/.pgpass"].is_private = false;
  read_passwords(target, fake.sources());
  EXPECT_EQ(passwords(target), "||||") << "what others may read is no secret";
  EXPECT_THAT(target.warnings, ElementsAre(HasSubstr("chmod 0600")));
}

TEST(PostgresTarget, no_text_of_a_target_has_the_password) {
  const Target target = target_of("postgresql://u:hunter2@h/d?sslpassword=hunter2");
  EXPECT_EQ(target.servers.front().password.reveal(), "hunter2");
  EXPECT_EQ(target.tls.key_password.reveal(), "hunter2");
  EXPECT_THAT(target.describe(), Not(HasSubstr("hunter2")));
  EXPECT_THAT(refusal_of("postgresql://u:hunter2@h/d?sslmode=a"), Not(HasSubstr("hunter2")));
  EXPECT_THAT(refusal_of("password=hunter2 oauth_client_secret=hunter2"),
              Not(HasSubstr("hunter2")));
}

TEST(PostgresTarget, an_error_names_the_source_and_the_permitted_values) {
  EXPECT_THAT(refusal_of("sslmode=on"), HasSubstr("sslmode is 'on': it is one of disable, allow"));
  EXPECT_THAT(refusal_of("", {.variables = {{"PGSSLMODE", "on"}}}),
              HasSubstr("sslmode (of PGSSLMODE) is 'on'"));
  EXPECT_THAT(refusal_of("channel_binding=" + std::string(50, 'x')),
              HasSubstr("is '" + std::string(40, 'x') + "'…"));
  for (const char* const name : {"sslnegotiation", "sslcertmode", "target_session_attrs",
                                 "load_balance_hosts", "gssencmode", "min_protocol_version"}) {
    EXPECT_THAT(refusal_of(std::string(name) + "=x"), HasSubstr("is 'x': it is one of ")) << name;
    EXPECT_THAT(refusal_of(std::string(name) + "="), HasSubstr("is '': it is one of ")) << name;
  }
  for (const char* const name : {"connect_timeout", "keepalives", "keepalives_idle",
                                 "keepalives_interval", "keepalives_count", "tcp_user_timeout"}) {
    EXPECT_THAT(refusal_of(std::string(name) + "=1s"), HasSubstr("it is a whole number")) << name;
    EXPECT_THAT(refusal_of(std::string(name) + "=99999999999"), HasSubstr("whole number")) << name;
  }
}

TEST(PostgresTarget, what_only_libpq_has_is_an_error_or_has_no_effect) {
  for (const KeywordFacts& each : keywords()) {
    const std::string text = std::string(each.name) + "=value";
    if (each.handling == Handling::refused) {
      EXPECT_THAT(refusal_of(text), HasSubstr(std::string(each.name) + " is not supported. "));
      EXPECT_EQ(refusal_of(std::string(each.name) + "="), "none") << "an empty value is none";
    }
    if (each.handling == Handling::ignored) {
      EXPECT_EQ(refusal_of(text), "none") << text;
    }
  }
  EXPECT_EQ(refusal_of("replication=off"), "none");
  EXPECT_EQ(refusal_of("gssencmode=prefer"), "none");
  EXPECT_THAT(refusal_of("gssencmode=require"), HasSubstr("sslmode=verify-full"));
  EXPECT_THAT(refusal_of("sslkey=pkcs11:key"), HasSubstr("keys of OpenSSL engines"));
  EXPECT_THAT(refusal_of("client_encoding=LATIN1"), HasSubstr("texts of KATANA are UTF-8"));
  for (const char* const name : {"UTF8", "utf-8", "Unicode", "auto", "''"}) {
    EXPECT_EQ(refusal_of("client_encoding=" + std::string(name)), "none");
  }
}

TEST(PostgresTarget, tls_has_its_mode_versions_and_files) {
  const TlsOptions usual = std::move(target_of("").tls);
  EXPECT_EQ(usual.mode, TlsMode::prefer);
  EXPECT_FALSE(usual.is_direct);
  EXPECT_TRUE(usual.has_server_name);
  EXPECT_EQ(usual.version_min, TlsVersion::v1_2);
  EXPECT_FALSE(usual.version_max);
  EXPECT_EQ(usual.roots.path, "/app/.postgresql/root.crt");
  EXPECT_TRUE(usual.roots.is_default);
  EXPECT_EQ(usual.certificate.path, "/app/.postgresql/postgresql.crt");
  EXPECT_EQ(usual.key.path, "/app/.postgresql/postgresql.key");
  EXPECT_EQ(usual.revoked.path, "/app/.postgresql/root.crl");
  const TlsOptions given = std::move(
      target_of(
          "host=h sslmode=verify-full sslnegotiation=direct sslrootcert=/r sslcert=/c sslkey=/k "
          "sslcrldir=/l sslsni=0 sslcertmode=require ssl_min_protocol_version=TLSV1.3 "
          "ssl_max_protocol_version=TLSv1.3")
          .tls);
  EXPECT_EQ(given.mode, TlsMode::verify_full);
  EXPECT_TRUE(given.is_direct);
  EXPECT_FALSE(given.has_server_name);
  EXPECT_EQ(given.version_min, TlsVersion::v1_3);
  EXPECT_EQ(given.version_max, TlsVersion::v1_3);
  EXPECT_EQ(given.roots.path, "/r");
  EXPECT_FALSE(given.roots.is_default);
  EXPECT_EQ(given.certificate.path, "/c");
  EXPECT_EQ(given.key.path, "/k");
  EXPECT_EQ(given.revoked.path, "");
  EXPECT_EQ(given.revoked_folder, "/l");
  EXPECT_EQ(given.certificate_use, CertificateUse::require);
  EXPECT_EQ(target_of("ssl_min_protocol_version=TLSv1").tls.version_min, TlsVersion::v1_2);
}

TEST(PostgresTarget, weak_values_of_tls_are_refused) {
  EXPECT_TRUE(target_of("host=h sslrootcert=system").tls.has_system_roots);
  EXPECT_EQ(target_of("host=h sslrootcert=system").tls.mode, TlsMode::verify_full);
  EXPECT_EQ(target_of("host=h sslrootcert=system").tls.roots.path, "");
  EXPECT_THAT(refusal_of("host=h sslrootcert=system sslmode=verify-ca"),
              HasSubstr("needs sslmode"));
  EXPECT_THAT(refusal_of("sslnegotiation=direct"), HasSubstr("needs sslmode=require"));
  EXPECT_EQ(refusal_of("sslnegotiation=direct sslmode=require"), "none");
  EXPECT_THAT(refusal_of("ssl_max_protocol_version=TLSv1.1 ssl_min_protocol_version=TLSv1"),
              HasSubstr("before TLSv1.2 are not supported"));
  EXPECT_THAT(refusal_of("ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2"),
              HasSubstr("at least ssl_min_protocol_version"));
  EXPECT_THAT(refusal_of("sslmode=verify-full hostaddr=10.0.0.1"),
              HasSubstr("no name to check for hostaddr '10.0.0.1'"));
  EXPECT_EQ(refusal_of("sslmode=verify-full hostaddr=10.0.0.1 host=h"), "none");
  EXPECT_EQ(refusal_of("sslmode=verify-ca hostaddr=10.0.0.1"), "none");
}

std::string methods_of(const std::string& list) {
  auto target = read_target("require_auth=" + list, test::FakeSources().sources());
  if (!target) return target.error().describe();
  if (!target->methods) return "any";
  const Methods& methods = *target->methods;
  return std::string(methods.scram ? "scram " : "") + (methods.md5 ? "md5 " : "") +
         (methods.cleartext ? "cleartext " : "") + (methods.nothing ? "nothing " : "");
}

TEST(PostgresTarget, require_auth_lists_methods_or_excludes_them) {
  EXPECT_EQ(methods_of(""), "any");
  EXPECT_EQ(methods_of("scram-sha-256"), "scram ");
  EXPECT_EQ(methods_of("md5,none"), "md5 nothing ");
  EXPECT_EQ(methods_of("password,gss"), "cleartext ");
  EXPECT_EQ(methods_of("!password"), "scram md5 nothing ");
  EXPECT_EQ(methods_of("!none,!md5,!gss"), "scram cleartext ");
  EXPECT_THAT(methods_of("gss,sspi,oauth"), HasSubstr("add one of scram-sha-256"));
  EXPECT_THAT(methods_of("!none,!md5,!password,!scram-sha-256"), HasSubstr("add one of"));
  EXPECT_THAT(methods_of("md5,!none"), HasSubstr("either every method has a '!'"));
  EXPECT_THAT(methods_of("!md5,none"), HasSubstr("either every method has a '!'"));
  EXPECT_THAT(methods_of("md5,md5"), HasSubstr("twice"));
  EXPECT_THAT(methods_of("!gss,!gss"), HasSubstr("twice"));
  EXPECT_THAT(methods_of("md5,"), HasSubstr("it is a list of"));
  EXPECT_THAT(methods_of("SCRAM-SHA-256"), HasSubstr("it is a list of"));
  EXPECT_EQ(target_of("").binding, ChannelBinding::preferred);
  EXPECT_EQ(target_of("channel_binding=require").binding, ChannelBinding::required);
  EXPECT_EQ(target_of("requirepeer=postgres").peer_user, "postgres");
}

TEST(PostgresTarget, times_and_keepalive_have_units) {
  EXPECT_FALSE(target_of("").connect_timeout);
  EXPECT_EQ(target_of("connect_timeout=3").connect_timeout, seconds(3));
  EXPECT_EQ(target_of("connect_timeout=-3").connect_timeout, Duration());
  const Keepalive usual = target_of("").keepalive;
  EXPECT_TRUE(usual.is_on);
  EXPECT_FALSE(usual.idle || usual.interval || usual.count || usual.user_timeout);
  const Keepalive given = target_of(
                              "keepalives=2 keepalives_idle=1 keepalives_interval=-2 "
                              "keepalives_count=3 tcp_user_timeout=4")
                              .keepalive;
  EXPECT_TRUE(given.is_on);
  EXPECT_EQ(given.idle, seconds(1));
  EXPECT_EQ(given.interval, Duration());
  EXPECT_EQ(given.count, 3u);
  EXPECT_EQ(given.user_timeout, milliseconds(4));
  EXPECT_FALSE(target_of("keepalives=0").keepalive.is_on);
  EXPECT_FALSE(target_of("keepalives=").keepalive.is_on);
}

TEST(PostgresTarget, the_startup_message_gets_further_parameters) {
  EXPECT_THAT(target_of("").parameters, ElementsAre(Pair("client_encoding", "UTF8")));
  EXPECT_THAT(target_of("application_name=a fallback_application_name=b options='-c x=1'",
                        {.variables = {{"PGTZ", "UTC"}, {"PGGEQO", "off"}}})
                  .parameters,
              ElementsAre(Pair("client_encoding", "UTF8"), Pair("application_name", "a"),
                          Pair("options", "-c x=1"), Pair("TimeZone", "UTC"), Pair("geqo", "off")));
  EXPECT_THAT(
      target_of("fallback_application_name=b", {.variables = {{"PGTZ", "default"}}}).parameters,
      ElementsAre(testing::_, Pair("application_name", "b")));
  EXPECT_THAT(target_of("application_name='' fallback_application_name=b").parameters,
              ElementsAre(testing::_))
      << "an empty name is a name, as for libpq";
}

TEST(PostgresTarget, the_versions_of_the_protocol_begin_with_3_0) {
  EXPECT_EQ(target_of("").version_min, version_3_0);
  EXPECT_EQ(target_of("").version_max, version_3_0);
  EXPECT_EQ(target_of("max_protocol_version=latest").version_max, version_3_2);
  EXPECT_EQ(target_of("min_protocol_version=3.2").version_max, version_3_2);
  EXPECT_THAT(refusal_of("min_protocol_version=3.2 max_protocol_version=3.0"),
              HasSubstr("at least min_protocol_version"));
}

TEST(PostgresTarget, the_kind_of_session_and_the_order_are_read) {
  EXPECT_EQ(target_of("").session, SessionKind::any);
  EXPECT_EQ(target_of("target_session_attrs=prefer-standby").session, SessionKind::prefer_standby);
  EXPECT_EQ(target_of("target_session_attrs=read-write").session, SessionKind::read_write);
  EXPECT_FALSE(target_of("").is_balanced);
  EXPECT_TRUE(target_of("load_balance_hosts=random").is_balanced);
}

}  // namespace
}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
