// How the code is divided into sources that compile in parallel.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "katana/openapi/generate/generator.hpp"
#include "katana/openapi/generate/shares.hpp"

namespace katana::openapi::generate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* start_of_text = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\n";

std::map<std::string, std::string> files_of(const std::string& text, std::size_t sources) {
  model::Problems problems;
  GeneratorOptions options;
  options.sources = sources;
  options.client = true;
  const Generated made =
      generate(read_description_text("api.yaml", text, problems), options, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.as_error().describe();
  std::map<std::string, std::string> files;
  for (const GeneratedFile& each : made.files) files[each.name] = each.text;
  return files;
}

struct Weighed {
  std::size_t weight;
};

TEST(SharesTest, neighbours_are_together_up_to_the_most) {
  const auto ends = [](const std::vector<Weighed>& items, std::size_t weight_max) {
    std::vector<std::size_t> all;
    std::size_t begin = 0;
    for (const Share& each : shares_of(items, weight_max)) {
      EXPECT_EQ(each.begin, begin);
      std::size_t weight = 0;
      for (std::size_t at = each.begin; at < each.end; ++at) weight += items[at].weight;
      EXPECT_EQ(each.weight, weight);
      all.push_back(begin = each.end);
    }
    return all;
  };
  using Ends = std::vector<std::size_t>;
  EXPECT_EQ(ends({{2}, {3}, {4}, {1}}, 5), (Ends{2, 4}));
  EXPECT_EQ(ends({{9}, {1}, {9}}, 5), (Ends{1, 2, 3})) << "one that is too heavy is alone";
  EXPECT_EQ(ends({{2}, {3}}, 4), (Ends{1, 2}));
  EXPECT_EQ(ends({}, 5), (Ends{0})) << "a source without operations";
}

TEST(GeneratorSourcesTest, sources_are_gathered_in_as_many_files_as_are_wanted) {
  std::string text = std::string(start_of_text) + "paths:\n";
  for (const char* const tag : {"a", "b", "c"}) {
    text += fmt::format(
        "  /{}: {{get: {{operationId: get{}, tags: [{}], responses: {{'204': "
        "{{description: x}}}}}}}}\n",
        tag, tag, tag);
  }
  model::Problems problems;
  GeneratorOptions options;
  options.sources = 2;
  const Generated made =
      generate(read_description_text("api.yaml", text, problems), options, problems);
  std::string included;
  int sources = 0;
  for (const GeneratedFile& each : made.files) {
    if (each.name != "api.cpp" && each.name != "api_2.cpp") continue;
    ++sources;
    included += each.text;
    EXPECT_THAT(each.text, HasSubstr("_api.cpp\"\n")) << each.name;
  }
  EXPECT_EQ(sources, 2);
  for (const char* const name : {"a_api.cpp", "b_api.cpp", "c_api.cpp"}) {
    EXPECT_EQ(included.find(name), included.rfind(name)) << name;
    EXPECT_THAT(included, HasSubstr(name));
  }
}

// A source of another tag brings that tag's types and their destructors.
TEST(GeneratorSourcesTest, sources_of_a_tag_are_gathered_side_by_side) {
  std::string text = std::string(start_of_text) + "paths:\n";
  for (const char* const tag : {"a", "b"}) {
    for (int number = 0; number < 20; ++number) {
      text += fmt::format(
          "  /{0}{1}: {{get: {{operationId: get_{0}_{1}, tags: [{0}], responses: {{'204': "
          "{{description: x}}}}}}}}\n",
          tag, number);
    }
  }
  auto files = files_of(text, 4);
  for (const char* const kind : {"a_api", "b_api", "a_client", "b_client"}) {
    int mentioned = 0;
    for (int number = 1; number <= 4; ++number) {
      const std::string name = number == 1 ? "api.cpp" : fmt::format("api_{}.cpp", number);
      if (files[name].find(fmt::format("\"{}", kind)) != std::string::npos) ++mentioned;
    }
    EXPECT_EQ(mentioned, 1) << kind;
  }
}

TEST(GeneratorSourcesTest, a_description_with_one_tag_fills_all_sources_alike) {
  std::string text = std::string(start_of_text) + "paths:\n";
  for (int number = 0; number < 40; ++number) {
    text += fmt::format(
        "  /a{0}: {{get: {{operationId: get{0}, tags: [one], responses: {{'204': "
        "{{description: x}}}}}}}}\n",
        number);
  }
  model::Problems problems;
  GeneratorOptions options;
  options.sources = 8;
  options.client = true;
  const Generated made =
      generate(read_description_text("api.yaml", text, problems), options, problems);
  std::map<std::string, std::string> files;
  for (const GeneratedFile& each : made.files) files[each.name] = each.text;
  for (int number = 1; number <= 8; ++number) {
    const std::string name = number == 1 ? "api.cpp" : fmt::format("api_{}.cpp", number);
    const char* const kind = number <= 4 ? "one_api" : "one_client";
    const int first = 2 * ((number - 1) % 4) + 1;
    for (const int part : {first, first + 1}) {
      const std::string own = part == 1 ? std::string() : fmt::format("_{}", part);
      EXPECT_THAT(files[name], HasSubstr(fmt::format("\"{}{}.cpp\"", kind, own)));
    }
    EXPECT_EQ(std::ranges::count(files[name], '#'), 2) << name;
  }
  EXPECT_THAT(files["one_api.cpp"], HasSubstr("add_one_routes_8(group, api);"));
  EXPECT_THAT(files["one_api_8.cpp"], HasSubstr("\"/a39\""));
  EXPECT_THAT(files["one_client_8.cpp"], HasSubstr("OneClient::get39("));
  EXPECT_FALSE(files.contains("one_api_9.cpp"));
}

// A form with many members costs as much as many operations.
TEST(GeneratorSourcesTest, an_operation_with_many_members_is_a_source_of_its_own) {
  std::string members;
  for (int number = 0; number < 150; ++number) {
    members += fmt::format("m{}: {{type: string}}, ", number);
  }
  std::string text = std::string(start_of_text) + "paths:\n";
  for (int number = 0; number < 4; ++number) {
    text +=
        fmt::format("  /a{0}:\n    post:\n      operationId: post{0}\n      tags: [one]\n", number);
    if (number == 1) {
      text +=
          "      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: "
          "object, properties: {" +
          members + "}}}}}\n";
    }
    text += "      responses: {'204': {description: x}}\n";
  }
  auto files = files_of(text, 2);
  for (const char* const kind : {"one_api", "one_client"}) {
    const std::string second = files[std::string(kind) + "_2.cpp"];
    EXPECT_THAT(second, HasSubstr("\"/a1\"")) << kind;
    EXPECT_THAT(second, Not(HasSubstr("\"/a2\""))) << kind;
    EXPECT_THAT(files[std::string(kind) + ".cpp"], HasSubstr("\"/a0\"")) << kind;
    EXPECT_THAT(files[std::string(kind) + "_3.cpp"], HasSubstr("\"/a3\"")) << kind;
    EXPECT_FALSE(files.contains(std::string(kind) + "_4.cpp")) << kind;
  }
}

// g++ 12 otherwise takes more than a gigabyte for the source of such an operation.
TEST(GeneratorSourcesTest, the_readers_of_a_large_form_are_sources_of_their_own) {
  const auto form = [](const std::string& name, int count) {
    std::string members;
    for (int number = 0; number < count; ++number) {
      members += fmt::format("m{}: {{type: string}}, ", number);
    }
    const std::string part = "{type: object, properties: {" + members + "}}";
    return "  /" + name + ":\n    post:\n      operationId: post_" + name +
           "\n      tags: [one]\n      requestBody: {content: {application/x-www-form-urlencoded: "
           "{encoding: {a: {style: deepObject, explode: true}, b: {style: deepObject, explode: "
           "true}}, schema: {type: object, properties: {a: " +
           part + ", b: " + part + "}}}}}\n      responses: {'204': {description: x}}\n";
  };
  const std::string text =
      std::string(start_of_text) + "paths:\n" + form("large", 150) + form("small", 60);
  auto files = files_of(text, 4);
  std::string defined;
  for (const auto& [name, content] : files) {
    if (name.starts_with("one_forms")) defined += content;
  }
  for (const char* const type : {"PostLargeForm", "PostLargeA", "PostLargeB"}) {
    const std::string define = fmt::format("KATANA_DEFINE_FORM({})\n", type);
    EXPECT_THAT(defined, HasSubstr(define));
    EXPECT_EQ(defined.find(define), defined.rfind(define));
    EXPECT_THAT(files["one_types.hpp"], HasSubstr(fmt::format("KATANA_DECLARE_FORM({})\n", type)));
  }
  EXPECT_TRUE(files.contains("one_forms_2.cpp")) << "the two large structs are apart";
  // A client writes the parts of the form as JSON, and the form member by member.
  std::string written;
  for (const auto& [name, content] : files) {
    if (name.starts_with("one_json")) written += content;
  }
  EXPECT_THAT(written, HasSubstr("KATANA_DEFINE_JSON(PostLargeA)\n"));
  EXPECT_THAT(written, HasSubstr("KATANA_DEFINE_JSON(PostLargeB)\n"));
  EXPECT_THAT(written, Not(HasSubstr("_JSON(PostLargeForm)")));
  EXPECT_THAT(files["one_types.hpp"], HasSubstr("KATANA_DECLARE_JSON(PostLargeA)\n"));
  EXPECT_THAT(files["one_types.hpp"], Not(HasSubstr("_FORM(PostSmall")));
  EXPECT_THAT(files["one_types.hpp"], Not(HasSubstr("_JSON(PostSmall")));
  for (const auto& [name, content] : files_of(text, 1)) {
    EXPECT_THAT(content, Not(HasSubstr("_FORM("))) << name;
  }
}

// Otherwise each source with such a reply compiles the code of all structs in it. One operation of
// Stripe's document took g++ 12 1.2 GB.
TEST(GeneratorSourcesTest, the_json_of_a_large_reply_or_body_is_in_sources_of_its_own) {
  const auto schema = [](int count) {
    std::string members;
    for (int number = 0; number < count; ++number) {
      members += fmt::format("m{}: {{type: string}}, ", number);
    }
    return "{type: object, properties: {" + members + "}}";
  };
  std::string text = std::string(start_of_text) + "components:\n  schemas:\n    Large: " +
                     "{type: object, properties: {part: {$ref: '#/components/schemas/Part'}}}\n" +
                     "    Part: " + schema(150) + "\n    Body: " + schema(150) +
                     "\n    Small: " + schema(60) + "\npaths:\n";
  for (const char* const name : {"Large", "Small"}) {
    text += fmt::format(
        "  /{0}:\n    get: {{operationId: get_{0}, tags: [shared], responses: {{'200': "
        "{{description: x, content: {{application/json: {{schema: {{$ref: "
        "'#/components/schemas/{0}'}}}}}}}}}}}}\n",
        name);
  }
  text +=
      "  /body:\n    put: {operationId: put_body, tags: [shared], requestBody: {content: "
      "{application/json: {schema: {$ref: '#/components/schemas/Body'}}}}, responses: {'204': "
      "{description: x}}}\n";
  auto files = files_of(text, 4);
  // The tag has the name of the types of several tags.
  std::string defined;
  for (const auto& [name, content] : files) {
    if (name.starts_with("shared_types_json")) defined += content;
  }
  for (const char* const name : {"Large", "Part", "Body"}) {
    EXPECT_THAT(defined, HasSubstr(fmt::format("KATANA_DEFINE_JSON({})\n", name)));
    EXPECT_THAT(files["shared_types.hpp"],
                HasSubstr(fmt::format("KATANA_DECLARE_JSON({})\n", name)));
  }
  EXPECT_THAT(defined, HasSubstr("#include \"shared_types.hpp\""));
  EXPECT_THAT(files["shared_types.hpp"], Not(HasSubstr("_JSON(Small)")));
  EXPECT_FALSE(files.contains("shared_json.cpp"));
  for (const auto& [name, content] : files_of(text, 1)) {
    EXPECT_THAT(content, Not(HasSubstr("_JSON("))) << name;
  }
}

TEST(GeneratorSourcesTest, the_json_code_of_shared_types_is_in_one_source_each) {
  std::string text = std::string(start_of_text) + "components:\n  schemas:\n";
  for (const char* const name : {"A", "B", "C"}) {
    text += fmt::format("    {}: {{type: object, properties: {{x: {{type: string}}}}}}\n", name);
  }
  text += "    Own: {type: object, properties: {a: {$ref: '#/components/schemas/A'}}}\npaths:\n";
  for (const char* const tag : {"one", "two"}) {
    for (const char* const type : {"A", "B", "C"}) {
      text += fmt::format(
          "  /{0}/{1}:\n    get: {{operationId: get_{0}_{1}, tags: [{0}], responses: {{'200': "
          "{{description: x, content: {{application/json: {{schema: {{$ref: "
          "'#/components/schemas/{1}'}}}}}}}}}}}}\n",
          tag, type);
    }
  }
  text +=
      "  /own:\n    get: {operationId: get_own, tags: [one], responses: {'200': {description: x, "
      "content: {application/json: {schema: {$ref: '#/components/schemas/Own'}}}}}}\n";
  auto files = files_of(text, 2);
  std::string defined;
  for (const auto& [name, content] : files) {
    if (name.starts_with("shared_json")) defined += content;
  }
  for (const char* const name : {"A", "B", "C"}) {
    const std::string define = fmt::format("KATANA_DEFINE_JSON({})\n", name);
    EXPECT_THAT(defined, HasSubstr(define));
    EXPECT_EQ(defined.find(define), defined.rfind(define));
    EXPECT_THAT(files["shared.hpp"], HasSubstr(fmt::format("KATANA_DECLARE_JSON({})\n", name)));
  }
  EXPECT_THAT(files["api.cpp"] + files["api_2.cpp"], HasSubstr("\"shared_json.cpp\""));
  EXPECT_THAT(files["api.cpp"] + files["api_2.cpp"], HasSubstr("\"shared_json_2.cpp\""));
  // A type of one tag is compiled with the operations of the tag.
  EXPECT_THAT(defined + files["one_types.hpp"], Not(HasSubstr("_JSON(Own)")));
  // One source compiles all of it in any case.
  for (const auto& [name, content] : files_of(text, 1)) {
    EXPECT_THAT(content, Not(HasSubstr("_JSON("))) << name;
  }
}

}  // namespace
}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
