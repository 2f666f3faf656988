// The parser against libpq's: the same strings are refused, and the others have the same values.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/stores/database/postgres/target/libpq_fixture_test.hpp"

namespace katana::database::postgres::target {
namespace {

std::vector<std::string> seed_strings() {
  std::vector<std::string> texts = {
      "",
      "postgresql://",
      "postgres://",
      "postgresql:/",
      "postgresql://user:secret@host:5433/db?sslmode=require&connect_timeout=3",
      "postgresql://a%40b:c%3A%2f@h1:1,[::1]:2,%2Ftmp:3,/d%20b?options=-c%20a%3Db&",
      "postgresql://u@/db?host=/tmp,/var&port=1,2",
      "postgresql://@:5432/",
      "postgresql://:@h",
      "postgresql://u:p@w@h/d",
      "postgresql://u:p/w@h/d",
      "postgresql://h?a@b=c",
      "postgresql://[]:1",
      "postgresql://[::1]:2:3/x",
      "postgresql://[::1]?user=x",
      "postgresql://[a,b]:1,c",
      "postgresql://h:port/",
      "postgresql://h/d/e?f",
      "postgresql://h/d?user=a&password=b&ssl=true&requiressl=1&sslsni=0",
      "postgresql://h%2Ci:1%2C2",
      "host=a hostaddr=127.0.0.1,127.0.0.2 port=1,2 dbname='a b' user=\\'x\\'",
      "host = 'a' port\t=\n5432\r\nuser=\\\\",
      "password='a\\'b\\\\c' passfile=/x service=s",
      "application_name=a fallback_application_name=b replication=database",
      "keepalives=1 keepalives_idle=1 keepalives_interval=2 keepalives_count=3",
      "sslcert=a sslkey=b sslpassword=c sslrootcert=d sslcrl=e sslcrldir=f sslcompression=1",
      "gssencmode=disable krbsrvname=a gsslib=b requirepeer=c channel_binding=require",
      "user=a'b user='a'b'c' user=",
      "user",
      "user =",
      "=",
      "'='",
      "user==a=b",
      "user='",
      "user='\\",
      "user=\\",
  };
  for (const KeywordFacts& each : keywords()) {
    const std::string name(each.name);
    texts.push_back(name + "=value");
    texts.push_back("postgresql://h?" + name + "=v%61lue");
    texts.push_back("postgresql:///?" + name + "=&" + name + "=1");
    texts.push_back(name + "x=value");
    texts.push_back(" " + name + " = 'va\\'lue' ");
  }
  return texts;
}

void expect_same(const std::string& text, std::size_t& compared, std::size_t& accepted) {
  if (!test::is_comparable(text)) return;
  const auto by_libpq = test::parse_by_libpq(text);
  const auto by_katana = test::parse_by_katana(text);
  ++compared;
  if (by_libpq) ++accepted;
  EXPECT_EQ(by_katana, by_libpq) << "of: " << text;
}

TEST(PostgresLibpqParse, both_read_and_refuse_the_same_strings) {
  std::size_t compared = 0;
  std::size_t accepted = 0;
  for (const std::string& text : seed_strings()) expect_same(text, compared, accepted);
  EXPECT_GT(compared, 200u);
  EXPECT_GT(accepted, 100u);
  EXPECT_LT(accepted + 30, compared);
}

// Inserts, removes and replaces bytes that mean something, and joins parts of two strings.
std::string mutated(const std::vector<std::string>& seeds, Random& random) {
  constexpr std::string_view bytes = "%/?&=:@,[]'\\ \tpa1A0fF~";
  std::string text = seeds[random.below(seeds.size())];
  for (std::uint64_t left = random.between(1, 4); left > 0; --left) {
    const std::size_t at = random.below(text.size() + 1);
    const std::string other = seeds[random.below(seeds.size())];
    switch (random.below(4)) {
      case 0: text.insert(at, 1, bytes[random.below(bytes.size())]); break;
      case 1: text.erase(at, random.between(1, 3)); break;
      case 2:
        if (at < text.size()) text[at] = bytes[random.below(bytes.size())];
        break;
      default: text = text.substr(0, at) + other.substr(random.below(other.size() + 1)); break;
    }
  }
  return text;
}

TEST(PostgresLibpqParse, both_read_and_refuse_mutated_strings_alike) {
  const std::vector<std::string> seeds = seed_strings();
  Random random(18);
  std::size_t compared = 0;
  std::size_t accepted = 0;
  for (int round = 0; round < 5'000 && !testing::Test::HasFailure(); ++round) {
    expect_same(mutated(seeds, random), compared, accepted);
  }
  EXPECT_GT(compared, 2'000u);
  EXPECT_GT(accepted, 200u);
}

TEST(PostgresLibpqParse, libpq_has_every_keyword_of_its_version_and_no_other) {
  const test::LibpqOptions defaults(PQconndefaults(), &PQconninfoFree);
  ASSERT_TRUE(defaults);
  std::size_t found = 0;
  for (const PQconninfoOption* each = defaults.get(); each->keyword != nullptr; ++each) {
    const auto keyword = find_keyword(each->keyword);
    // A later libpq than 18 may have more.
    if (!keyword && test::libpq_major() > 18) continue;
    ASSERT_TRUE(keyword) << each->keyword;
    ++found;
    const KeywordFacts& facts = facts_of(*keyword);
    EXPECT_TRUE(test::is_known_to_libpq(*keyword)) << each->keyword;
    const auto text = [](const char* value) { return std::string(value ? value : "(none)"); };
    EXPECT_EQ(text(facts.environment), text(each->envvar)) << each->keyword;
    // A libpq without GSSAPI has another default.
    if (keyword == Keyword::gssencmode) continue;
    EXPECT_EQ(text(facts.fallback), text(each->compiled)) << each->keyword;
  }
  EXPECT_EQ(found, static_cast<std::size_t>(
                       std::ranges::count_if(keywords(), [](const KeywordFacts& each) {
                         return test::is_known_to_libpq(each.keyword);
                       })));
}

}  // namespace
}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
