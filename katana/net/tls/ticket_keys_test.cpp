#include "katana/net/tls/ticket_keys.hpp"

#include <gtest/gtest.h>

namespace katana::tls {
namespace {

constexpr Duration lifetime = seconds(100);
constexpr Instant start{0};

TEST(TicketKeys, a_key_seals_for_its_lifetime_and_opens_for_as_long_again) {
  TicketKeys keys(lifetime);
  const auto first = keys.present(start);
  ASSERT_TRUE(first);
  EXPECT_EQ(keys.present(start + seconds(99))->name, first->name);
  const auto second = keys.present(start + seconds(100));
  EXPECT_NE(second->name, first->name);
  const auto found = keys.find(first->name.data(), start + seconds(199));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->seals);
  EXPECT_EQ(found->key.cipher, first->cipher);
  EXPECT_TRUE(keys.find(second->name.data(), start + seconds(199))->seals);
  EXPECT_FALSE(keys.find(first->name.data(), start + seconds(200)));
}

TEST(TicketKeys, a_server_that_had_no_visitors_for_long_keeps_no_old_key) {
  TicketKeys keys(lifetime);
  const auto first = keys.present(start);
  EXPECT_FALSE(keys.find(first->name.data(), start + seconds(1'000)));
}

TEST(TicketKeys, keys_differ) {
  TicketKeys one(lifetime), other(lifetime);
  EXPECT_NE(one.present(start)->cipher, other.present(start)->cipher);
  EXPECT_FALSE(one.find(other.present(start)->name.data(), start));
}

}  // namespace
}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
