#include "katana/http/client/public_suffixes.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

namespace katana::client {
namespace {

TEST(PublicSuffixesTest, rules_wildcards_and_exceptions_are_obeyed) {
  const auto list = PublicSuffixes::parse(
      "// ===BEGIN ICANN DOMAINS===\r\ncom\r\nuk // and more\n\nco.uk\n*.ck\n!www.ck\n*.kobe.jp\n"
      "!city.kobe.jp\njp\nblogspot.com");
  ASSERT_TRUE(list.known());
  for (const char* const suffix : {"com", "uk", "co.uk", "co.uk.", "ck", "any.ck", "x.kobe.jp",
                                   "kobe.jp", "blogspot.com", "unknown"}) {
    EXPECT_TRUE(list.contains(suffix)) << suffix;
  }
  for (const char* const domain : {"example.com", "a.co.uk", "www.ck", "a.any.ck", "city.kobe.jp",
                                   "a.x.kobe.jp", "a.blogspot.com", "a.unknown"}) {
    EXPECT_FALSE(list.contains(domain)) << domain;
  }
}

// RFC 3492 §7.1, and names from the list.
TEST(PublicSuffixesTest, other_scripts_are_known_by_their_punycode) {
  const auto list = PublicSuffixes::parse(
      "\xe5\x85\xac\xe5\x8f\xb8.cn\n\xe4\xb8\xad\xe5\x9b\xbd\n*.b\xc3\xbc"
      "cher.example\nm\xc3\xa4.\xe4\xbb\x96\xe4\xbb\xac\xe4\xb8\xba\xe4\xbb\x80\xe4\xb9\x88\xe4\xb8"
      "\x8d\xe8\xaf\xb4\xe4\xb8\xad\xe6\x96\x87\n\xff\xfe.test\na\xd0\x80\xd3\xa4\xe1\x82\x9c."
      "cn\n");
  EXPECT_TRUE(list.contains("xn--a-iqb89d465a.cn"));
  EXPECT_TRUE(list.contains("xn--55qx5d.cn"));
  EXPECT_TRUE(list.contains("xn--fiqs8s"));
  EXPECT_TRUE(list.contains("x.xn--bcher-kva.example"));
  EXPECT_TRUE(list.contains("xn--m-0fa.xn--ihqwcrb4cv8a8dqg056pqjye"));
}

TEST(PublicSuffixesTest, a_file_that_is_missing_or_empty_is_named) {
  const auto missing = PublicSuffixes::read("/no/such/list");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().describe(), testing::HasSubstr("/no/such/list"));
  const auto empty = PublicSuffixes::read("/dev/null");
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().describe(), testing::HasSubstr("no rule"));
  EXPECT_FALSE(PublicSuffixes().known());
}

TEST(PublicSuffixesTest, the_list_of_the_system_is_read) {
  if (::access(PublicSuffixes::system_file, R_OK) != 0) GTEST_SKIP() << "no publicsuffix";
  const auto list = PublicSuffixes::system();
  EXPECT_TRUE(list->contains("co.uk"));
  EXPECT_TRUE(list->contains("github.io"));
  EXPECT_TRUE(list->contains("xn--fiqs8s"));
  EXPECT_FALSE(list->contains("example.co.uk"));
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
