#include "katana/base/values/described.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/compiler_test.hpp"

namespace katana {
namespace elsewhere {

struct One {
  int only = 1;
};
KATANA_DESCRIBE(One, only)

struct Two {
  std::string name = "none";
  std::optional<double> weight;
};
KATANA_DESCRIBE(Two, name, weight)

struct Five {
  int a = 1, b = 2, c = 3, d = 4, e = 5;
};
KATANA_DESCRIBE(Five, a, b, c, d, e)

struct ThirtyTwo {
  int m1 = 1, m2 = 2, m3 = 3, m4 = 4, m5 = 5, m6 = 6, m7 = 7, m8 = 8, m9 = 9, m10 = 10, m11 = 11,
      m12 = 12, m13 = 13, m14 = 14, m15 = 15, m16 = 16, m17 = 17, m18 = 18, m19 = 19, m20 = 20,
      m21 = 21, m22 = 22, m23 = 23, m24 = 24, m25 = 25, m26 = 26, m27 = 27, m28 = 28, m29 = 29,
      m30 = 30, m31 = 31, m32 = 32;
};
KATANA_DESCRIBE(ThirtyTwo, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16,
                m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32)

struct Reordered {
  int first = 1;
  int second = 2;
  int unnamed = 3;
};
KATANA_DESCRIBE(Reordered, second, first)

struct Undescribed {};

}  // namespace elsewhere

namespace {

template <class T>
std::vector<std::string> names_of(T& value) {
  std::vector<std::string> names;
  for_each_field(value, [&](const auto& field, auto&) { names.emplace_back(field.name); });
  return names;
}

template <class T>
int sum_of(T& value) {
  int sum = 0;
  for_each_field(value, [&](const auto&, int& member) { sum += member; });
  return sum;
}

TEST(Describe, names_one_member) {
  elsewhere::One one;
  EXPECT_EQ(names_of(one), std::vector<std::string>{"only"});
  EXPECT_EQ(sum_of(one), 1);
}

TEST(Describe, names_two_members_of_different_types) {
  elsewhere::Two two;
  EXPECT_EQ(names_of(two), (std::vector<std::string>{"name", "weight"}));
  for_each_field(two, [](const auto&, auto& member) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, std::string>) {
      member = "set";
    } else {
      static_assert(std::is_same_v<std::remove_cvref_t<decltype(member)>, std::optional<double>>);
      member = 2.5;
    }
  });
  EXPECT_EQ(two.name, "set");
  EXPECT_EQ(two.weight, 2.5);
}

TEST(Describe, names_five_members) {
  elsewhere::Five five;
  EXPECT_EQ(names_of(five), (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(sum_of(five), 15);
}

TEST(Describe, names_thirty_two_members_in_order) {
  elsewhere::ThirtyTwo many;
  const std::vector<std::string> names = names_of(many);
  ASSERT_EQ(names.size(), 32u);
  for (std::size_t index = 0; index < names.size(); ++index) {
    EXPECT_EQ(names[index], "m" + std::to_string(index + 1));
  }
  EXPECT_EQ(sum_of(many), 32 * 33 / 2);
}

TEST(Describe, visits_in_the_order_of_the_description_and_only_what_it_names) {
  elsewhere::Reordered value;
  EXPECT_EQ(names_of(value), (std::vector<std::string>{"second", "first"}));
  EXPECT_EQ(sum_of(value), 3);
}

TEST(Describe, tells_described_structs_from_others) {
  EXPECT_TRUE(Described<elsewhere::Five>);
  EXPECT_FALSE(Described<elsewhere::Undescribed>);
  EXPECT_FALSE(Described<int>);
}

// ---- rules ----

struct Address {
  std::string street;
  std::string city;
};
KATANA_DESCRIBE(Address, (street, length(1, 5)), city)

enum class Role { guest, admin, ghost };
KATANA_DESCRIBE_ENUM(Role, guest, (admin, "administrator"))

constexpr bool is_even(const int& number) { return number % 2 == 0; }

struct Person {
  std::string name;
  std::string email;
  std::optional<int> age;
  std::string token;
  std::vector<std::string> tags;
  std::vector<Address> addresses;
  std::map<std::string, int> scores;
  int shoes = 2;
  double height = 1;
};
KATANA_DESCRIBE(Person, (name, length(1, 8), help("What friends call them.")),
                (email, named("e-mail"), format::email, required), (age, range(0, 150)),
                (token, secret, pattern("[a-f0-9]{4}"), defaulted),
                (tags, length(0, 3), each(length(1, 4))), (addresses), (scores, each(at_least(1))),
                (shoes, reloadable, satisfies(is_even, "an even number")), (height, at_most(3)))

Person some_person() {
  return {.name = "Ada",
          .email = "ada@example.org",
          .age = 36,
          .token = "beef",
          .tags = {"math"},
          .addresses = {{.street = "Lane", .city = "London"}},
          .scores = {{"a/b", 7}},
          .shoes = 2,
          .height = 1.7};
}

using Broken = std::vector<std::string>;

Broken broken_in(const Person& person) {
  Broken broken;
  check(person, [&](Bytes pointer, const std::string& words) {
    broken.push_back(std::string(pointer) + ": " + words);
  });
  return broken;
}

TEST(Rules, are_constants_that_a_reader_can_ask) {
  static_assert(field_of<Person, 0>.rules.length_max == 8);
  static_assert(field_of<Person, 0>.rules.help == "What friends call them.");
  static_assert(field_of<Person, 1>.name == "e-mail");
  static_assert(field_of<Person, 2>.rules.most == 150);
  static_assert(field_of<Person, 3>.rules.secret && !field_of<Person, 2>.rules.secret);
  static_assert(field_of<Person, 7>.rules.reloadable && !field_of<Person, 6>.rules.reloadable);
  static_assert(!field_of<Address, 1>.rules.check() && field_of<Address, 0>.rules.check());
  static_assert(field_of<Person, 6>.rules.check() && !field_of<Person, 6>.rules.check_value());
  int secrets = 0;
  for_each_index<Person>([&](auto index) { secrets += field_of<Person, index>.rules.secret; });
  EXPECT_EQ(secrets, 1);
}

TEST(Rules, presence_is_that_of_the_type_unless_it_is_said) {
  EXPECT_TRUE((field_of<Person, 0>.required()));
  EXPECT_TRUE((field_of<Person, 1>.required()));
  EXPECT_FALSE((field_of<Person, 2>.required()));
  EXPECT_FALSE((field_of<Person, 3>.required()));
}

TEST(Rules, that_are_kept_are_not_reported) { EXPECT_EQ(broken_in(some_person()), Broken{}); }

TEST(Rules, that_are_broken_are_all_reported_with_their_place) {
  Person person = some_person();
  person.name = "";
  person.email = "ada";
  person.age = 151;
  person.tags = {"math", "", "a", "b"};
  person.addresses.push_back({.street = "A very long one", .city = ""});
  person.scores["a/b"] = 0;
  person.shoes = 3;
  person.height = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(broken_in(person),
            (Broken{"/name: expected 1 to 8 characters, got 0",
                    "/e-mail: expected an e-mail address, got 'ada'",
                    "/age: expected 0 to 150, got 151", "/tags: expected at most 3 items, got 4",
                    "/tags/1: expected 1 to 4 characters, got 0",
                    "/addresses/1/street: expected 1 to 5 characters, got 15",
                    "/scores/a~1b: expected at least 1, got 0", "/shoes: expected an even number",
                    "/height: expected at most 3, got nan"}));
}

TEST(Rules, an_empty_optional_breaks_none) {
  Person person = some_person();
  person.age = std::nullopt;
  EXPECT_EQ(broken_in(person), Broken{});
}

TEST(Rules, a_secret_is_not_repeated_in_the_words) {
  Person person = some_person();
  person.token = "hunter2";
  EXPECT_EQ(broken_in(person), Broken{"/token: expected text of the form [a-f0-9]{4}"});
}

TEST(Rules, length_counts_characters_not_octets) {
  Person person = some_person();
  person.name = "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9";  // eight
  EXPECT_EQ(broken_in(person), Broken{});
  person.name += "\xc3\xa9";
  EXPECT_EQ(broken_in(person), Broken{"/name: expected 1 to 8 characters, got 9"});
}

TEST(Rules, long_text_is_cut_between_characters) {
  Person person = some_person();
  person.email.clear();
  for (int count = 0; count < 50; ++count) person.email += "\xe2\x82\xac";  // 150 bytes
  const Broken broken = broken_in(person);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].size(),
            std::string("/e-mail: expected an e-mail address, got ''").size() + 63);
}

struct Strict {
  int a = 0;
};
KATANA_DESCRIBE_STRICT(Strict, a)

struct ByHand {
  std::string email;
  int level = 0;
};
constexpr auto katana_describe(const ByHand*) {
  using namespace katana::rules;
  return describe(ignore_unknown, field(&ByHand::email, "email", format::email, length(1, 254)),
                  field(&ByHand::level, "level"));
}

TEST(Describe, says_what_happens_to_unknown_names) {
  static_assert(unknown_names<Strict> == UnknownNames::refuse);
  static_assert(unknown_names<ByHand> == UnknownNames::ignore);
  static_assert(unknown_names<Address> == UnknownNames::by_reader);
}

TEST(Describe, may_be_written_by_hand) {
  ByHand value{.email = "", .level = 3};
  EXPECT_EQ(names_of(value), (std::vector<std::string>{"email", "level"}));
  static_assert(field_of<ByHand, 0>.rules.format == Format::email);
}

struct Villa : Address {
  int rooms = 3;
};
KATANA_DESCRIBE_DERIVED(Villa, Address, (rooms, range(0, 9)))

TEST(Describe, a_derived_struct_has_the_members_of_its_base_first) {
  Villa villa;
  villa.street = "Avenue";
  villa.rooms = 12;
  EXPECT_EQ(names_of(villa), (std::vector<std::string>{"street", "city", "rooms"}));
  std::vector<std::string> broken;
  check(villa, [&](Bytes pointer, const std::string&) { broken.emplace_back(pointer); });
  EXPECT_EQ(broken, (std::vector<std::string>{"/street", "/rooms"}));  // the rules of both
}

// Two rules, each about two members.
struct Stay {
  int from = 0;
  int until = 0;
  int guests = 1;
  int beds = 1;
};
KATANA_DESCRIBE(Stay, from, (until, named("to"), at_most(99)), guests, beds)
KATANA_DESCRIBE_RULES(Stay,
                      (
                          until, [](const Stay& s) { return s.from < s.until; },
                          "a day after 'from'"),
                      (guests, [](const Stay& s) { return s.guests <= s.beds; }, "a bed for each"))
struct LongStay : Stay {
  std::vector<Stay> parts = {};
};
KATANA_DESCRIBE_DERIVED(LongStay, Stay, parts)

std::vector<std::string> broken_in(const LongStay& stay) {
  std::vector<std::string> broken;
  check(stay, [&](Bytes pointer, const std::string& words) {
    broken.push_back(std::string(pointer) + " " + words);
  });
  return broken;
}

TEST(DescribeRules, across_members_name_one_of_them_and_hold_for_derived_and_inner_structs) {
  LongStay stay;
  stay.until = 2;
  stay.parts = {{.from = 1, .until = 2, .guests = 1, .beds = 1}};
  EXPECT_EQ(broken_in(stay), std::vector<std::string>{});
  stay.from = 2;
  stay.guests = 2;
  EXPECT_EQ(broken_in(stay), (std::vector<std::string>{"/to expected a day after 'from'",
                                                       "/guests expected a bed for each"}));
  stay.parts[0].from = 3;
  EXPECT_EQ(broken_in(stay), std::vector<std::string>{"/parts/0/to expected a day after 'from'"});
}

struct PaidStay : LongStay {
  int price = 0;
  int paid = 0;
};
KATANA_DESCRIBE_DERIVED(PaidStay, LongStay, price, paid)
KATANA_DESCRIBE_RULES(
    PaidStay, (paid, [](const PaidStay& s) { return s.paid <= s.price; }, "at most the price"))
struct RefundedStay : PaidStay {
  int refund = 0;
};
KATANA_DESCRIBE_DERIVED(RefundedStay, PaidStay, refund)
KATANA_DESCRIBE_RULES(
    RefundedStay,
    (refund, [](const RefundedStay& s) { return s.refund <= s.paid; }, "at most what was paid"))

TEST(DescribeRules, of_every_base_hold_in_a_derived_struct_that_has_rules_too) {
  RefundedStay stay;
  stay.from = 3;
  stay.until = 2;
  stay.paid = 1;
  stay.refund = 2;
  const std::vector<std::string> all = {"to expected a day after 'from'",
                                        "paid expected at most the price",
                                        "refund expected at most what was paid"};
  std::vector<std::string> broken;
  const auto tell = [&](Bytes member, const std::string& words) {
    broken.push_back(std::string(member) + " " + words);
  };
  check_across(stay, tell);
  EXPECT_EQ(broken, all);
  broken.clear();
  check_across(static_cast<const PaidStay&>(stay), tell);
  EXPECT_EQ(broken, std::vector(all.begin(), all.begin() + 2));
  static_assert(RuledAcross<Stay> && RuledAcross<LongStay> && RuledAcross<RefundedStay>);
  static_assert(!RuledAcross<Address>);
}

TEST(DescribeRules, across_members_wait_until_the_members_obey_their_own_rules) {
  LongStay stay;
  stay.from = 200;
  stay.until = 100;
  stay.guests = 2;
  stay.parts = {{.from = 2, .until = 1, .guests = 1, .beds = 1}};
  EXPECT_EQ(broken_in(stay), (std::vector<std::string>{"/to expected at most 99, got 100",
                                                       "/parts/0/to expected a day after 'from'"}));
  stay.until = 99;  // the inner struct is still wrong
  EXPECT_EQ(broken_in(stay), std::vector<std::string>{"/parts/0/to expected a day after 'from'"});
}

TEST(DescribeRules, of_two_bases_do_not_compile) {
  if (compiler().empty()) GTEST_SKIP() << "there is no compiler";
  const auto derived = [](const std::string& bases, const std::string& behind) {
    return compile(
        "#include \"katana/base/values/described.hpp\"\n"
        "struct A { int a = 0; };\nKATANA_DESCRIBE(A, a)\n"
        "KATANA_DESCRIBE_RULES(A, (a, [](const A& s) { return s.a < 1; }, \"less\"))\n"
        "struct B { int b = 0; };\nKATANA_DESCRIBE(B, b)\n"
        "KATANA_DESCRIBE_RULES(B, (b, [](const B& s) { return s.b < 1; }, \"less\"))\n"
        "struct S : " +
        bases + " { int c = 0; };\nKATANA_DESCRIBE_DERIVED(S, A, c)\n" + behind +
        "inline void use(const S& s) { katana::check_across(s, [](auto, auto) {}); }\n");
  };
  const std::string own =
      "KATANA_DESCRIBE_RULES(S, (c, [](const S& s) { return s.c < 1; }, \"less\"))\n";
  for (const std::string& behind : {std::string(), own}) {
    const Compiled one = derived("A", behind);
    EXPECT_TRUE(one.good) << one.output;
    const Compiled two = derived("A, B", behind);
    EXPECT_FALSE(two.good);
    EXPECT_NE(two.output.find("two bases with rules across members"), std::string::npos)
        << two.output;
  }
}

TEST(DescribeRules, about_no_described_member_or_without_words_do_not_compile) {
  if (compiler().empty()) GTEST_SKIP() << "there is no compiler";
  const auto ruled = [](const std::string& rule) {
    return compile(
               "#include \"katana/base/values/described.hpp\"\n"
               "struct S { int a = 0, b = 0, c = 0; };\nKATANA_DESCRIBE(S, a, b)\n"
               "KATANA_DESCRIBE_RULES(S, (" +
               rule +
               "))\nstatic_assert(katana_rules_across(static_cast<const S*>(nullptr)).size() == 1);"
               "\n")
        .good;
  };
  EXPECT_TRUE(ruled("b, [](const S& s) { return s.a < s.b; }, \"more\""));
  EXPECT_FALSE(ruled("c, [](const S& s) { return s.a < s.b; }, \"more\""));
  EXPECT_FALSE(ruled("b, [](const S& s) { return s.a < s.b; }, \"\""));
}

TEST(DescribeEnum, names_what_it_describes_and_nothing_else) {
  EXPECT_EQ(enumerator_name(Role::guest), "guest");
  EXPECT_EQ(enumerator_name(Role::admin), "administrator");
  EXPECT_EQ(enumerator_name(Role::ghost).data(), nullptr);
  EXPECT_EQ(enumerator_from<Role>("administrator"), Role::admin);
  EXPECT_EQ(enumerator_from<Role>("admin"), std::nullopt);
  EXPECT_EQ(enumerator_choices<Role>(), "one of guest, administrator");
  static_assert(DescribedEnum<Role> && !DescribedEnum<UnknownNames> && !DescribedEnum<int>);
}

TEST(Describe, what_makes_no_sense_does_not_compile) {
  if (compiler().empty()) GTEST_SKIP() << "there is no compiler";
  const auto described = [](const std::string& entries) {
    return compile(
        "#include \"katana/base/values/described.hpp\"\n"
        "struct S { int a = 0; std::string b; signed char c = 0; };\n"
        "KATANA_DESCRIBE(S, " +
        entries + ")\nstatic_assert(katana::field_count<S> > 0);\n");
  };
  const Compiled right = described("(a, range(0, 9)), (b, pattern(\"[a-z]+\")), (c, at_most(127))");
  EXPECT_TRUE(right.good) << right.output;
  const Compiled twice = described("(a), (b, named(\"a\"))");
  EXPECT_FALSE(twice.good);
  EXPECT_NE(twice.output.find("two members have one name"), std::string::npos) << twice.output;
  EXPECT_FALSE(described("(a, length(1, 2))").good);
  EXPECT_FALSE(described("(b, pattern(\"(\"))").good);
  EXPECT_FALSE(described("(c, at_most(128))").good);
}

TEST(Describe, a_struct_of_more_members_than_there_may_be_says_so) {
  if (compiler().empty()) GTEST_SKIP() << "there is no compiler";
  const auto described = [](std::size_t count) {
    std::string members;
    std::string names;
    for (std::size_t index = 0; index < count; ++index) {
      const std::string name = fmt::format("member_{:03}", index);  // of one length, on purpose
      members += "int " + name + " = 0;\n";
      names += ", " + name;
    }
    return compile("#include \"katana/base/values/described.hpp\"\nstruct S {\n" + members +
                   "};\nKATANA_DESCRIBE(S" + names +
                   ")\nstatic_assert(katana::field_count<S> == " + std::to_string(count) + ");\n");
  };
  const Compiled most = described(described_members_max);
  EXPECT_TRUE(most.good) << most.output;
  const Compiled more = described(described_members_max + 1);
  EXPECT_FALSE(more.good);
  EXPECT_NE(more.output.find("katana::described_members_max"), std::string::npos) << more.output;
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
