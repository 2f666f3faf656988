// Names with brackets: the tree that they make, the values that are read from it, and their output.
#include "katana/data/container/form_read.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/base/values/described_variant.hpp"
#include "katana/base/values/patch.hpp"
#include "katana/data/container/as_json.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"

namespace katana::container {
namespace {

enum class Size { small, large };
KATANA_DESCRIBE_ENUM(Size, small, large)
enum class Unset { value };
KATANA_DESCRIBE_ENUM(Unset, (value, ""))

struct Item {
  std::int32_t price = 0;
  std::optional<std::string> name;
};
KATANA_DESCRIBE(Item, (price, required, range(1, 100)), name)

struct Range {
  Patch<std::int64_t> gte;
  Patch<std::int64_t> lt;
};
KATANA_DESCRIBE_STRICT(Range, gte, lt)

// A struct of literal types that cannot be compared.
struct Plan {
  std::int64_t count = 0;
};
KATANA_DESCRIBE(Plan, (count, required))

struct Named {
  std::string name;
};
KATANA_DESCRIBE(Named, (name, required))

struct Folder {
  std::string name;
  std::vector<Folder> folders;
};
KATANA_DESCRIBE(Folder, (name, defaulted), (folders, defaulted))

struct Order {
  std::string id;
  Size size = Size::small;
  bool paid = false;
  double weight = 0;
  std::vector<Item> items;
  std::vector<std::string> tags;
  std::map<std::string, std::int32_t> counts;
  std::optional<AnyOf<Range, std::int64_t>> created;
  std::optional<AnyOf<Item, Named>> best;
  std::optional<AnyOf<std::string, std::vector<std::string>>> words;
  std::optional<AnyOf<Named, Unset>> owner;
  std::optional<AnyOf<Plan, Unset>> plan;
  std::optional<Folder> folder;
  std::optional<AsJson<Item>> extra;
  Value other;
};
KATANA_DESCRIBE(Order, (id, length(0, 4)), size, paid, weight, items, (tags, length(0, 3)), counts,
                created, best, words, owner, plan, folder, extra, other)

using Pairs = std::initializer_list<std::pair<const char*, const char*>>;

FormTree tree_of(Pairs pairs) {
  FormTree tree;
  for (const auto& [name, text] : pairs) {
    const Result<void> added = tree.add(name, {text});
    EXPECT_TRUE(added) << added.error().describe();
  }
  return tree;
}

// The value as JSON, or the mistakes with the names that were sent.
template <class T>
std::string read_as(Pairs pairs) {
  const FormTree tree = tree_of(pairs);
  T value{};
  Findings findings;
  if (read_form(tree, value, findings)) return to_json(value);
  if (findings.empty()) return "false without a finding";
  std::string words;
  for (const Finding& each : findings.list()) {
    words += (words.empty() ? "" : "; ") + bracket_name(each.pointer) + " " + each.words;
  }
  return words;
}

std::string order(Pairs pairs) {
  const FormTree tree = tree_of(pairs);
  Order value;
  Findings findings;
  if (!read_form(tree, value, findings)) return read_as<Order>(pairs);
  // Only the given members.
  const auto all = read_json<Value>(to_json(value));
  const auto none = read_json<Value>(to_json(Order()));
  Object given;
  for (const Member& each : *all->get_object()) {
    if (!(*none->get_object()->find(each.name) == each.value)) given.add(each.name, each.value);
  }
  return to_json(Value(std::move(given)));
}

std::string refusal(Pairs pairs) {
  FormTree tree;
  for (const auto& [name, text] : pairs) {
    if (const Result<void> added = tree.add(name, {text}); !added) {
      return std::string(added.error().message());
    }
  }
  return "";
}

TEST(FormRead, texts_are_what_the_members_want) {
  EXPECT_EQ(order({{"id", "7"}, {"size", "large"}, {"paid", "true"}, {"weight", "1.5"}}),
            R"({"id":"7","size":"large","paid":true,"weight":1.5})");
  EXPECT_EQ(order({{"paid", "1"}, {"paid", "0"}, {"id", "a"}, {"id", "b"}}), R"({"id":"b"})");
  EXPECT_EQ(
      order({{"weight", "nan"}, {"paid", "yes"}, {"size", "huge"}, {"id", "12345"}}),
      "id expected at most 4 characters, got 5; size expected one of small, large, got 'huge'; "
      "paid expected boolean, got other text; weight expected number, got other text");
}

TEST(FormRead, a_whole_number_may_have_a_point_or_exponent_as_in_json_schema) {
  EXPECT_EQ(order({{"id", "a"}, {"items[0][price]", "7.0"}, {"items[1][price]", "1e1"}}),
            order({{"id", "a"}, {"items[0][price]", "7"}, {"items[1][price]", "10"}}));
  EXPECT_EQ(order({{"items[0][price]", "7.5"}}),
            "items[0][price] expected integer, got other text");
}

TEST(FormRead, brackets_are_members_of_objects_and_of_lists) {
  const std::string two = R"({"items":[{"price":5,"name":null},{"price":7,"name":"b"}]})";
  EXPECT_EQ(order({{"items[0][price]", "5"}, {"items[1][price]", "7"}, {"items[1][name]", "b"}}),
            two);
  // The numbers are an order, and no more.
  EXPECT_EQ(order({{"items[900000000][name]", "b"},
                   {"items[12][price]", "5"},
                   {"items[900000000][price]", "7"}}),
            two);
  EXPECT_EQ(order({{"tags[]", "b"}, {"tags[]", "a"}}), R"({"tags":["b","a"]})");
  EXPECT_EQ(order({{"tags", "b"}, {"tags", "a"}}), R"({"tags":["b","a"]})");
  EXPECT_EQ(order({{"tags[10]", "b"}, {"tags[9]", "a"}}), R"({"tags":["a","b"]})");
  EXPECT_EQ(order({{"counts[a b]", "1"}, {"counts[7]", "2"}}), R"({"counts":{"7":2,"a b":1}})");
  EXPECT_EQ(
      order({{"folder[name]", "a"}, {"folder[folders][0][folders][0][name]", "c"}}),
      R"({"folder":{"name":"a","folders":[{"name":"","folders":[{"name":"c","folders":[]}]}]}})");
}

TEST(FormRead, alternatives_are_chosen_by_what_is_there) {
  EXPECT_EQ(order({{"created", "5"}}), R"({"created":5})");
  EXPECT_EQ(order({{"created[gte]", "5"}}), R"({"created":{"gte":5}})");
  EXPECT_EQ(order({{"best[price]", "5"}}), R"({"best":{"price":5,"name":null}})");
  EXPECT_EQ(order({{"best[name]", "5"}}), R"({"best":{"name":"5"}})");
  EXPECT_EQ(order({{"words", "a"}}), R"({"words":"a"})");
  EXPECT_EQ(order({{"words", "a"}, {"words", "b"}}), R"({"words":["a","b"]})");
  EXPECT_EQ(order({{"words[]", "a"}}), R"({"words":["a"]})");
  EXPECT_EQ(order({{"owner", ""}}), R"({"owner":""})");
  EXPECT_EQ(order({{"owner[name]", ""}}), R"({"owner":{"name":""}})");
  EXPECT_EQ(order({{"plan[count]", "3"}}), R"({"plan":{"count":3}})");
  EXPECT_EQ(order({{"owner", "x"}}), "owner expected one of '', got 'x'");
  EXPECT_EQ(order({{"created", "soon"}}), "created expected integer or object, got other text");
}

TEST(FormRead, any_value_keeps_texts) {
  EXPECT_EQ(order({{"other[a][0]", "1"}, {"other[b]", "true"}}),
            R"({"other":{"a":["1"],"b":"true"}})");
}

TEST(FormRead, json_is_text_in_a_form) {
  EXPECT_EQ(order({{"extra", R"({"price":5})"}}), R"({"extra":"{\"price\":5,\"name\":null}"})");
  EXPECT_EQ(order({{"extra", R"({"price":"x"})"}}), "extra /price: expected integer, got string");
}

TEST(FormRead, each_place_is_named_as_it_was_sent) {
  EXPECT_EQ(order({{"items[0][name]", "a"},
                   {"items[3][price]", "101"},
                   {"folder", "x"},
                   {"created[lte]", "5"},
                   {"tags[a]", "1"}}),
            "items[0][price] is missing; items[3][price] expected 1 to 100, got 101; tags expected "
            "array, got object; created[lte] is not known; did you mean 'gte'?; folder expected "
            "object, got other text");
  EXPECT_EQ(order({{"tags[]", "a"}, {"tags[]", "b"}, {"tags[]", "c"}, {"tags[]", "d"}}),
            "tags expected at most 3 items, got 4");
}

TEST(FormRead, names_that_contradict_each_other_are_refused) {
  EXPECT_EQ(refusal({{"a", "1"}, {"a[b]", "2"}}),
            "'a[b]' is beside a value of the name before its brackets");
  EXPECT_EQ(refusal({{"a[b]", "1"}, {"a", "2"}}),
            "'a' is a value beside the same name with brackets");
  EXPECT_EQ(refusal({{"a[][b]", "1"}}),
            "'a[][b]' has '[]' before other brackets: number the items, such as items[0][price]");
  EXPECT_EQ(order({{"tags[]", "a"}, {"tags[0]", "b"}}), "tags expected array, got object");
}

TEST(FormRead, brackets_that_do_not_match_are_part_of_the_name) {
  FormTree tree =
      tree_of({{"a[b", "1"}, {"a]", "2"}, {"[a]", "3"}, {"a[b[c]]", "4"}, {"a[b]c", "5"}});
  std::string names;
  for (const auto& [name, node] : tree.root().members) names += name + " ";
  EXPECT_EQ(names, "[a] a[b a[b[c]] a[b]c a] ");
}

TEST(FormRead, how_much_there_is_has_bounds) {
  FormTree tree;
  std::string deep = "a";
  for (std::size_t depth = 1; depth < FormTree::depth_max; ++depth) deep += "[b]";
  EXPECT_TRUE(tree.add(deep, {"1"}));
  const auto deeper = tree.add(deep + "[b]", {"1"});
  ASSERT_FALSE(deeper);
  EXPECT_NE(deeper.error().message().find("is more than 16 deep"), std::string::npos);
  for (std::size_t count = 1; count < FormTree::values_max; ++count) {
    ASSERT_TRUE(tree.add("c[]", {"1"}));
  }
  for (const char* const name : {"c[]", "d"}) {
    const auto added = tree.add(name, {"1"});
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().message(),
              std::string("'") + name + "' is one of more than 1000 values");
  }
}

struct Upload {
  std::string filename;
  std::string content_type;
  std::string content;
};
struct Uploads {
  std::optional<Upload> file;
  Named of;
};
KATANA_DESCRIBE(Uploads, file, of)

TEST(FormRead, a_part_is_a_file_and_a_text_is_none) {
  FormTree tree;
  FormLeaf leaf{"abc"};
  leaf.part = std::make_unique<FormLeaf::Part>("a.txt", "text/plain");
  ASSERT_TRUE(tree.add("file", std::move(leaf)));
  ASSERT_TRUE(tree.add("of[name]", {"Ann"}));
  Uploads uploads;
  Findings findings;
  ASSERT_TRUE(read_form(tree, uploads, findings));
  ASSERT_TRUE(uploads.file);
  EXPECT_EQ(uploads.file->filename + uploads.file->content_type + uploads.file->content,
            "a.txttext/plainabc");
  EXPECT_EQ(uploads.of.name, "Ann");
  EXPECT_FALSE(read_form(tree_of({{"file", "abc"}}), uploads, findings));
  EXPECT_EQ(findings.error().message(), "/file: expected file, got other text");
}

TEST(FormRead, what_is_written_is_read_back) {
  const auto value = read_json<Value>(
      R"({"items":[{"price":5,"name":null},{"price":7,"name":"b&[]"}],"tags":["x","y"],
          "counts":{"k":3},"created":{"lt":9},"empty":[],"none":{},"weight":0.25,"paid":true})");
  ASSERT_TRUE(value);
  std::string sent;
  FormTree tree;
  for (const Member& each : *value->get_object()) {
    for (const auto& [name, text] : bracket_pairs(each.name, each.value)) {
      sent += name + "=" + text + "\n";
      ASSERT_TRUE(tree.add(name, {text}));
    }
  }
  EXPECT_EQ(sent,
            "items[0][price]=5\nitems[1][price]=7\nitems[1][name]=b&[]\ntags[0]=x\ntags[1]=y\n"
            "counts[k]=3\ncreated[lt]=9\nweight=0.25\npaid=true\n");
  Order back;
  Findings findings;
  ASSERT_TRUE(read_form(tree, back, findings)) << findings.error().describe();
  EXPECT_EQ(back.items.size(), 2u);
  EXPECT_EQ(back.items[1].name, "b&[]");
  EXPECT_EQ(back.weight, 0.25);
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
