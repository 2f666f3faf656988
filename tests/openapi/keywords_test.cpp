// Generated types against the validator. Where one accepts a value that the other refuses, the
// generator has a warning. keywords.yaml has a schema for each keyword, and combinations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/schema/schema.hpp"
#include "katana/openapi/generate/generator.hpp"
#include "katana/openapi/model/description.hpp"
#include "types.hpp"

namespace katana {
namespace {

using container::Value;

constexpr Bytes cases_pointer = "/components/schemas/Cases/properties/";

// Values that schemas of the cases tell apart.
const std::vector<std::string>& atoms() {
  static const std::vector<std::string> all{"null",
                                            "true",
                                            "false",
                                            "0",
                                            "1",
                                            "1.0",
                                            "2",
                                            "3",
                                            "100",
                                            "1e2",
                                            "-1",
                                            "1.5",
                                            "0.25",
                                            "-0.0",
                                            "99",
                                            R"("")",
                                            R"("a")",
                                            R"("b")",
                                            R"("ab")",
                                            R"("abc")",
                                            R"("or")",
                                            R"("and")",
                                            R"("A")",
                                            R"("1")",
                                            R"("2026-11-27")",
                                            R"("2026-13-27")",
                                            R"("10.0.0.1")",
                                            R"("ä")",
                                            R"("aä")",
                                            R"("0190b8a6-1111-7222-8333-444455556666")",
                                            "[]",
                                            "{}"};
  return all;
}

std::string draw(std::mt19937& random, int depth) {
  const auto below = [&](std::size_t count) { return random() % count; };
  const std::size_t form = depth == 0 ? 0 : below(4);
  if (form <= 1) return atoms()[below(atoms().size())];
  const std::size_t count = below(4);
  std::string text;
  std::set<std::string> names;
  for (std::size_t index = 0; index < count; ++index) {
    static const std::string all_names[] = {"a", "b", "op", "of", "ab"};
    const std::string& name = all_names[below(5)];
    if (form == 3 && !names.insert(name).second) continue;
    if (!text.empty()) text += ",";
    if (form == 3) text += "\"" + name + "\":";
    text += draw(random, depth - 1);
  }
  return form == 2 ? "[" + text + "]" : "{" + text + "}";
}

std::vector<std::string> instances() {
  std::vector<std::string> all = atoms();
  for (const char* const text : {R"([1,{"a":null}])",
                                 R"({"a":1,"b":[true]})",
                                 R"({"b":[true],"a":1.0})",
                                 R"(["a","a"])",
                                 R"(["a","b"])",
                                 R"([1,1.0])",
                                 R"([1,1])",
                                 R"([[1],[1]])",
                                 R"([{"a":1},{"a":1.0}])",
                                 R"([null,null])",
                                 R"(["a",1])",
                                 R"(["a",1,1])",
                                 R"({"op":"and","of":[]})",
                                 R"({"op":"or"})",
                                 R"({"op":"drop table"})",
                                 R"({"a":1,"b":2})",
                                 R"({"a":1})",
                                 R"({"b":1})",
                                 R"({"a":"x","ab":"y"})",
                                 R"({"ab":1})",
                                 R"({"a":1,"b":"b","ab":1})"}) {
    all.emplace_back(text);
  }
  std::mt19937 random(20261127);
  for (int count = 0; count < 150; ++count) all.push_back(draw(random, 3));
  return all;
}

struct Described {
  openapi::Description api;
  std::map<std::string, std::vector<std::string>> warnings;  // by case
  std::vector<std::string> names;
};

Described describe() {
  Described made;
  openapi::model::Problems problems(1000);
  made.api = openapi::read_description(KEYWORDS_YAML, problems);
  openapi::generate::generate(made.api, {}, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  for (const auto& each : problems.sorted()) {
    const std::size_t at = each.pointer.find(cases_pointer);
    EXPECT_NE(at, std::string::npos) << each.describe();
    if (at == std::string::npos) continue;
    const std::string rest = each.pointer.substr(at + cases_pointer.size());
    made.warnings[rest.substr(0, rest.find('/'))].push_back(each.describe());
  }
  const Value& all = *made.api.schemas.at("/components/schemas/Cases/properties");
  for (const container::Member& each : all.as_object()) made.names.push_back(each.name);
  return made;
}

// The verdicts of the generated type and of the validator about {"name": value}.
struct Verdicts {
  bool types;
  bool validator;
};
Verdicts verdicts_of(const schema::Schema& validator, const std::string& text) {
  keywords::Cases value;
  container::Findings of_types, of_validator;
  return {container::read_json(text, value, of_types), validator.check_json(text, of_validator)};
}

TEST(Keywords, what_types_and_the_validator_judge_differently_has_a_warning) {
  Described described = describe();
  schema::Options options;
  options.assert_formats = true;
  const auto validator =
      schema::Schema::compile_at(described.api.schemas, "/components/schemas/Cases", options);
  ASSERT_TRUE(validator) << validator.error().describe();
  const std::vector<std::string> all = instances();
  for (const std::string& name : described.names) {
    const std::vector<std::string>& warnings = described.warnings[name];
    std::size_t accepted = 0, differences = 0;
    for (const std::string& each : all) {
      const Verdicts verdicts = verdicts_of(*validator, fmt::format("{{\"{}\":{}}}", name, each));
      accepted += verdicts.validator ? 1 : 0;
      if (verdicts.types == verdicts.validator) continue;
      ++differences;
      EXPECT_FALSE(warnings.empty())
          << name << ": " << each << " is " << (verdicts.types ? "accepted" : "refused")
          << " by the generated type alone";
      if (warnings.empty()) break;
    }
    const bool is_warned = name.starts_with("warned_"), is_drawn = name.starts_with("drawn_");
    if (is_warned) {
      EXPECT_FALSE(warnings.empty()) << name;
      EXPECT_GT(differences, 0u) << name << " is checked: its warning is none";
    } else if (!is_drawn) {
      EXPECT_TRUE(warnings.empty()) << warnings.front();
      const bool fits_nothing = name == "nothing_fits" || name == "enum_of_nothing";
      EXPECT_EQ(accepted == 0, fits_nothing) << name;
      EXPECT_TRUE(accepted < all.size() || name == "anything") << name;
    }
  }
}

TEST(Keywords, a_warning_names_document_pointer_keyword_and_remedy) {
  Described described = describe();
  ASSERT_EQ(described.warnings["warned_not"].size(), 1u);
  const std::string words = described.warnings["warned_not"].front();
  EXPECT_NE(words.find("keywords.yaml:"), std::string::npos) << words;
  EXPECT_NE(
      words.find("#/components/schemas/Cases/properties/warned_not/not: warning: 'not' is not "
                 "checked by its type. Have ContractRoutes"),
      std::string::npos)
      << words;
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
