#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/schema/compiler.hpp"
#include "katana/data/schema/evaluation.hpp"
#include "katana/data/schema/schema.hpp"

namespace katana::schema {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t unbounded = std::uint64_t{1} << 40;

container::Value data_of(Bytes json) {
  auto read = container::read_json<container::Value>(json, {.depth_max = 2'000});
  if (!read) throw std::runtime_error(read.error().describe());
  return *std::move(read);
}
Schema schema_of(Bytes json, Options options = {}) {
  auto made = Schema::compile(data_of(json), std::move(options));
  if (!made) throw std::runtime_error(made.error().describe());
  return *std::move(made);
}

struct Checked {
  bool fits = false;
  std::uint64_t steps = 0;
  bool is_spent = false;
  std::string words;
};
Checked checked(const Schema& schema, Bytes json, std::uint64_t steps_max = 10'000'000) {
  StepBudget budget(steps_max), of_value(steps_max);
  container::Findings findings, by_value;
  Checked made;
  made.fits = schema.check_json(json, findings, budget, {.depth_max = 2'000});
  made.steps = budget.steps_max() - budget.left();
  made.is_spent = budget.is_spent();
  if (!findings.empty()) made.words = std::string(findings.error().message());
  EXPECT_EQ(schema.check(data_of(json), by_value, of_value), made.fits);
  EXPECT_EQ(of_value.is_spent(), made.is_spent);
  return made;
}

std::string repeated(Bytes before, Bytes inside, Bytes behind, std::size_t count) {
  std::string text;
  for (std::size_t at = 0; at < count; ++at) text += before;
  text += inside;
  for (std::size_t at = 0; at < count; ++at) text += behind;
  return text;
}

// Schemas that lead back to themselves by two ways, and data that goes on along both.
struct Doubling {
  const char* name;
  const char* schema;
  Bytes before, inside, behind;
};
const Doubling doublings[] = {
    {"oneOf", R"({"$defs": {
         "All": {"items": {"$ref": "#/$defs/X"}},
         "X": {"oneOf": [
           {"required": ["and"], "type": "object",
            "properties": {"and": {"$ref": "#/$defs/All"}, "or": false}},
           {"required": ["or"], "type": "object", "properties": {"or": {"$ref": "#/$defs/All"}}},
           {"type": "string"}]}}, "$ref": "#/$defs/X"})",
     R"({"or": [)", R"("a")", "]}"},
    {"oneOf of constants behind the members",
     R"({"$ref": "#/$defs/X", "$defs": {
         "X": {"oneOf": [{"$ref": "#/$defs/And"}, {"$ref": "#/$defs/Or"},
                         {"$ref": "#/$defs/Leaf"}]},
         "And": {"type": "object", "properties": {"op": {"const": "and"},
                                                  "of": {"items": {"$ref": "#/$defs/X"}}}},
         "Or": {"type": "object", "properties": {"op": {"const": "or"},
                                                 "of": {"items": {"$ref": "#/$defs/X"}}}},
         "Leaf": {"type": "string"}}})",
     R"({"of": [)", R"("a")", R"(], "op": "or"})"},
    {"anyOf", R"({"anyOf": [{"type": "array", "items": {"$ref": "#"}, "maxItems": 0},
                            {"type": "array", "items": {"$ref": "#"}, "minItems": 2},
                            {"items": {"$ref": "#"}}]})",
     "[", "1", "]"},
    {"allOf", R"({"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]})", "[", "1", "]"},
    {"not",
     R"({"not": {"type": "array", "items": {"$ref": "#"}, "contains": {"type": "string"}},
         "items": {"$ref": "#"}})",
     "[", "1", "]"},
    {"if", R"({"if": {"items": {"$ref": "#"}}, "then": {"items": {"$ref": "#"}}, "else": false})",
     "[", "1", "]"},
    {"contains", R"({"contains": {"$ref": "#"}, "items": {"$ref": "#"}})", "[", "1", "]"},
    {"dependentSchemas",
     R"({"dependentSchemas": {"a": {"properties": {"a": {"$ref": "#"}}}},
         "properties": {"a": {"$ref": "#"}}})",
     R"({"a": )", "1", "}"},
    {"patternProperties", R"({"patternProperties": {"^a": {"$ref": "#"}, "a$": {"$ref": "#"}}})",
     R"({"a": )", "1", "}"},
    {"unevaluatedProperties",
     R"({"anyOf": [{"properties": {"b": {}}}, true], "unevaluatedProperties":
         {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}})",
     R"({"a": )", "1", "}"},
    {"propertyNames beside both",
     R"({"propertyNames": {"maxLength": 9}, "properties": {"a": {"$ref": "#"}},
         "patternProperties": {"a": {"$ref": "#"}}})",
     R"({"a": )", "1", "}"},
};

TEST(Budget, schemas_that_lead_back_by_two_ways_take_steps_in_proportion_to_the_depth) {
  for (const Doubling& each : doublings) {
    const Schema schema = schema_of(each.schema);
    const Checked small = checked(schema, repeated(each.before, each.inside, each.behind, 10));
    const Checked large = checked(schema, repeated(each.before, each.inside, each.behind, 40));
    EXPECT_TRUE(small.fits) << each.name << ": " << small.words;
    EXPECT_TRUE(large.fits) << each.name << ": " << large.words;
    EXPECT_LT(large.steps, small.steps * 5) << each.name;
  }
}

TEST(Budget, what_does_not_fit_takes_no_more_and_is_said_once) {
  const Schema schema = schema_of(R"({"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}},
                                      {"type": ["array", "integer"]}]})");
  const Checked small = checked(schema, repeated("[", "{}", "]", 10));
  const Checked large = checked(schema, repeated("[", "{}", "]", 40));
  EXPECT_FALSE(large.fits);
  EXPECT_LT(large.steps, small.steps * 5);
  EXPECT_EQ(small.words, "/0/0/0/0/0/0/0/0/0/0: expected an integer or an array, got an object");
}

TEST(Budget, a_check_that_is_given_up_is_never_valid_whatever_stands_around_it) {
  const std::string costly = R"({"pattern": "^(\\w+\\s?)+(?=z)$"})";
  const std::string text = '"' + std::string(34, 'a') + "!\"";
  for (const std::string& each :
       {costly, R"({"not": )" + costly + "}", R"({"not": {"not": )" + costly + "}}",
        R"({"anyOf": [)" + costly + R"(, {"type": "string"}]})",
        R"({"if": )" + costly + R"(, "else": {"type": "string"}})",
        R"({"oneOf": [)" + costly + R"(, {"type": "string"}]})"}) {
    const Checked made = checked(schema_of(each), text, 100'000);
    EXPECT_FALSE(made.fits) << each;
    EXPECT_TRUE(made.is_spent) << each;
    EXPECT_THAT(made.words, HasSubstr("takes more than 100000 steps and was given up")) << each;
  }
}

TEST(Budget, schemas_without_end_make_nothing_valid) {
  for (const Bytes each :
       {R"({"$ref": "#"})", R"({"not": {"$ref": "#"}})", R"({"anyOf": [{"$ref": "#"}, true]})"}) {
    const Checked made = checked(schema_of(each), "1");
    EXPECT_FALSE(made.fits) << each;
    EXPECT_THAT(made.words, HasSubstr("without end")) << each;
  }
}

// Each would take minutes, or the square of its size.
TEST(Budget, every_check_draws_from_it) {
  std::string members, items, same;
  for (int at = 0; at < 1'000; ++at) {
    members += fmt::format("{}\"m{}\": {}", at == 0 ? "" : ",", at, at);
    items += fmt::format("{}\"{}\"", at == 0 ? "" : ",", at);
    same = fmt::format("\"m{}\": {}{}", at, at, at == 0 ? "" : ",") + same;
  }
  const std::string unique = fmt::format("[{{{}}}, {{{}}}]", members, same);
  const Checked twice = checked(schema_of(R"({"uniqueItems": true})"), unique);
  EXPECT_FALSE(twice.fits);
  EXPECT_LT(twice.steps, 40'000u);
  for (const auto& [schema, data] :
       {std::pair<std::string, std::string>{R"({"items": {"type": "string"}})", "[" + items + "]"},
        {R"({"items": {"not": {"enum": [["a"], "x", {"b": 1}]}}})", "[" + items + "]"},
        {R"({"uniqueItems": true})", "[" + items + "]"},
        {R"({"items": {"pattern": "^[0-9]+$"}})", "[" + items + "]"},
        {R"({"contains": {"const": "x"}})", "[" + items + "]"},
        {R"({"additionalProperties": {"multipleOf": 0.01}})", "{" + members + "}"},
        {R"({"propertyNames": {"minLength": 1}})", "{" + members + "}"},
        {R"({"patternProperties": {"(?=m)(m)\\1?": true}})", "{" + members + "}"},
        {R"({"required": ["a"]})", "{" + members + "}"},
        {R"({"anyOf": [{"properties": {"a": true}}, true], "unevaluatedProperties": true})",
         "{" + members + "}"}}) {
    const Checked made = checked(schema_of(schema), data, 500);
    EXPECT_FALSE(made.fits) << schema;
    EXPECT_TRUE(made.is_spent) << schema;
  }
  const Schema formats = schema_of(R"({"items": {"format": "regex"}})", {.assert_formats = true});
  EXPECT_TRUE(checked(formats, R"(["a+", "b*"])", 10'000).fits);
  EXPECT_TRUE(checked(formats, R"(["a", "b", "c", "d", "e"])", 5'000).is_spent);
}

TEST(Budget, what_the_caller_gave_counts_over_several_checks) {
  const Schema schema = schema_of(R"({"items": {"type": "integer"}})");
  StepBudget budget(12);
  container::Findings findings;
  EXPECT_TRUE(schema.check_json("[1,2,3]", findings, budget));
  EXPECT_TRUE(schema.check_json("[1,2,3]", findings, budget));
  EXPECT_TRUE(schema.check_json("[1,2]", findings, budget));
  EXPECT_FALSE(schema.check_json("[1,2]", findings, budget));
}

TEST(Budget, of_a_large_document_is_enough_without_being_given) {
  std::string items;
  for (int at = 0; at < 100'000; ++at) items += "1,";
  const Schema schema =
      schema_of(R"({"items": {"allOf": [{"type": "integer"}, {"minimum": 0}, {"maximum": 9}]}})");
  container::Findings findings;
  EXPECT_TRUE(schema.check_json("[" + items + "1]", findings));
}

// ---- with a memo, and without one ----

class Invention {
 public:
  explicit Invention(std::uint64_t seed) : random_(seed) {}

  std::string schema() {
    return fmt::format(R"({{"$ref": "#/$defs/A", "$defs": {{"A": {}, "B": {}, "C": {}}}}})",
                       part(3), part(3), part(3));
  }
  std::string data(int depth) {
    const auto kind = random_.below(depth == 0 ? 3 : 6);
    if (kind == 0) return std::to_string(random_.below(3));
    if (kind == 1) return "\"a\"";
    if (kind == 2) return "null";
    std::string inside;
    for (auto count = random_.below(3); count-- > 0;) {
      if (!inside.empty()) inside += ",";
      if (kind > 3) inside += fmt::format("\"{}\":", "abc"[count]);
      inside += data(depth - 1);
    }
    return kind > 3 ? "{" + inside + "}" : "[" + inside + "]";
  }

 private:
  std::string reference() {
    return fmt::format(R"({{"$ref": "#/$defs/{}"}})", "ABC"[random_.below(3)]);
  }
  // References stand below a member or an item, so that none goes round in one place.
  std::string part(int depth) {
    const auto kind = random_.below(depth == 0 ? 3 : 12);
    const auto two = [&] { return part(depth - 1) + ", " + part(depth - 1); };
    switch (kind) {
      case 0: return R"({"type": ["integer", "array", "object"]})";
      case 1: return R"({"minItems": 1, "required": ["a"]})";
      case 2: return "true";
      case 3: return R"({"oneOf": [)" + two() + "]}";
      case 4: return R"({"anyOf": [)" + two() + "]}";
      case 5: return R"({"allOf": [)" + two() + "]}";
      case 6: return R"({"not": )" + part(depth - 1) + "}";
      case 7: return R"({"if": )" + part(depth - 1) + R"(, "then": )" + part(depth - 1) + "}";
      case 8:
        return R"({"items": )" + reference() + R"(, "properties": {"a": )" + reference() + "}}";
      case 9: return R"({"contains": )" + reference() + "}";
      case 10:
        return R"({"anyOf": [)" + two() + R"(], "unevaluatedProperties": )" + reference() +
               R"(, "unevaluatedItems": )" + reference() + "}";
      default:
        return R"({"additionalProperties": )" + reference() + R"(, "prefixItems": [)" +
               reference() + "]}";
    }
  }
  Random random_;
};

TEST(Memo, changes_no_verdict) {
  Invention invention(5);
  std::size_t compared = 0, repeated_nodes = 0, fitting = 0;
  for (int count = 0; count < 200; ++count) {
    const std::string text = invention.schema();
    const std::string pointers[] = {""};
    const auto with = compile(data_of(text), pointers, {});
    const auto without = compile(data_of(text), pointers, {});
    ASSERT_TRUE(with && without) << text;
    for (const Node& each : (*without)->nodes) {
      repeated_nodes += each.is_repeated ? 1 : 0;
      const_cast<Node&>(each).is_repeated = false;
    }
    for (int texts = 0; texts < 10; ++texts) {
      const container::Value value = data_of(invention.data(3));
      StepBudget one(unbounded), other(1'000'000);
      container::Findings findings, others;
      const bool fits =
          Evaluation<ValueView>(findings, one).run(*(*with)->roots[0], ValueView(value));
      const bool wanted =
          Evaluation<ValueView>(others, other).run(*(*without)->roots[0], ValueView(value));
      if (other.is_spent()) continue;
      ++compared;
      fitting += fits ? 1 : 0;
      EXPECT_EQ(fits, wanted) << text;
      EXPECT_EQ(findings.empty(), others.empty()) << text;
    }
  }
  EXPECT_GT(compared, 1'500u);
  EXPECT_GT(repeated_nodes, 100u);
  EXPECT_GT(fitting, 200u);
}

}  // namespace
}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
