// The JSON Schema Test Suite, of the folder that KATANA_JSON_SCHEMA_SUITE names: `tools/matrix
// json_schema` brings it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "katana/container/json_read.hpp"
#include "katana/container/json_write.hpp"
#include "katana/schema/schema.hpp"

namespace katana::schema {
namespace {

namespace fs = std::filesystem;

container::Value read_value(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  auto read = container::read_json<container::Value>(text.str());
  EXPECT_TRUE(read) << path << (read ? std::string() : read.error().describe());
  return read ? *std::move(read) : container::Value();
}

// Documents by the URI that the suite's schemas refer to them by; the meta-schemas by their `$id`.
std::map<std::string, container::Value> documents(const fs::path& suite, const fs::path& meta) {
  std::map<std::string, container::Value> made;
  for (const fs::path& remotes : {suite / "remotes", suite / "remotes/draft2020-12"}) {
    for (const auto& each : fs::recursive_directory_iterator(remotes)) {
      const std::string name = fs::relative(each.path(), suite / "remotes").string();
      const bool is_other_draft = name.starts_with("draft") && !name.starts_with("draft2020-12");
      if (each.path().extension() != ".json" || is_other_draft) continue;
      made.insert_or_assign("http://localhost:1234/" + name, read_value(each.path()));
    }
  }
  for (const auto& each : fs::recursive_directory_iterator(meta)) {
    if (!each.is_regular_file()) continue;
    container::Value value = read_value(each.path());
    const container::Value* const id = value.at("/$id");
    if (id != nullptr) made.insert_or_assign(id->as_text(), std::move(value));
  }
  return made;
}

TEST(JsonSchemaSuite, every_required_test_has_its_outcome) {
  const char* const suite = std::getenv("KATANA_JSON_SCHEMA_SUITE");
  const char* const meta = std::getenv("KATANA_JSON_SCHEMA_META");
  if (suite == nullptr || meta == nullptr)
    GTEST_SKIP() << "tools/matrix json_schema brings the suite";
  const auto known = documents(suite, meta);
  std::size_t count = 0;
  std::vector<fs::path> files;
  for (const auto& each : fs::directory_iterator(fs::path(suite) / "tests/draft2020-12")) {
    if (each.path().extension() == ".json") files.push_back(each.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const container::Value cases = read_value(file);
    for (const container::Value& group : cases.as_list()) {
      Options options;
      options.documents = known;
      const std::string name = file.stem().string() + ": " + group.at("/description")->as_text();
      const auto schema = Schema::compile(*group.at("/schema"), std::move(options));
      EXPECT_TRUE(schema) << name << ": " << (schema ? "" : schema.error().describe());
      if (!schema) continue;
      for (const container::Value& each : group.at("/tests")->as_list()) {
        const bool wanted = *each.at("/valid") == container::Value(true);
        container::Findings findings, of_text;
        EXPECT_EQ(schema->check(*each.at("/data"), findings), wanted)
            << name << ": " << each.at("/description")->as_text();
        EXPECT_EQ(schema->check_json(container::to_json(*each.at("/data")), of_text), wanted)
            << name << ": " << each.at("/description")->as_text();
        ++count;
      }
    }
  }
  EXPECT_GT(count, 1200u);
  std::printf("%zu tests of the suite, each by value and by text\n", count);
}

}  // namespace
}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
