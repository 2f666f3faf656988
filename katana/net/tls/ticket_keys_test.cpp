#include "katana/net/tls/ticket_keys.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>

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

TEST(TicketKeys, a_ticket_of_the_key_before_is_opened_and_renewed) {
  TicketKeys keys(lifetime);
  std::array<unsigned char, 16> name{}, vector{};
  EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  const auto answer = [&](bool seal, Instant now) {
    EVP_CIPHER_CTX* const cipher = EVP_CIPHER_CTX_new();
    EVP_MAC_CTX* const digest = EVP_MAC_CTX_new(mac);
    const int answered = keys.prepare(name.data(), vector.data(), cipher, digest, seal, now);
    EVP_MAC_CTX_free(digest);
    EVP_CIPHER_CTX_free(cipher);
    return answered;
  };
  // OpenSSL reads 1 as good, 2 as a wish for a new ticket, and 0 as no ticket.
  EXPECT_EQ(answer(true, start), 1);
  EXPECT_EQ(answer(false, start + seconds(99)), 1);
  EXPECT_EQ(answer(false, start + seconds(100)), 2);
  EXPECT_EQ(answer(false, start + seconds(200)), 0);
  EVP_MAC_free(mac);
}

}  // namespace
}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
