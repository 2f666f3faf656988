#include "katana/openapi/model/keywords.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "katana/base/system/source_tree_test.hpp"

namespace katana::openapi::model {
namespace {

TEST(KeywordsTest, the_table_has_every_keyword_of_json_schema_and_openapi) {
  for (const char* const each : {"$schema",
                                 "$id",
                                 "$anchor",
                                 "$dynamicAnchor",
                                 "$ref",
                                 "$dynamicRef",
                                 "$vocabulary",
                                 "$comment",
                                 "$defs",
                                 "allOf",
                                 "anyOf",
                                 "oneOf",
                                 "not",
                                 "if",
                                 "then",
                                 "else",
                                 "dependentSchemas",
                                 "prefixItems",
                                 "items",
                                 "contains",
                                 "properties",
                                 "patternProperties",
                                 "additionalProperties",
                                 "propertyNames",
                                 "unevaluatedItems",
                                 "unevaluatedProperties",
                                 "type",
                                 "enum",
                                 "const",
                                 "multipleOf",
                                 "maximum",
                                 "exclusiveMaximum",
                                 "minimum",
                                 "exclusiveMinimum",
                                 "maxLength",
                                 "minLength",
                                 "pattern",
                                 "maxItems",
                                 "minItems",
                                 "uniqueItems",
                                 "maxContains",
                                 "minContains",
                                 "maxProperties",
                                 "minProperties",
                                 "required",
                                 "dependentRequired",
                                 "title",
                                 "description",
                                 "default",
                                 "deprecated",
                                 "readOnly",
                                 "writeOnly",
                                 "examples",
                                 "format",
                                 "contentEncoding",
                                 "contentMediaType",
                                 "contentSchema",
                                 "nullable",
                                 "discriminator",
                                 "xml",
                                 "externalDocs",
                                 "example"}) {
    EXPECT_NE(keyword_of(each), nullptr) << each;
  }
  std::set<Bytes> names;
  for (const Keyword& each : keywords()) EXPECT_TRUE(names.insert(each.name).second) << each.name;
  EXPECT_EQ(keyword_of("x-note"), nullptr);
}

// The compiler of schemas and the comparison of descriptions name keywords in their sources.
TEST(KeywordsTest, what_the_compiler_of_schemas_knows_is_in_the_table) {
  std::size_t count = 0;
  for (const char* const file :
       {"katana/data/schema/compiler.cpp", "katana/openapi/diff/schema_diff.cpp"}) {
    std::ifstream stream(in_tree(file));
    std::ostringstream text;
    text << stream.rdbuf();
    const std::string source = text.str();
    ASSERT_FALSE(source.empty()) << file;
    static const std::regex call(
        R"re((?:keyword|[a-z]+_at|child|find)\((?:[a-z.]+(?:, )?)?"([$a-zA-Z]+)")re");
    for (std::sregex_iterator at(source.begin(), source.end(), call), end; at != end; ++at) {
      const std::string name = (*at)[1];
      ++count;
      EXPECT_NE(keyword_of(name), nullptr) << file << " knows '" << name << "'";
    }
  }
  EXPECT_GT(count, 40u);
}

}  // namespace
}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
