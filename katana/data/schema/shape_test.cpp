#include "katana/data/schema/shape.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <string>
#include <utility>

#include "katana/data/container/json_read.hpp"
#include "katana/data/schema/schema.hpp"

namespace katana::schema {
namespace {

Schema made_of(Bytes json) {
  auto made = Schema::compile(*container::read_json<container::Value>(json));
  if (!made) throw std::runtime_error(made.error().describe());
  return *std::move(made);
}

TEST(Shape, of_a_schema_that_leads_back_by_many_ways_is_no_larger_at_any_depth) {
  std::string choices, definitions;
  for (int at = 0; at < 6; ++at) {
    choices += (at == 0 ? "" : ", ") + fmt::format(R"({{"$ref": "#/$defs/O{}"}})", at);
    definitions +=
        fmt::format(R"(, "O{}": {{"type": "object", "properties": {{"op": {{"const": {}}},
            "of": {{"type": "array", "items": {{"$ref": "#/$defs/X"}}}}}}}})",
                    at, at);
  }
  const Schema schema = made_of(R"({"$ref": "#/$defs/X", "$defs": {"X": {"oneOf": [)" + choices +
                                "]}" + definitions + "}}");
  Shape shape(schema.root());
  for (int depth = 0; depth < 64; ++depth) {
    EXPECT_EQ(shape.types(), object_type);
    EXPECT_EQ(shape.names(), (std::vector<std::string>{"op", "of"}));
    shape = shape.member("of").item(0);
  }
}

TEST(Shape, of_a_schema_that_refers_to_itself_in_one_place_is_everything) {
  const Schema schema = made_of(R"({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "null"}]})");
  EXPECT_EQ(Shape(schema.root()).types(), all_types);
}

TEST(Shape, names_are_in_the_order_of_the_schema) {
  const Schema schema = made_of(R"({"properties": {"b": true}, "allOf": [{"properties": {"a": true},
      "allOf": [{"properties": {"d": true}}]}, {"properties": {"c": true}}]})");
  EXPECT_EQ(Shape(schema.root()).names(), (std::vector<std::string>{"b", "a", "d", "c"}));
}

}  // namespace
}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
