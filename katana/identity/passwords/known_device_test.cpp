#include "katana/identity/passwords/known_device.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace katana::passwords {
namespace {

TEST(KnownDevice, is_known_for_its_account_alone) {
  const auto devices = KnownDevices::make();
  ASSERT_TRUE(devices);
  const std::string token = devices->token("ann");
  EXPECT_EQ(token.size(), 64u);
  const std::string device = devices->find(token, "ann");
  EXPECT_FALSE(device.empty());
  EXPECT_EQ(devices->find(token, "ann"), device);
  EXPECT_EQ(devices->find(token, "bob"), "");
  EXPECT_EQ(devices->find("", "ann"), "");
  const std::string other = devices->find(devices->token("ann"), "ann");
  EXPECT_NE(other, device) << "each counts by itself";
  EXPECT_EQ(KnownDevices::make()->find(token, "ann"), "") << "of another process";
}

TEST(KnownDevice, that_was_changed_anywhere_is_not_known) {
  const auto devices = KnownDevices::make();
  const std::string token = devices->token("ann");
  for (std::size_t index = 0; index < token.size(); ++index) {
    std::string changed = token;
    for (const char other : {token[index] == 'A' ? 'B' : 'A', '=', '!'}) {
      changed[index] = other;
      EXPECT_EQ(devices->find(changed, "ann"), "") << index << other;
    }
  }
  EXPECT_EQ(devices->find(token + "AAAA", "ann"), "");
  EXPECT_EQ(devices->find(token.substr(4), "ann"), "");
}

TEST(KnownDevice, outlasts_a_change_of_the_secret) {
  const std::string first(32, 'a'), second(32, 'b');
  const auto before = KnownDevices::make(std::array{first});
  const auto now = KnownDevices::make(std::array{second, first});
  const auto after = KnownDevices::make(std::array{second});
  const std::string token = before->token("ann");
  EXPECT_EQ(now->find(token, "ann"), before->find(token, "ann"));
  EXPECT_EQ(after->find(token, "ann"), "");
  EXPECT_NE(after->find(now->token("ann"), "ann"), "");
  const auto refused = KnownDevices::make(std::array{std::string("short")});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().describe().find("5 bytes"), std::string::npos);
}

TEST(KnownDevice, secrets_are_at_most_as_many_as_are_tried) {
  const std::vector<std::string> most(KnownDevices::secrets_max, std::string(32, 'a'));
  EXPECT_TRUE(KnownDevices::make(most));
  std::vector<std::string> more = most;
  more.emplace_back(32, 'b');
  const auto refused = KnownDevices::make(more);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
