#include "katana/identity/sessions/cookie_sealer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace katana::sessions {
namespace {

TEST(SealedCookie, has_the_record_and_the_size_that_was_said) {
  const auto sealer = CookieSealer::make(std::array{std::string(32, 'k')}, "__Host-session");
  ASSERT_TRUE(sealer);
  SessionRecord record;
  record.principal = "ann";
  record.roles = {"reader", "writer"};
  record.content = std::string("\0\xff", 2);
  record.seen_s = 1'800'000'000;
  const std::string value = sealer->seal(record);
  EXPECT_EQ(value.size(), CookieSealer::value_bytes(encode_session(record).size()));
  EXPECT_NE(sealer->seal(record), value);
  const auto opened = sealer->open(value);
  ASSERT_TRUE(opened);
  EXPECT_EQ(encode_session(*opened), encode_session(record));
  const auto other = CookieSealer::make(std::array{std::string(32, 'k')}, "__Host-other");
  EXPECT_FALSE(other->open(value));
}

TEST(SealedCookie, is_sealed_with_at_least_one_key_and_no_more_than_are_tried) {
  EXPECT_FALSE(CookieSealer::make({}, "session"));
  const std::vector<std::string> most(CookieSealer::keys_max, std::string(32, 'k'));
  EXPECT_TRUE(CookieSealer::make(most, "session"));
  const std::vector<std::string> more(CookieSealer::keys_max + 1, std::string(32, 'k'));
  EXPECT_FALSE(CookieSealer::make(more, "session"));
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
