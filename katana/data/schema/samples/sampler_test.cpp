// Drawn data fits schemas with every keyword, and those of the JSON Schema Test Suite that accept
// any data (`tools/matrix json_schema` downloads them).
#include "katana/data/schema/samples/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/schema/samples/pattern_text.hpp"

namespace katana::schema {
namespace {

Schema schema_of(Bytes text) {
  auto document = container::read_json<container::Value>(text);
  EXPECT_TRUE(document) << text;
  auto made = Schema::compile(*std::move(document), {.assert_formats = true});
  EXPECT_TRUE(made) << text << (made ? "" : made.error().describe());
  return *std::move(made);
}

std::string drawn(Bytes schema, std::uint64_t seed, SampleOptions options = {}) {
  Sampler sampler(seed, options);
  auto value = sampler.draw(schema_of(schema));
  return value ? container::to_json(*value) : value.error().describe();
}

constexpr Bytes schemas[] = {
    R"(true)",
    R"({"type": "integer", "minimum": 3, "exclusiveMaximum": 9, "multipleOf": 4})",
    R"({"type": "integer", "exclusiveMinimum": -7, "maximum": -3})",
    R"({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.01})",
    R"({"type": "number", "multipleOf": 0.25, "minimum": 10, "maximum": 11})",
    R"({"allOf": [{"multipleOf": 4}, {"multipleOf": 6}], "type": "integer"})",
    R"({"type": "string", "minLength": 40, "maxLength": 44})",
    R"({"type": "string", "maxLength": 0})",
    R"({"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4,6}$"})",
    R"({"type": "string", "pattern": "^(?:red|green|blue)(-light)?$", "minLength": 6})",
    R"({"type": "string", "pattern": "^\\+?[1-9]\\d{7,14}$"})",
    R"({"type": "string", "pattern": "^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$", "maxLength": 30})",
    R"({"type": "string", "pattern": "^\\p{L}+$"})",
    R"({"type": "string", "pattern": "x", "minLength": 12})",
    R"({"type": "string", "format": "date-time"})",
    R"({"type": "string", "format": "uuid"})",
    R"({"type": "string", "format": "ipv6"})",
    R"({"type": "string", "format": "email", "maxLength": 40})",
    R"({"type": "string", "format": "uri"})",
    R"({"type": ["string", "null"]})",
    R"({"enum": ["a", 1, null, {"b": []}]})",
    R"({"const": {"kind": "x"}})",
    R"({"type": "array", "items": {"type": "integer"}, "minItems": 5, "uniqueItems": true})",
    R"({"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}],
        "items": false, "minItems": 2})",
    R"({"type": "array", "contains": {"const": 7}, "minContains": 2,
        "items": {"type": "integer"}})",
    R"({"type": "object", "required": ["id", "tags"], "additionalProperties": false,
        "properties": {"id": {"type": "integer"}, "tags": {"type": "array",
        "items": {"type": "string", "minLength": 2}}, "note": {"type": "string"}}})",
    R"({"type": "object", "minProperties": 3, "propertyNames": {"pattern": "^[a-z]{3}$"},
        "additionalProperties": {"type": "integer"}})",
    R"({"type": "object", "patternProperties": {"^x-[a-z]+$": {"type": "string"}},
        "additionalProperties": false, "minProperties": 2})",
    R"({"type": "object", "properties": {"a": {}, "b": {"type": "integer"}}, "required": ["a"],
        "dependentRequired": {"a": ["b"]}})",
    R"({"type": "object", "properties": {"card": {"type": "string"}}, "required": ["card"],
        "dependentSchemas": {"card": {"required": ["cvc"],
        "properties": {"cvc": {"type": "integer", "minimum": 100, "maximum": 999}}}}})",
    R"({"oneOf": [{"type": "object", "required": ["kind", "radius"], "properties":
        {"kind": {"const": "circle"}, "radius": {"type": "number"}}},
        {"type": "object", "required": ["kind", "side"], "properties":
        {"kind": {"const": "square"}, "side": {"type": "number"}}}]})",
    R"({"anyOf": [{"type": "string", "minLength": 3}, {"type": "integer", "minimum": 5}]})",
    R"({"not": {"type": "integer"}, "type": "number", "minimum": 0, "maximum": 1})",
    R"({"type": "integer", "minimum": 0, "maximum": 20, "not": {"multipleOf": 2}})",
    R"({"type": "object", "properties": {"country": {"enum": ["be", "us"]},
        "zip": {"type": "string"}}, "required": ["country", "zip"],
        "if": {"properties": {"country": {"const": "be"}}},
        "then": {"properties": {"zip": {"pattern": "^[0-9]{4}$"}}},
        "else": {"properties": {"zip": {"pattern": "^[0-9]{5}$"}}}})",
    R"({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"properties": {"b": {"type": "integer"}}, "required": ["b"]}],
        "unevaluatedProperties": false})",
    R"({"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "children": {"type": "array",
        "items": {"$ref": "#/$defs/tree"}}, "parent": {"anyOf": [{"$ref": "#/$defs/tree"},
        {"type": "null"}]}}}}})",
};

TEST(Sampler, what_is_drawn_fits_whatever_the_schema_and_the_seed) {
  for (const Bytes text : schemas) {
    const Schema schema = schema_of(text);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Sampler sampler(seed);
      const auto value = sampler.draw(schema);
      ASSERT_TRUE(value) << text << '\n' << value.error().describe();
      container::Findings findings;
      EXPECT_TRUE(schema.check(*value, findings)) << text << container::to_json(*value);
    }
  }
}

TEST(Sampler, a_seed_means_the_same_data) {
  for (const Bytes text : schemas) EXPECT_EQ(drawn(text, 7), drawn(text, 7));
  EXPECT_NE(drawn(schemas[25], 7), drawn(schemas[25], 8));
}

TEST(Sampler, alternatives_are_all_drawn_sooner_or_later) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    seen.insert(drawn(R"({"enum": [1, 2, 3]})", seed));
  EXPECT_EQ(seen.size(), 3u);
}

TEST(Sampler, an_example_is_taken_where_it_fits) {
  constexpr Bytes schema =
      R"({"type": "object", "required": ["a", "b"], "properties": {
          "a": {"type": "string", "example": "as shown"},
          "b": {"type": "integer", "examples": ["wrong", 12], "minimum": 10}}})";
  EXPECT_EQ(drawn(schema, 1), R"({"a":"as shown","b":12})");
  EXPECT_NE(drawn(schema, 1, {.examples = false}), R"({"a":"as shown","b":12})");
}

TEST(Sampler, a_request_has_no_read_only_members) {
  constexpr Bytes schema =
      R"({"type": "object", "properties": {"id": {"type": "integer", "readOnly": true},
          "password": {"type": "string", "writeOnly": true}, "name": {"type": "string"}}})";
  SampleOptions options{.optional_per_1024 = 1024};
  EXPECT_TRUE(drawn(schema, 1, options).contains("\"id\""));
  options.direction = Direction::request;
  EXPECT_FALSE(drawn(schema, 1, options).contains("\"id\""));
  EXPECT_TRUE(drawn(schema, 1, options).contains("\"password\""));
  options.direction = Direction::reply;
  EXPECT_FALSE(drawn(schema, 1, options).contains("\"password\""));
}

TEST(Sampler, a_schema_that_takes_nothing_is_an_error_that_names_it) {
  Sampler sampler(1);
  const auto value = sampler.draw(schema_of(R"({"type": "string", "not": {"type": "string"}})"));
  ASSERT_FALSE(value);
  EXPECT_TRUE(value.error().describe().contains("no data was found for the schema #"))
      << value.error().describe();
}

TEST(PatternText, what_cannot_be_read_is_none) {
  Random random(1);
  EXPECT_FALSE(draw_pattern("(a", random, 3));
  EXPECT_FALSE(draw_pattern("[b-a]", random, 3));
  EXPECT_FALSE(draw_pattern("(a)\\1", random, 3));
  EXPECT_EQ(draw_pattern("^a\\u00e9\\x41\\.$", random, 3), "aéA.");
}

// ---- the suite ----

namespace fs = std::filesystem;

TEST(SamplerSuite, what_is_drawn_of_the_suites_schemas_fits) {
  const char* const suite = std::getenv("KATANA_JSON_SCHEMA_SUITE");
  if (suite == nullptr) GTEST_SKIP() << "tools/matrix json_schema brings the suite";
  std::size_t count = 0, of_them = 0;
  std::string missing;
  for (const auto& file : fs::directory_iterator(fs::path(suite) / "tests/draft2020-12")) {
    if (file.path().extension() != ".json") continue;
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const auto cases = container::read_json<container::Value>(text.str());
    ASSERT_TRUE(cases) << file.path();
    for (const container::Value& group : cases->as_list()) {
      const auto& tests = group.at("/tests")->as_list();
      const bool takes_something = std::ranges::any_of(tests, [](const container::Value& each) {
        return *each.at("/valid") == container::Value(true);
      });
      const auto schema = Schema::compile(*group.at("/schema"));
      if (!schema || !takes_something) continue;  // it refers to others
      ++count;
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Sampler sampler(seed);
        const auto value = sampler.draw(*schema);
        if (!value && seed == 0) {
          missing +=
              file.path().stem().string() + ": " + group.at("/description")->as_text() + "\n";
        }
        if (!value) break;
        of_them += seed == 0 ? 1 : 0;
        container::Findings findings;
        EXPECT_TRUE(schema->check(*value, findings)) << file.path();
      }
    }
  }
  std::printf("of %zu schemas of the suite, data of %zu were drawn; not of:\n%s", count, of_them,
              missing.c_str());
  EXPECT_GE(of_them * 100, count * 95);
}

TEST(Sampler, a_schema_that_takes_no_data_of_any_depth_is_an_error_and_costs_what_it_may) {
  const auto drawn = [](Bytes text, std::size_t steps_max) {
    const auto schema = Schema::compile(*container::read_json<container::Value>(text));
    EXPECT_TRUE(schema) << text;
    Sampler sampler(1, {.steps_max = steps_max});
    const auto value = sampler.draw(*schema);
    EXPECT_FALSE(value);
    return value ? std::string() : std::string(value.error().message());
  };
  EXPECT_THAT(drawn(R"({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}})",
                    100'000),
              ::testing::HasSubstr("takes more than 100000 steps to draw"));
  EXPECT_THAT(drawn(R"({"type": "object", "required": ["a", "b"],
                        "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}})",
                    100'000),
              ::testing::HasSubstr("takes more than 100000 steps to draw"));
}

}  // namespace
}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
