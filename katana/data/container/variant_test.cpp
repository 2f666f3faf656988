#include "katana/base/values/described_variant.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "katana/base/values/patch.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"

namespace katana::container {
namespace {

struct Circle {
  double radius = 0;
  bool operator==(const Circle&) const = default;
};
KATANA_DESCRIBE(Circle, (radius, at_least(0)))

struct Named {
  std::string title;
  std::optional<int> layer;
  bool operator==(const Named&) const = default;
};
KATANA_DESCRIBE_STRICT(Named, (title, length(1, 8)), layer)

struct Nothing {
  bool operator==(const Nothing&) const = default;
};
constexpr auto katana_describe(const Nothing*) { return rules::describe(); }

struct Folder;
using Shape = std::variant<Circle, Named, Nothing, Folder>;
struct Folder {
  std::vector<Shape> shapes;
  bool operator==(const Folder&) const;
};
KATANA_DESCRIBE(Folder, (shapes, length(0, 3)))
KATANA_DESCRIBE_VARIANT(Shape, "kind", (Circle, "circle"), (Nothing, "no\"thing"), (Named, "named"),
                        (Folder, "folder"))
bool Folder::operator==(const Folder&) const = default;

struct Drawing {
  Shape first;
  std::optional<Shape> second;
  std::map<std::string, Shape> others;
  bool operator==(const Drawing&) const = default;
};
KATANA_DESCRIBE(Drawing, first, second, (others, defaulted))

std::string drawing_fault_of(Bytes json) {
  const Result<Drawing> read = read_json<Drawing>(json);
  return read ? "none" : read.error().describe();
}
// The MessagePack of a JSON text.
std::string packed(Bytes json) { return to_message_pack(*read_json<Value>(json)); }
std::string packed_drawing_fault_of(Bytes json) {
  const Result<Drawing> read = read_message_pack<Drawing>(packed(json));
  return read ? "none" : read.error().describe();
}

TEST(Variant, the_discriminator_says_what_is_read) {
  const Result<Shape> circle = read_json<Shape>(R"({"kind":"circle","radius":2.5})");
  ASSERT_TRUE(circle) << circle.error().describe();
  EXPECT_EQ(*circle, Shape(Circle{2.5}));
  const Result<Shape> named = read_json<Shape>(R"({"kind":"named","title":"x"})");
  ASSERT_TRUE(named) << named.error().describe();
  EXPECT_EQ(*named, Shape(Named{.title = "x", .layer = {}}));
}

TEST(Variant, it_may_stand_at_any_place_and_be_escaped) {
  for (const char* const json :
       {R"({"title":"x","kind":"named","layer":7})", R"({"title":"x","layer":7,"kind":"named"})",
        R"({"layer":7,"\u006bind":"n\u0061med","title":"x"})",
        R"( { "layer" : 7 , "title" : "x" , "kind" : "named" } )"}) {
    const Result<Shape> shape = read_json<Shape>(json);
    ASSERT_TRUE(shape) << json << shape.error().describe();
    EXPECT_EQ(*shape, Shape(Named{.title = "x", .layer = 7})) << json;
    const Result<Shape> unpacked = read_message_pack<Shape>(packed(json));
    ASSERT_TRUE(unpacked) << json << unpacked.error().describe();
    EXPECT_EQ(*unpacked, *shape) << json;
  }
}

TEST(Variant, what_is_written_is_read_as_the_same) {
  const Drawing drawing{
      .first = Folder{{Circle{1}, Folder{{Nothing(), Named{.title = "\"", .layer = -1}}}}},
      .second = Nothing(),
      .others = {{"a", Circle{0.5}}, {"b", Folder{}}}};
  const std::string json = to_json(drawing);
  EXPECT_EQ(json,
            R"({"first":{"kind":"folder","shapes":[{"kind":"circle","radius":1.0},)"
            R"({"kind":"folder","shapes":[{"kind":"no\"thing"},)"
            R"({"kind":"named","title":"\"","layer":-1}]}]},"second":{"kind":"no\"thing"},)"
            R"("others":{"a":{"kind":"circle","radius":0.5},"b":{"kind":"folder","shapes":[]}}})");
  const Result<Drawing> read = read_json<Drawing>(json);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(*read, drawing);
  const std::string octets = to_message_pack(drawing);
  EXPECT_EQ(octets, packed(json));
  const Result<Drawing> unpacked = read_message_pack<Drawing>(octets);
  ASSERT_TRUE(unpacked) << unpacked.error().describe();
  EXPECT_EQ(*unpacked, drawing);
}

TEST(Variant, errors_name_the_place_and_what_is_known) {
  const auto both = [](Bytes json, Bytes words) {
    EXPECT_EQ(drawing_fault_of(json), words) << json;
    EXPECT_EQ(packed_drawing_fault_of(json), words) << json;
  };
  both(R"({"first":{"kind":"circle","radius":1}})", "none");
  both(R"({"first":{"kind":"cube","edge":1}})",
       "/first/kind: expected one of circle, named, no\"thing, folder, got 'cube'");
  both(R"({"first":{"radius":1}})", "/first/kind: is missing");
  both(R"({"first":{},"second":{}})", "/first/kind: is missing; /second/kind: is missing");
  EXPECT_EQ(read_json<Shape>("{}").error().describe(), "/kind: is missing");
  EXPECT_EQ(read_json<Shape>(" { } ").error().describe(), "/kind: is missing");
  EXPECT_TRUE(read_json<Shape>("{} 1").error().describe().starts_with("malformed JSON"));
  EXPECT_EQ(read_json<std::vector<Shape>>("[{},{}]").error().describe(),
            "/0/kind: is missing; /1/kind: is missing");
  both(R"({"first":{"kind":7}})", "/first/kind: expected string, got number");
  both(R"({"first":{"kind":{"kind":"circle"}}})", "/first/kind: expected string, got object");
  both(R"({"first":[1]})", "/first: expected object, got array");
  both(R"({"first":null})", "/first: expected object, got null");
  both(R"({"first":{"kind":"circle"}})", "/first/radius: is missing");
  both(R"({"first":{"kind":"circle","radius":-1}})", "/first/radius: expected at least 0, got -1");
  both(R"({"first":{"kind":"named","title":"","extra":1}})",
       "/first/title: expected 1 to 8 characters, got 0; /first/extra: is not known");
  both(R"({"first":{"kind":"folder","shapes":[{"kind":"circle","radius":1},{"kind":"x"}]}})",
       "/first/shapes/1/kind: expected one of circle, named, no\"thing, folder, got 'x'");
}

TEST(Variant, a_name_that_comes_twice_is_refused) {
  EXPECT_EQ(drawing_fault_of(R"({"first":{"kind":"circle","radius":1,"kind":"circle"}})"),
            "/first/kind: is there twice");
  EXPECT_EQ(
      drawing_fault_of(R"({"first":{"kind":"circle","radius":1,"kind":"named","title":"x"}})"),
      "/first/kind: is there twice");
}

TEST(Variant, malformed_input_has_one_finding) {
  for (const char* const json :
       {R"({"kind":"circle","radius":1)", R"({"radius":1,"kind")",
        R"({"radius":tru,"kind":"circle"})", R"({"kind":"circle","radius":1}})",
        R"({"a":"\u12","kind":"circle"})", R"({"kind":"\u12"})"}) {
    Shape shape;
    Findings findings;
    EXPECT_FALSE(read_json(Bytes(json), shape, findings)) << json;
    EXPECT_TRUE(findings.malformed()) << json;
    EXPECT_EQ(findings.list().size(), 1u) << json;
  }
  const std::string octets = packed(R"({"radius":1,"kind":"circle"})");
  for (std::size_t size = 0; size < octets.size(); ++size) {
    Shape shape;
    Findings findings;
    EXPECT_FALSE(read_message_pack(Bytes(octets).substr(0, size), shape, findings)) << size;
    EXPECT_TRUE(findings.malformed()) << size;
  }
}

// The discriminator last, however deep: the limit of depth bounds what looking for it costs.
TEST(Variant, depth_is_limited_before_the_discriminator_too) {
  const auto nested = [](int depth) {
    std::string json = R"({"kind":"no\"thing"})";
    for (int level = 0; level < depth; ++level) {
      json = R"({"shapes":[)" + json + R"(],"kind":"folder"})";
    }
    return json;
  };
  EXPECT_TRUE(read_json<Shape>(nested(31)));  // 31 folders with a list each, and the inner value
  const Result<Shape> deep = read_json<Shape>(nested(32));
  ASSERT_FALSE(deep);
  EXPECT_NE(deep.error().describe().find("deep"), std::string::npos) << deep.error().describe();
  EXPECT_FALSE(read_message_pack<Shape>(packed(nested(31)).insert(0, "\x91")));
}

TEST(Variant, check_looks_inside) {
  std::string found;
  check(Drawing{.first = Folder{{Circle{1}, Circle{-2}}}, .second = {}, .others = {}},
        [&](Bytes pointer, const std::string& words) {
          found += std::string(pointer) + ": " + words + "; ";
        });
  EXPECT_EQ(found, "/first/shapes/1/radius: expected at least 0, got -2; ");
}

struct ChangedShape {
  Patch<Shape> shape = {};
};
KATANA_DESCRIBE(ChangedShape, shape)

TEST(Variant, it_may_be_patched_as_a_whole) {
  const Result<ChangedShape> change =
      read_json<ChangedShape>(R"({"shape":{"kind":"circle","radius":3}})");
  ASSERT_TRUE(change) << change.error().describe();
  Drawing drawing;
  change->shape.apply_to(drawing.first);
  EXPECT_EQ(drawing.first, Shape(Circle{3}));
  EXPECT_EQ(to_json(*change), R"({"shape":{"kind":"circle","radius":3.0}})");
  EXPECT_EQ(to_json(ChangedShape()), "{}");
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
