#include "katana/data/container/as_json.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/data/container/value.hpp"

namespace katana::container {
namespace {

struct StreetAddress {
  std::string street;
  std::vector<int> floors;
  bool operator==(const StreetAddress&) const = default;
};
KATANA_DESCRIBE(StreetAddress, street, floors)

TEST(AsJson, a_described_struct_is_its_json) {
  using Form = TextForm<AsJson<StreetAddress>>;
  const AsJson<StreetAddress> address{{"Main \"1\"", {1, 2}}};
  const std::string text = Form::write(address);
  EXPECT_EQ(text, R"({"street":"Main \"1\"","floors":[1,2]})");
  const auto parsed = Form::parse(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, address);
  EXPECT_EQ((*parsed)->street, "Main \"1\"");
  for (const char* const wrong : {"", "{", "[]", R"({"street":7,"floors":[]})"}) {
    EXPECT_FALSE(Form::parse(wrong)) << wrong;
  }
}

TEST(AsJson, what_does_not_fit_is_named_with_its_place) {
  using Form = TextForm<AsJson<StreetAddress>>;
  EXPECT_EQ(Form::misfit(R"({"street":7,"floors":["a"]})"),
            "/street: expected string, got 7; /floors/0: expected integer, got string");
  EXPECT_EQ(Form::misfit("{").substr(0, 15), "malformed JSON:");
}

TEST(AsJson, a_value_is_any_json) {
  using Form = TextForm<AsJson<Value>>;
  for (const char* const text : {R"({"a":[1,2.5,null,true],"b":"c"})", "[]", "null", "7"}) {
    const auto parsed = Form::parse(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(Form::write(*parsed), text);
  }
  EXPECT_FALSE(Form::parse("nul"));
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
