#include "katana/data/schema/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "katana/data/container/json_read.hpp"

namespace katana::schema {
namespace {

using ::testing::HasSubstr;

container::Value value_of(Bytes json) {
  auto read = container::read_json<container::Value>(json);
  EXPECT_TRUE(read) << json;
  return read ? *std::move(read) : container::Value();
}
Schema compiled(Bytes json, Options options = {}) {
  auto made = Schema::compile(value_of(json), std::move(options));
  if (!made) throw std::runtime_error(made.error().describe());
  return *std::move(made);
}
// The findings of check() and check_json(): "/a: is missing; /b: …"; empty: the data fits.
std::string found(const Schema& schema, Bytes json) {
  container::Findings by_value, by_text;
  const bool fits = schema.check(value_of(json), by_value);
  EXPECT_EQ(fits, schema.check_json(json, by_text)) << json;
  EXPECT_EQ(fits, by_value.empty());
  const std::string words = by_value.empty() ? "" : std::string(by_value.error().message());
  EXPECT_EQ(words, by_text.empty() ? "" : std::string(by_text.error().message()));
  return words;
}
std::string found(Bytes schema, Bytes json) { return found(compiled(schema), json); }
std::string refusal(Bytes schema) {
  const auto made = Schema::compile(value_of(schema));
  return made ? "" : made.error().describe();
}

TEST(Schema, every_fault_is_named_with_its_place) {
  const Schema user = compiled(R"({"type": "object", "required": ["name", "age"], "properties": {
      "name": {"type": "string", "minLength": 2}, "age": {"type": "integer", "minimum": 0},
      "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}},
      "additionalProperties": false})");
  EXPECT_EQ(found(user, R"({"name": "Ada", "age": 36, "tags": ["a", "b"]})"), "");
  EXPECT_EQ(found(user, R"({"name": "A", "age": -1, "tags": [1], "x/y": 0})"),
            "/name: must have at least 2 characters; /age: must be at least 0; /tags/0: expected a "
            "string, got an integer; /x~1y: is not allowed");
  EXPECT_EQ(found(user, "{}"), "/name: is missing; /age: is missing");
  EXPECT_EQ(found(user, "[]"), "expected an object, got an array");
}

TEST(Schema, numbers_are_compared_by_value) {
  EXPECT_EQ(found(R"({"type": "integer"})", "1.0"), "");
  EXPECT_NE(found(R"({"type": "integer"})", "1.5"), "");
  EXPECT_EQ(found(R"({"const": 1})", "1.0"), "");
  EXPECT_EQ(found(R"({"multipleOf": 0.01})", "19.99"), "");
  EXPECT_NE(found(R"({"multipleOf": 0.01})", "19.995"), "");
  EXPECT_EQ(found(R"({"multipleOf": 3})", "18446744073709551615"), "");
  EXPECT_NE(found(R"({"maximum": 18446744073709551614})", "18446744073709551615"), "");
  EXPECT_NE(found(R"({"multipleOf": 0.123456789})", "1e308"), "");
  EXPECT_EQ(found(R"({"multipleOf": 0.5})", "1e308"), "");
}

TEST(Schema, formats_are_notes_unless_they_are_asserted) {
  EXPECT_EQ(found(R"({"format": "email"})", R"("nobody")"), "");
  const Schema asserting = compiled(R"({"format": "email"})", {.assert_formats = true});
  EXPECT_EQ(found(asserting, R"("nobody")"), "is no email");
  EXPECT_EQ(found(asserting, R"("a@example.com")"), "");
  for (const auto& [format, good, bad] : {std::tuple("ipv4", "192.0.2.1", "192.0.2.256"),
                                          {"ipv6", "::1", "192.0.2.1"},
                                          {"uri", "https://a/b?c#d", "/a"},
                                          {"uri-reference", "/a%20b", "/a%2"},
                                          {"hostname", "a.example", "-a.example"},
                                          {"time", "12:00:00Z", "25:00:00Z"},
                                          {"json-pointer", "/a~1b", "a"},
                                          {"regex", "^a+$", "("},
                                          {"date", "2026-02-28", "2026-02-29"}}) {
    const Schema each =
        compiled("{\"format\": \"" + std::string(format) + "\"}", {.assert_formats = true});
    EXPECT_EQ(found(each, "\"" + std::string(good) + "\""), "") << format;
    EXPECT_NE(found(each, "\"" + std::string(bad) + "\""), "") << format;
  }
}

TEST(Schema, references_reach_documents_that_were_given_and_no_others) {
  Options options;
  options.documents.emplace("https://a.example/name.json",
                            value_of(R"({"$anchor": "n", "type": "string"})"));
  const Schema schema = compiled(
      R"({"$id": "https://a.example/user.json", "items": {"$ref": "name.json#n"}})", options);
  EXPECT_EQ(found(schema, R"(["a"])"), "");
  EXPECT_EQ(found(schema, "[1]"), "/0: expected a string, got an integer");
  EXPECT_THAT(refusal(R"({"items": {"$ref": "https://a.example/name.json"}})"),
              HasSubstr("#/items/$ref: 'https://a.example/name.json' is in none of the documents "
                        "that were given; nothing is fetched"));
  EXPECT_THAT(refusal(R"({"$ref": "#/$defs/a"})"), HasSubstr("there is nothing at '#/$defs/a'"));
}

TEST(Schema, what_is_no_schema_is_refused_with_its_place) {
  EXPECT_THAT(refusal(R"({"properties": {"a/b": {"minLength": -1}}})"),
              HasSubstr("#/properties/a~1b/minLength: expected an integer of 0 or more"));
  EXPECT_THAT(refusal(R"({"type": "text"})"), HasSubstr("#/type: expected null, boolean"));
  EXPECT_THAT(refusal(R"({"pattern": "("})"), HasSubstr("'(' is not valid at character 2"));
  EXPECT_THAT(refusal(R"({"allOf": []})"), HasSubstr("#/allOf: expected a list of schemas"));
  EXPECT_THAT(refusal(R"({"items": 1})"), HasSubstr("#/items: expected a schema"));
  EXPECT_THAT(refusal(R"({"$schema": "http://json-schema.org/draft-07/schema#"})"),
              HasSubstr("is not supported"));
}

TEST(Schema, a_pattern_that_would_go_back_without_end_is_decided) {
  const std::string text(5000, 'a');
  EXPECT_EQ(found(R"({"pattern": "^(a+)+$"})", '"' + text + "!\""), "does not match its pattern");
  EXPECT_EQ(found(R"({"pattern": "^(a+)+$"})", '"' + text + '"'), "");
}

TEST(Schema, a_number_that_no_double_holds_is_the_nearest_that_can) {
  const auto words = [](Bytes schema, Bytes json) {
    container::Findings findings;
    (void)compiled(schema).check_json(json, findings);
    return findings.empty() ? std::string() : std::string(findings.error().message());
  };
  constexpr Bytes numbers = R"({"x": 18446744073709551616, "y\\\"1e999": [-1e400, 1e-999, 1e999]})";
  EXPECT_EQ(words("true", numbers), "");
  EXPECT_EQ(words(R"({"properties": {"x": {"type": "integer"}}})", numbers), "");
  EXPECT_EQ(words(R"({"properties": {"x": {"maximum": 1e19}}})", numbers),
            "/x: must be at most 1e+19");
  EXPECT_EQ(words(R"({"properties": {"x": {"minimum": 1e300}}})", numbers),
            "/x: must be at least 1e+300");
  EXPECT_EQ(words(R"({"minimum": 1e300})", "1e400"), "");
  EXPECT_EQ(words(R"({"maximum": 0})", "0." + std::string(400, '0') + "1e10"), "");
  EXPECT_EQ(words(R"({"multipleOf": 0.01})", "1e400"), "");
  EXPECT_EQ(words("true", "[1e400, 01]"), "malformed JSON: line 1, column 9: expected a value");
  // what else is wrong is still found
  EXPECT_EQ(words("true", "[1e400,\n ]"), "malformed JSON: line 2, column 2: expected a value");
}

TEST(Schema, data_of_many_kinds_is_bounded) {
  const Schema schema =
      compiled(R"({"$defs": {"l": {"items": {"$ref": "#/$defs/l"}}}, "$ref": "#/$defs/l"})");
  container::Findings findings;
  EXPECT_FALSE(schema.check_json(std::string(1000, '['), findings));
  EXPECT_TRUE(findings.malformed());
  container::Findings too_long;
  EXPECT_FALSE(schema.check_json("[1, 2]", too_long, {.bytes_max = 5}));
  EXPECT_TRUE(too_long.malformed());
  container::Findings twice;
  EXPECT_FALSE(schema.check_json(R"([{"a~": [{"b": 1, "c": 2, "b": 3}]}])", twice));
  EXPECT_EQ(twice.error().message(), "/0/a~0/0/b: comes twice");
}

// Names are compared where their marks are the same: first byte and length, or a chance.
TEST(Schema, a_name_that_comes_twice_is_found_among_any_others) {
  const Schema any = compiled("true");
  for (std::size_t size = 1; size <= 40; ++size) {
    for (std::size_t twice = 0; twice <= size; ++twice) {  // size: none does
      std::string text = "{";
      for (std::size_t at = 0; at < size; ++at) {
        text += "\"" + std::string(at % 7, 'x') + std::to_string(at) + "\":1,";
      }
      const std::string name = std::string(twice % 7, 'x') + std::to_string(twice);
      text += "\"" + (twice == size ? std::string() : name) + "\":[]}";
      container::Findings findings;
      EXPECT_EQ(any.check_json(text, findings), twice == size) << text;
      if (twice < size) EXPECT_EQ(findings.error().message(), "/" + name + ": comes twice");
    }
  }
}

TEST(Schema, lengths_are_of_code_points_whatever_their_octets) {
  const Schema schema = compiled(R"({"minLength": 2, "maxLength": 3})");
  for (const auto& [text, fits] : std::initializer_list<std::pair<const char*, bool>>{
           {"a", false},
           {"ab", true},
           {"abc", true},
           {"abcd", false},
           {"\u00e9", false},
           {"\u00e9\u00e9\u00e9", true},
           {"\U0001F600", false},
           {"\U0001F600\U0001F600", true},
           {"\U0001F600\U0001F600\U0001F600\U0001F600", false}}) {
    container::Findings findings;
    EXPECT_EQ(schema.check_json('"' + std::string(text) + '"', findings), fits) << text;
  }
}

TEST(Schema, a_place_in_a_document_is_a_schema_with_the_documents_references) {
  const auto made = Schema::compile_at(
      value_of(R"({"components": {"schemas": {"A": {"$ref": "#/components/schemas/B"},
                   "B": {"type": "null"}}}})"),
      "/components/schemas/A");
  ASSERT_TRUE(made) << made.error().describe();
  EXPECT_EQ(found(*made, "null"), "");
  EXPECT_EQ(found(*made, "1"), "expected null, got an integer");
}

TEST(Schema, alternatives_say_how_many_fit) {
  EXPECT_EQ(found(R"({"oneOf": [{"type": "integer"}, {"minimum": 2}]})", "3"),
            "fits 2 of the 2 schemas of oneOf, and must fit one");
  EXPECT_EQ(found(R"({"anyOf": [{"type": "null"}, {"type": "string"}]})", "3"),
            "fits none of the 2 schemas of anyOf");
}

}  // namespace
}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
