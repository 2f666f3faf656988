#include "katana/base/values/uuid.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <unordered_set>

namespace katana {
namespace {

std::string text_of(const Uuid& uuid) { return std::string(Bytes(uuid.to_text())); }

TEST(Uuid, reads_either_case_and_writes_the_lower) {
  const auto uuid = Uuid::parse("017F22E2-79B0-7CC3-98C4-DC0C0C07398F");  // RFC 9562 §A.6
  ASSERT_TRUE(uuid);
  EXPECT_EQ(text_of(*uuid), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  EXPECT_EQ(uuid->version(), 7u);
}

TEST(Uuid, what_is_none_is_nothing) {
  for (const Bytes text :
       {"", "017f22e2-79b0-7cc3-98c4-dc0c0c07398", "017f22e279b07cc398c4dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398g", "{17f22e2-79b0-7cc3-98c4-dc0c0c07398}"}) {
    EXPECT_EQ(Uuid::parse(text), std::nullopt) << text;
  }
}

TEST(Uuid, the_default_is_nil) {
  EXPECT_TRUE(Uuid().is_nil());
  EXPECT_EQ(text_of(Uuid()), "00000000-0000-0000-0000-000000000000");
}

TEST(Uuid, random_ones_are_of_version_4_and_none_is_given_twice) {
  std::unordered_set<Uuid> seen;
  for (int count = 0; count < 1000; ++count) {
    const Uuid uuid = Uuid::random();
    EXPECT_EQ(uuid.version(), 4u);
    EXPECT_EQ(uuid.octets()[8] >> 6, 2);
    EXPECT_EQ(Uuid::parse(uuid.to_text()), uuid);
    EXPECT_TRUE(seen.insert(uuid).second);
  }
}

TEST(Uuid, ordered_ones_begin_with_the_time) {
  const std::chrono::sys_time<std::chrono::nanoseconds> time(
      std::chrono::milliseconds(0x017f22e279b0) + std::chrono::nanoseconds(500'000));
  const std::string text = text_of(Uuid::ordered(time));
  EXPECT_EQ(text.substr(0, 18), "017f22e2-79b0-7800");  // half of the millisecond
  EXPECT_TRUE(Bytes("89ab").contains(text[19]));
}

TEST(Uuid, ordered_ones_rise_with_time_as_values_and_as_texts) {
  Uuid before;
  for (int step = 1; step < 1000; ++step) {
    const Uuid uuid = Uuid::ordered(std::chrono::sys_time<std::chrono::nanoseconds>(
        std::chrono::nanoseconds(1'700'000'000'000'000'000 + step * 250)));
    EXPECT_LT(before, uuid);
    EXPECT_LT(text_of(before), text_of(uuid));
    before = uuid;
  }
}

TEST(Uuid, before_1970_there_is_only_the_beginning) {
  const Uuid uuid =
      Uuid::ordered(std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(-5)));
  EXPECT_EQ(text_of(uuid).substr(0, 18), "00000000-0000-7000");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
