#include "katana/base/values/secrets.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace katana {
namespace {

TEST(Secrets, random_octets_have_the_size_asked_for_and_differ) {
  for (const std::size_t size : {0, 1, 32, 1000}) EXPECT_EQ(random_octets(size).size(), size);
  EXPECT_NE(random_octets(32), random_octets(32));
}

TEST(Secrets, a_difference_is_seen_at_every_place_and_in_the_size) {
  const std::string text = "a secret of some length";
  EXPECT_TRUE(equal_in_constant_time(text, std::string(text)));
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_FALSE(equal_in_constant_time(text, text + "."));
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] = static_cast<char>(other[at] ^ 0x80);
    EXPECT_FALSE(equal_in_constant_time(text, other));
  }
}

TEST(Secrets, a_text_is_overwritten_when_it_is_erased) {
  std::string text(100, 's');
  const char* const memory = text.data();
  erase_secret(text);
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(Bytes(memory, 15).find('s', 1), Bytes::npos);
}

TEST(Secrets, a_secret_text_moves_and_is_copied_only_when_asked) {
  SecretText secret("swordfish");
  SecretText copy = secret.copy();
  SecretText moved = std::move(secret);
  EXPECT_EQ(moved.reveal(), "swordfish");
  EXPECT_TRUE(moved == copy);
  copy = SecretText("other");
  EXPECT_FALSE(moved == copy);
  moved.erase();
  EXPECT_TRUE(moved.empty());
  static_assert(!std::is_copy_constructible_v<SecretText>);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
