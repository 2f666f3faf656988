#include "katana/stores/database/postgres/target/connection_string.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace katana::database::postgres::target {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string values(Bytes text) {
  const auto settings = parse(text);
  if (!settings) return settings.error().describe();
  std::string list;
  for (const KeywordFacts& each : keywords()) {
    if (!settings->find(each.keyword)) continue;
    list += std::string(list.empty() ? "" : " ") + std::string(each.name) + "=" +
            std::string(settings->text(each.keyword));
  }
  return list;
}

TEST(PostgresConnectionString, a_url_has_the_parts_of_the_documentation) {
  // PostgreSQL 18, "Connection URIs", and what follows from its grammar.
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"postgresql://", ""},
      {"postgres://localhost", "host=localhost"},
      {"postgresql://localhost:5433", "host=localhost port=5433"},
      {"postgresql://localhost/mydb", "dbname=mydb host=localhost"},
      {"postgresql://user@localhost", "user=user host=localhost"},
      {"postgresql://user:secret@localhost", "user=user password=secret host=localhost"},
      {"postgresql://other@localhost/otherdb?connect_timeout=10&application_name=myapp",
       "user=other connect_timeout=10 dbname=otherdb host=localhost application_name=myapp"},
      {"postgresql://host1:123,host2:456/somedb?target_session_attrs=any",
       "dbname=somedb host=host1,host2 port=123,456 target_session_attrs=any"},
      {"postgresql://host1,host2:456,", "host=host1,host2, port=,456,"},
      {"postgresql://user@localhost:5433/mydb?options=-c%20synchronous_commit%3Doff",
       "user=user dbname=mydb host=localhost port=5433 options=-c synchronous_commit=off"},
      {"postgresql://[2001:db8::1234]/database", "dbname=database host=2001:db8::1234"},
      {"postgresql://[::1]:5433,h?user=a", "user=a host=::1,h port=5433,"},
      {"postgresql://%2Fvar%2Flib%2Fpostgresql/dbname", "dbname=dbname host=/var/lib/postgresql"},
      {"postgresql:///dbname?host=/var/lib/postgresql", "dbname=dbname host=/var/lib/postgresql"},
      {"postgresql://a%40b:c%3a%2F@h/d%3f", "user=a@b password=c:/ dbname=d? host=h"},
      {"postgresql://@h", "host=h"},
      {"postgresql://:p@h", "password=p host=h"},
      {"postgresql://h/?user=a&user=b", "user=b host=h"},
      {"postgresql://h?ssl=true", "host=h sslmode=require"},
      {"postgresql://h?requiressl=0", "host=h sslmode=prefer"},
      {"postgresql://h?%75ser=a&", "user=a host=h"},
      {"postgresql:// h ?  user = a & port = 7 ", "user=a host=h port=7"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(values(text), expected) << text;
}

TEST(PostgresConnectionString, pairs_have_quotes_and_escapes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {" \t\n", ""},
      {"host=localhost port=5432 dbname=mydb", "dbname=mydb host=localhost port=5432"},
      {"user = 'a b'\nport\t=\v7", "user=a b port=7"},
      {R"(user='it\'s' password=a\ b\\c)", R"(user=it's password=a b\c)"},
      {"user='a'host=b", "user=a host=b"},
      {"user='' host=", "user= host="},
      {"user= host=b", "user=host=b"},
      {"user=a'b'", "user=a'b'"},
      {R"(user=a\)", "user=a"},
      {"user=a user=b", "user=b"},
      {"requiressl=1", "sslmode=require"},
      {"dbname=postgres://h/x", "dbname=postgres://h/x"},
      {"user=\xc3\xa9", "user=\xc3\xa9"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(values(text), expected) << text;
}

TEST(PostgresConnectionString, an_error_names_the_part_and_the_remedy) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"postgresql://h%/b", "host with a '%' that two hexadecimal digits do not follow"},
      {"postgresql://h%0g", "write %25"},
      {"postgresql://h/a%00", "database with %00"},
      {"postgresql://%zz@h", "user with"},
      {"postgresql://[::1/b", "'[' and without ']'"},
      {"postgresql://[]/b", "no address between"},
      {"postgresql://[::1]x", "behind the ']'"},
      {"postgresql://h?sslmode", "at byte 16 that is not NAME=VALUE"},
      {"postgresql://h?a=b=c", "%3D"},
      {"postgresql://h?&", "NAME=VALUE"},
      {"postgresql://h?sslmod=a", "unknown keyword 'sslmod'; did you mean 'sslmode'?"},
      {"postgresql://u:p@h?sslmod=a", "unknown keyword 'sslmod'"},
      {"postgresql://h?ssl=false", "unknown keyword 'ssl'"},
      {"postgresql://a b/c", "host with white space (write %20"},
      {"host", "no '=' behind the word at byte 1"},
      {"user=a  'b", "at byte 9"},
      {"user='a", "no ' that ends the quoted value at byte 6"},
      {"user='a\\", "no ' that ends"},
      {"hostt=a", "unknown keyword 'hostt'; did you mean 'host'?"},
      {"=a", "unknown keyword at byte 1"},
      {"mysql://a/b", "no '='"},
      {std::string("user=a\0b", 8), "zero byte"},
      {std::string(connection_string_bytes_max + 1, ' '), "at most 65536"},
  };
  for (const auto& [text, expected] : cases) EXPECT_THAT(values(text), HasSubstr(expected)) << text;
}

TEST(PostgresConnectionString, no_error_has_a_part_of_the_password) {
  const std::vector<std::string> cases = {
      "postgresql://a:hunter2%zz@h/b",
      "postgresql://a:hunter2%00@h/b",
      "postgresql://a:hun hunter2@h/b",
      "postgresql://a:x/y?hunter2=1@h/b",      // '/' ends the host, as libpq reads it
      "postgresql://a:x@y/z?hunter2=1@h/b",    // the first '@' ends the password
      "postgresql://h?password=a%20hunter2%",  // a parameter
      "password=a hunter2",
      "password=a hunter2=b",
      "password='hunter2",
      "password=a sslmode=b Hunter2=",
      "sslpassword=a hunter2=b",
  };
  for (const std::string& text : cases) {
    const auto settings = parse(text);
    ASSERT_FALSE(settings) << text;
    EXPECT_EQ(settings.error().code(), Code::invalid_argument);
    EXPECT_THAT(settings.error().describe(), Not(HasSubstr("unter2"))) << text;
  }
}

TEST(PostgresConnectionString, the_longest_string_is_read) {
  EXPECT_TRUE(parse(std::string(connection_string_bytes_max, ' ')));
}

}  // namespace
}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
