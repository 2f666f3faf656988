#include "katana/net/upstream/address_cache.hpp"

#include <gmock/gmock.h>

#include "katana/net/upstream/addresses.hpp"

namespace katana::upstream {
namespace {

using testing::ElementsAre;

constexpr Instant booted{1'000'000'000};
constexpr AddressCache::Lifetimes lifetimes{seconds(10), seconds(1)};

TEST(AddressCacheTest, a_result_is_kept_for_its_time_and_a_failure_for_less) {
  AddressCache cache(4, lifetimes);
  EXPECT_FALSE(cache.find("a", booted));
  EXPECT_EQ(cache.keep("a", AddressCache::Addresses{"192.0.2.1"}, booted), booted + seconds(10));
  EXPECT_EQ(cache.keep("b", fail(Code::not_found, "no"), booted), booted + seconds(1));
  auto found = cache.find("a", booted + milliseconds(9'999));
  ASSERT_TRUE(found);
  EXPECT_THAT(*found->addresses, ElementsAre("192.0.2.1"));
  EXPECT_FALSE(cache.find("a", booted + seconds(10)));
  ASSERT_TRUE(cache.find("b", booted + milliseconds(999)));
  EXPECT_FALSE(cache.find("b", booted)->addresses);
  EXPECT_FALSE(cache.find("b", booted + seconds(1)));
}

TEST(AddressCacheTest, a_full_cache_forgets_what_expires_next) {
  AddressCache cache(2, lifetimes);
  cache.keep("a", AddressCache::Addresses{"192.0.2.1"}, booted);
  cache.keep("b", fail(Code::not_found, "no"), booted);
  cache.keep("c", AddressCache::Addresses{"192.0.2.3"}, booted);
  EXPECT_TRUE(cache.find("a", booted));
  EXPECT_FALSE(cache.find("b", booted));
  EXPECT_TRUE(cache.find("c", booted));
  cache.keep("c", AddressCache::Addresses{"192.0.2.4"}, booted);
  EXPECT_TRUE(cache.find("a", booted));
}

TEST(AddressesTest, the_families_take_turns_in_the_order_of_the_resolver) {
  EXPECT_THAT(interleave_families({"::1", "::2", "::3", "192.0.2.1", "192.0.2.2"}),
              ElementsAre("::1", "192.0.2.1", "::2", "192.0.2.2", "::3"));
  EXPECT_THAT(interleave_families({"192.0.2.1", "192.0.2.2", "::1"}),
              ElementsAre("192.0.2.1", "::1", "192.0.2.2"));
  EXPECT_THAT(interleave_families({"::1", "192.0.2.1", "192.0.2.2", "192.0.2.3"}),
              ElementsAre("::1", "192.0.2.1", "192.0.2.2", "192.0.2.3"));
  EXPECT_THAT(interleave_families({"192.0.2.1"}), ElementsAre("192.0.2.1"));
}

}  // namespace
}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
