// JSON and forms of structs with KATANA_DECLARE_JSON and KATANA_DECLARE_FORM, beside those of
// structs without them.
#include "katana/data/container/declared_json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "katana/base/values/any_of.hpp"
#include "katana/base/values/box.hpp"
#include "katana/base/values/patch.hpp"
#include "katana/data/container/form_read.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/shapes_test.hpp"

namespace katana::container {

#define KATANA_SHAPES                                                                 \
  struct Flat {                                                                       \
    std::int64_t id = 0;                                                              \
    std::string name;                                                                 \
  };                                                                                  \
  KATANA_DESCRIBE(Flat, id, (name, length(1, 5000)))                                  \
  struct Tree {                                                                       \
    Flat own;                                                                         \
    std::optional<Flat> other;                                                        \
    std::vector<Flat> list;                                                           \
    std::map<std::string, Flat> named;                                                \
    Patch<std::string> note;                                                          \
    AnyOf<std::string, Flat> choice;                                                  \
    std::optional<Box<Tree>> inner;                                                   \
  };                                                                                  \
  KATANA_DESCRIBE(Tree, own, other, (list, length(0, 3)), named, note, choice, inner) \
  struct Leaf {                                                                       \
    Flat at;                                                                          \
  };                                                                                  \
  KATANA_DESCRIBE_STRICT(Leaf, at)                                                    \
  using Variant = std::variant<Leaf, Flat>;                                           \
  KATANA_DESCRIBE_VARIANT(Variant, "kind", (Leaf, "leaf"), (Flat, "flat"))

namespace plain {
KATANA_SHAPES
}  // namespace plain

namespace declared {
KATANA_SHAPES
KATANA_DECLARE_JSON(Flat)
KATANA_DECLARE_JSON(Tree)
KATANA_DECLARE_JSON(Leaf)
KATANA_DECLARE_FORM(Flat)
KATANA_DECLARE_FORM(Tree)
// A type that a declared one can be made of, and one that is derived from it.
struct Derived : Flat {};
}  // namespace declared

namespace {

static_assert(detail::DeclaredJson<declared::Flat>);
static_assert(!detail::DeclaredJson<plain::Flat>);
static_assert(!detail::DeclaredJson<declared::Derived>);
static_assert(!detail::DeclaredJson<std::optional<declared::Flat>>);
static_assert(detail::DeclaredForm<declared::Tree> && !detail::DeclaredForm<plain::Tree>);
static_assert(detail::is_flat<plain::Flat>() && !detail::is_flat<declared::Flat>());

// The findings of a text, or the JSON that is written of it, by all outputs alike.
template <class T>
std::string again(Bytes text) {
  T value{};
  Findings findings;
  if (!read_json(text, value, findings)) return std::string(findings.error().message());
  const std::string written = to_json(value);
  Text recycled;
  write_json(value, recycled);
  EXPECT_EQ(recycled.bytes(), written);
  for (const std::size_t block_bytes : {64u, 256u, 4096u}) {
    EXPECT_EQ(through_outbox(value, block_bytes), written) << block_bytes;
  }
  return written;
}

// The same of both.
std::string tree(Bytes text) {
  const std::string is = again<declared::Tree>(text);
  EXPECT_EQ(is, again<plain::Tree>(text));
  return is;
}

TEST(DeclaredJson, structs_in_all_places_are_read_and_written) {
  const std::string text =
      R"({"own":{"id":1,"name":"a"},"other":{"id":2,"name":"b"},"list":[{"id":3,"name":"c"},)"
      R"({"id":4,"name":"d"}],"named":{"x":{"id":5,"name":"e"}},"note":"n","choice":{"id":6,)"
      R"("name":"f"},"inner":{"own":{"id":7,"name":"g"},"other":null,"list":[],"named":{},)"
      R"("choice":"text","inner":null}})";
  EXPECT_EQ(tree(text), text);
}

TEST(DeclaredJson, a_value_longer_than_a_window_is_written_whole) {
  const std::string name(4000, 'x');
  const std::string text = R"({"own":{"id":1,"name":")" + name +
                           R"("},"other":null,"list":[],"named":{},"choice":"","inner":null})";
  EXPECT_EQ(tree(text), text);
}

TEST(DeclaredJson, faults_have_the_same_places_and_words) {
  for (
      const char* const text : {
          R"({"own":{"id":1}})",
          R"({"own":{"id":"1","name":"a"},"list":[{"id":3,"name":""}],"choice":4})",
          R"({"own":{"id":1,"name":"a","id":2},"list":[1,2,3,4],"named":{},"choice":"","inner":5})",
          R"({"own":null})",
          R"({"own":{"id":1,"name":"a"})",
          R"({"own":{"id":1,"name":})",
          "[]",
      }) {
    EXPECT_NE(tree(text)[0], '{') << text;
  }
}

TEST(DeclaredJson, alternatives_of_a_variant_are_found_by_their_name) {
  for (const char* const text :
       {R"({"kind":"leaf","at":{"id":1,"name":"a"}})", R"({"kind":"flat","id":2,"name":"b"})",
        R"({"kind":"leaf","at":{"id":1,"name":"a"},"more":1})", R"({"kind":"other"})"}) {
    EXPECT_EQ(again<declared::Variant>(text), again<plain::Variant>(text)) << text;
  }
}

// A form as JSON, or its findings.
template <class T>
std::string form_as(const std::vector<std::pair<const char*, const char*>>& pairs) {
  FormTree tree;
  for (const auto& [name, text] : pairs) EXPECT_TRUE(tree.add(name, {text}));
  T value{};
  Findings findings;
  if (read_form(tree, value, findings)) return to_json(value);
  return std::string(findings.error().message());
}

TEST(DeclaredForm, is_read_as_that_of_a_struct_without_it) {
  const std::string good = form_as<declared::Tree>({{"own[id]", "1"},
                                                    {"own[name]", "a"},
                                                    {"list[0][id]", "2"},
                                                    {"list[0][name]", "b"},
                                                    {"named[x][id]", "3"},
                                                    {"named[x][name]", "c"},
                                                    {"choice[id]", "4"},
                                                    {"choice[name]", "d"},
                                                    {"inner[own][id]", "5"},
                                                    {"inner[own][name]", "e"},
                                                    {"inner[list][0][id]", "6"},
                                                    {"inner[list][0][name]", "f"},
                                                    {"inner[named][y][id]", "7"},
                                                    {"inner[named][y][name]", "g"},
                                                    {"inner[choice]", "text"}});
  EXPECT_TRUE(good.starts_with(R"({"own":{"id":1,"name":"a"})")) << good;
  EXPECT_NE(good.find(R"("inner":{"own":{"id":5,"name":"e"})"), std::string::npos) << good;
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"own[id]", "x"}, {"own[name]", "a"}, {"list[0][id]", "2"}, {"choice", "text"}};
  EXPECT_EQ(form_as<declared::Tree>(wrong), form_as<plain::Tree>(wrong));
  EXPECT_NE(form_as<declared::Tree>(wrong)[0], '{');
}

TEST(DeclaredJson, a_struct_is_the_whole_text_too) {
  EXPECT_EQ(again<declared::Flat>(R"({"id":1,"name":"a"})"), R"({"id":1,"name":"a"})");
  EXPECT_EQ(again<std::vector<declared::Flat>>(R"([{"id":1,"name":"a"}])"),
            R"([{"id":1,"name":"a"}])");
}

}  // namespace

namespace declared {
KATANA_DEFINE_JSON(Flat)
KATANA_DEFINE_JSON(Tree)
KATANA_DEFINE_JSON(Leaf)
KATANA_DEFINE_FORM(Flat)
KATANA_DEFINE_FORM(Tree)
}  // namespace declared
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
