#include "katana/base/values/enveloped.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana {
namespace {

struct User {
  std::string name;
};
KATANA_DESCRIBE(User, name)

TEST(Enveloped, is_an_object_with_one_member_of_the_given_name) {
  std::string names;
  using Reply = Enveloped<"user", User>;
  const Reply reply{{"ann"}};
  for_each_field(reply, [&](const auto& field, const User& user) {
    names += std::string(field.name) + "=" + user.name;
    EXPECT_TRUE(field.required());
  });
  EXPECT_EQ(names, "user=ann");
  EXPECT_EQ(reply->name, "ann");
  EXPECT_EQ((*reply).name, "ann");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
