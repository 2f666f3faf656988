#include "katana/identity/auth/revocations.hpp"

#include <gtest/gtest.h>

namespace katana::auth {
namespace {

constexpr Timestamp at(std::int64_t seconds) { return Timestamp(std::chrono::seconds(seconds)); }

TEST(Revocations, a_token_is_revoked_for_its_issuer_alone) {
  Revocations revocations;
  const auto before = revocations.generation();
  ASSERT_TRUE(revocations.revoke_token("a", "1", Timestamp::max()));
  EXPECT_NE(revocations.generation(), before);
  EXPECT_TRUE(revocations.covers("a", "1", "ann", at(1)));
  EXPECT_FALSE(revocations.covers("b", "1", "ann", at(1)));
  EXPECT_FALSE(revocations.covers("a", "2", "ann", at(1)));
  EXPECT_FALSE(revocations.covers("a", "", "ann", at(1)));
}

TEST(Revocations, of_a_person_all_tokens_before_a_time_are_revoked) {
  Revocations revocations;
  ASSERT_TRUE(revocations.revoke_subject("a", "ann", at(100), Timestamp::max()));
  ASSERT_TRUE(revocations.revoke_subject("a", "ann", at(50), at(1)));  // takes nothing back
  EXPECT_TRUE(revocations.covers("a", "1", "ann", at(99)));
  EXPECT_FALSE(revocations.covers("a", "1", "ann", at(100)));
  EXPECT_FALSE(revocations.covers("a", "1", "bob", at(99)));
}

TEST(Revocations, what_is_over_makes_room_and_nothing_else) {
  Revocations revocations(2);
  ASSERT_TRUE(revocations.revoke_token("a", "old", at(1)));
  ASSERT_TRUE(revocations.revoke_token("a", "1", Timestamp::max()));
  ASSERT_TRUE(revocations.revoke_token("a", "2", Timestamp::max()));
  EXPECT_EQ(revocations.count(), 2U);
  const auto full = revocations.revoke_token("a", "3", Timestamp::max());
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::resource_exhausted);
  EXPECT_FALSE(revocations.revoke_subject("a", "ann", at(1), Timestamp::max()));
  EXPECT_TRUE(revocations.revoke_token("a", "2", Timestamp::max()));  // is there already
  EXPECT_TRUE(revocations.covers("a", "1", "", at(1)));
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
