#include "katana/base/values/patch.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"

namespace katana::container {
namespace {

struct Street {
  std::string name;
  std::optional<int> number;
  bool operator==(const Street&) const = default;
};
KATANA_DESCRIBE(Street, name, number)

struct Person {
  std::string name = "Ada";
  std::optional<std::string> nickname = "countess";
  std::optional<int> age = 36;
  std::vector<std::string> tags = {"a", "b"};
  std::optional<Street> street;
  bool operator==(const Person&) const = default;
};
KATANA_DESCRIBE(Person, name, nickname, age, tags, street)

struct StreetPatch {
  Patch<std::string> name = {};
  Patch<int> number = {};
  bool operator==(const StreetPatch&) const = default;
};
KATANA_DESCRIBE(StreetPatch, (name, not_null), number)

struct PersonPatch {
  Patch<std::string> name = {};
  Patch<std::string> nickname = {};
  Patch<int> age = {};
  Patch<std::vector<std::string>> tags = {};
  Patch<StreetPatch> street = {};
  bool operator==(const PersonPatch&) const = default;
};
KATANA_DESCRIBE(PersonPatch, (name, not_null, length(1, 8)), nickname, (age, range(0, 150)),
                (tags, not_null, length(0, 2), each(length(1, 3))), street)

// One of each: the last member is always there.
struct Versioned {
  Patch<std::string> first = {};
  int version = 1;
};
KATANA_DESCRIBE(Versioned, first, version)

PersonPatch patch_of(Bytes json) {
  Result<PersonPatch> patch = read_json<PersonPatch>(json);
  EXPECT_TRUE(patch) << patch.error().describe();
  return patch ? *patch : PersonPatch();
}
std::string patch_fault_of(Bytes json) {
  const Result<PersonPatch> patch = read_json<PersonPatch>(json);
  return patch ? "none" : patch.error().describe();
}

// Counts the objects that live.
struct Counted {
  Counted() { ++alive; }
  explicit Counted(int number) : value(number) { ++alive; }
  Counted(const Counted& other) : value(other.value) {
    if (value == throws) throw std::runtime_error("no copy");
    ++alive;
  }
  Counted(Counted&& other) noexcept : value(std::exchange(other.value, 0)) { ++alive; }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) = default;
  ~Counted() { --alive; }
  bool operator==(const Counted&) const = default;

  static constexpr int throws = -1;
  static inline int alive = 0;
  int value = 0;
};

TEST(Patch, it_ends_each_value_once_and_copies_and_moves_all_three_states) {
  {
    const Patch<Counted> absent, null = std::nullopt, seven = Counted(7);
    EXPECT_EQ(Counted::alive, 1);
    for (const Patch<Counted>* from : {&absent, &null, &seven}) {
      for (const Patch<Counted>* to : {&absent, &null, &seven}) {
        Patch<Counted> target = *to;
        target = *from;
        EXPECT_EQ(target, *from);
        Patch<Counted> moved = std::move(target);
        EXPECT_EQ(moved, *from);
        target = *to;
        target = std::move(moved);
        EXPECT_EQ(target, *from);
      }
    }
    EXPECT_NE(absent, null);
    EXPECT_NE(null, seven);
    EXPECT_EQ(Counted::alive, 1);
    Patch<Counted> own = seven;
    own = *&own;
    own = std::move(*&own);
    EXPECT_EQ(own, seven);
    own.emplace();
    EXPECT_EQ(own->value, 0);
    own = std::nullopt;
    EXPECT_EQ(Counted::alive, 1);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Patch, a_copy_that_throws_changes_nothing) {
  {
    Patch<Counted> broken;
    broken.emplace().value = Counted::throws;
    Patch<Counted> target = Counted(7);
    EXPECT_THROW(target = broken, std::runtime_error);
    EXPECT_EQ(target->value, 7);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Patch, absent_null_and_a_value_are_kept_apart) {
  const PersonPatch patch = patch_of(R"({"nickname":null,"age":7})");
  EXPECT_TRUE(patch.name.is_absent());
  EXPECT_FALSE(patch.name.is_null());
  EXPECT_TRUE(patch.nickname.is_null());
  EXPECT_FALSE(patch.nickname.is_absent());
  EXPECT_FALSE(patch.nickname.has_value());
  EXPECT_TRUE(patch.age.has_value());
  EXPECT_EQ(patch.age.value(), 7);
}

TEST(Patch, json_has_what_is_not_absent) {
  for (const char* const json :
       {"{}", R"({"nickname":null})", R"({"age":7})", R"({"name":"x","street":{"number":null}})",
        R"({"name":"x","nickname":"y","age":7,"tags":["a"],"street":null})"}) {
    EXPECT_EQ(to_json(patch_of(json)), json);
  }
  EXPECT_EQ(to_json(Versioned()), R"({"version":1})");
  EXPECT_EQ(to_json(Versioned{.first = std::string("a")}), R"({"first":"a","version":1})");
  EXPECT_EQ(to_json(std::vector<Versioned>(2)), R"([{"version":1},{"version":1}])");
}

TEST(Patch, message_pack_has_what_is_not_absent) {
  for (const char* const json : {"{}", R"({"nickname":null})",
                                 R"({"name":"x","age":7,"tags":[],"street":{"number":null}})"}) {
    const PersonPatch patch = patch_of(json);
    const std::string octets = to_message_pack(patch);
    // The same as that of a value which has these members.
    EXPECT_EQ(octets, to_message_pack(*read_json<Value>(json))) << json;
    const Result<PersonPatch> again = read_message_pack<PersonPatch>(octets);
    ASSERT_TRUE(again) << again.error().describe();
    EXPECT_EQ(*again, patch) << json;
  }
}

TEST(Patch, rules_are_those_of_a_value_that_is_there) {
  EXPECT_EQ(patch_fault_of("{}"), "none");
  EXPECT_EQ(patch_fault_of(R"({"age":null})"), "none");
  EXPECT_EQ(patch_fault_of(R"({"age":200})"), "/age: expected 0 to 150, got 200");
  EXPECT_EQ(patch_fault_of(R"({"name":""})"), "/name: expected 1 to 8 characters, got 0");
  EXPECT_EQ(patch_fault_of(R"({"tags":["a","long!"]})"),
            "/tags/1: expected 1 to 3 characters, got 5");
  EXPECT_EQ(patch_fault_of(R"({"street":{"number":"7"}})"),
            "/street/number: expected integer, got string");
  std::string found;
  check(PersonPatch{.age = 151}, [&](Bytes pointer, const std::string& words) {
    found = std::string(pointer) + ": " + words;
  });
  EXPECT_EQ(found, "/age: expected 0 to 150, got 151");
}

TEST(Patch, null_is_refused_where_the_description_says_so) {
  EXPECT_EQ(patch_fault_of(R"({"name":null})"), "/name: expected string, got null");
  EXPECT_EQ(patch_fault_of(R"({"street":{"name":null}})"),
            "/street/name: expected string, got null");
  const std::string octets = to_message_pack(*read_json<Value>(R"({"name":null})"));
  EXPECT_FALSE(read_message_pack<PersonPatch>(octets));
}

TEST(Patch, applied_it_changes_what_it_names) {
  Person person;
  apply_patch(PersonPatch(), person);
  EXPECT_EQ(person, Person());
  apply_patch(patch_of(R"({"name":"Eve","nickname":null,"tags":["c"]})"), person);
  EXPECT_EQ(person, (Person{.name = "Eve", .nickname = std::nullopt, .tags = {"c"}, .street = {}}));
}

TEST(Patch, a_struct_inside_is_patched_too_and_made_when_it_is_not_there) {
  Person person;
  apply_patch(patch_of(R"({"street":{"name":"Hill","number":1}})"), person);
  EXPECT_EQ(person.street, (Street{.name = "Hill", .number = 1}));
  apply_patch(patch_of(R"({"street":{"number":null}})"), person);
  EXPECT_EQ(person.street, (Street{.name = "Hill", .number = std::nullopt}));
  apply_patch(patch_of(R"({"street":null})"), person);
  EXPECT_EQ(person.street, std::nullopt);
}

TEST(Patch, a_member_alone_is_changed_by_apply_to) {
  int number = 1;
  std::optional<int> maybe = 1;
  Patch<int>().apply_to(number);
  Patch<int>().apply_to(maybe);
  EXPECT_EQ(number, 1);
  EXPECT_EQ(maybe, 1);
  Patch<int>(2).apply_to(number);
  Patch<int>(std::nullopt).apply_to(maybe);
  EXPECT_EQ(number, 2);
  EXPECT_EQ(maybe, std::nullopt);
  EXPECT_DEATH(Patch<int>(std::nullopt).apply_to(number), "is_null");
  EXPECT_DEATH((void)Patch<int>().value(), "has_value");
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
