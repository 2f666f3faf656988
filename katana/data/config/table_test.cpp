#include "katana/data/config/table.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "katana/data/config/config_fixture_test.hpp"
#include "katana/data/config/schema.hpp"

namespace katana::config {

enum class Colour : std::int8_t { red = -1, green = 7 };
KATANA_DESCRIBE_ENUM(Colour, red, (green, "as grass"))
enum class Wide : std::uint64_t { low = 1, high = UINT64_MAX };
KATANA_DESCRIBE_ENUM(Wide, low, high)

struct Span {
  int low = 1;
  int high = 5;
};
KATANA_DESCRIBE(Span, (low, help("where it begins")), high)

struct Before {
  std::uint64_t spent = 1 << 20;
};
struct Beside {
  std::string word = "beside";
};
// A struct of two bases, of which the second does not begin where the struct does.
struct Numbers : Before, Beside {
  bool flag = true;
  signed char tiny = -5;
  std::uint8_t small_byte = 200;
  short small = -300;
  std::uint16_t port = 8080;
  int whole = -70'000;
  unsigned natural = 70'000;
  std::int64_t large = INT64_MIN;
  std::uint64_t largest = UINT64_MAX;
  float half = 0.5f;
  double third = 1.0 / 3;
};
KATANA_DESCRIBE(Numbers, (spent, byte_count), word, flag, tiny, small_byte, small, port, whole,
                natural, large, largest, half, third)

struct Everything {
  Numbers numbers;
  std::string text = "a: [b] # \"c\"\x01";
  Colour colour = Colour::red;
  Wide wide = Wide::high;
  Duration wait = milliseconds(1500);
  ByteCount memory = kibibytes(16);
  std::chrono::milliseconds pause{250};
  std::optional<int> none;
  std::optional<int> some = 3;
  std::optional<std::vector<int>> maybe_list = std::vector<int>{1, 2};
  std::optional<Span> no_span;
  std::optional<Span> span = Span{.low = 2, .high = 3};
  std::vector<bool> flags = {true, false};
  std::vector<Colour> colours = {Colour::green, Colour::red};
  std::vector<std::optional<int>> gaps = {1, std::nullopt};
  std::vector<std::vector<std::string>> rows = {{"a"}, {}};
  std::vector<Span> spans = {{.low = 4}};
  std::map<std::string, Span> named = {{"null", {.low = 6}}};
  std::map<std::string, std::vector<Duration>> waits = {{"x y", {seconds(1)}}};
  std::unordered_map<std::string, int> counts = {{"one", 1}};
  std::vector<std::pair<std::string, int>> ordered = {{"z", 1}, {"a", 2}};
};
KATANA_DESCRIBE(Everything, numbers, text, colour, wide, wait, memory, pause, none, some,
                maybe_list, no_span, span, flags, colours, gaps, rows, spans, named, waits, counts,
                ordered)

struct More : Everything {
  Numbers others;
  int last = 9;
};
KATANA_DESCRIBE_DERIVED(More, Everything, others, (last, named("the_last"), at_most(9)))

bool is_ordered(const Span& span) { return span.low <= span.high; }

struct Ruled {
  Colour colour = Colour::red;
  Span span;
  std::optional<Span> maybe;
  std::vector<int> list;
  std::map<std::string, std::string> words;
  std::uint32_t bytes = 2048;
  std::optional<std::chrono::milliseconds> pause;
  std::string token = "secret";
};
KATANA_DESCRIBE(Ruled, (colour, at_least(Colour::green)),
                (span, satisfies(is_ordered, "low before high")),
                (maybe, satisfies(is_ordered, "low before high")),
                (list, length(0, 2), each(range(1, 9))),
                (words, required, each(length(1, 3), secret)),
                (bytes, byte_count, range(1024, 4096), help("so many")),
                (pause, range(std::chrono::milliseconds(1), std::chrono::milliseconds(10))),
                (token, secret, reloadable, pattern("[a-z]+")))

struct Reloading {
  Everything all;
  int fixed = 1;
};
KATANA_DESCRIBE(Reloading, (all, reloadable), fixed)

namespace {

template <class T>
std::string names_of() {
  std::string names;
  for (const Member& member : type_of<T>().group->members) names += std::string(member.name) + ' ';
  return names;
}

TEST(Table, has_a_row_for_each_member_in_the_order_of_the_description) {
  EXPECT_EQ(names_of<Span>(), "low high ");
  EXPECT_EQ(names_of<Numbers>(),
            "spent word flag tiny small_byte small port whole natural large largest half third ");
  EXPECT_EQ(names_of<More>(), names_of<Everything>() + "others the_last ");
  EXPECT_EQ(names_of<Network>(), "http admin ");
  std::size_t index = 0;
  for_each_field<Ruled>([&index](const auto& field) {
    const Member& row = type_of<Ruled>().group->members[index++];
    EXPECT_EQ(row.name, field.name);
    EXPECT_EQ(row.help, field.rules.help);
    EXPECT_EQ(&row.type(), &type_of<MemberOf<decltype(field)>>()) << row.name;
    EXPECT_EQ(row.said.rules, &field.rules);
    EXPECT_EQ(row.said.required, field.rules.presence == Presence::required) << row.name;
    EXPECT_EQ(row.said.secret, field.rules.secret) << row.name;
    EXPECT_EQ(row.said.reloadable, field.rules.reloadable) << row.name;
    EXPECT_EQ(row.said.byte_count, field.rules.byte_count) << row.name;
    EXPECT_EQ(row.said.limited, field.rules.check_value()) << row.name;
  });
  EXPECT_EQ(index, type_of<Ruled>().group->members.size());
}

TEST(Table, finds_each_member_of_a_value_of_bases_too) {
  More value;
  const Places places(*type_of<More>().group, &value);
  std::size_t index = 0;
  for_each_field(value, [&](const auto& field, auto& member) {
    EXPECT_EQ(places[index++], &member) << field.name;
  });
  const ConstPlaces numbers(*type_of<Numbers>().group, &value.others);
  EXPECT_EQ(numbers[1], &value.others.word);
  EXPECT_EQ(numbers[12], &value.others.third);
}

TEST(Table, says_of_each_type_what_it_is) {
  using enum Type::Kind;
  EXPECT_EQ(type_of<Wide>().kind, scalar);
  EXPECT_EQ(type_of<Wide>().scalar->names.size(), 2u);
  EXPECT_EQ(type_of<Span>().kind, group);
  EXPECT_EQ(type_of<std::vector<Span>>().kind, list);
  EXPECT_EQ((type_of<std::vector<std::pair<std::string, int>>>().kind), dictionary);
  EXPECT_EQ(type_of<std::optional<Span>>().kind, optional);
  EXPECT_EQ(&type_of<std::optional<Span>>().without_optional(), &type_of<Span>());
  EXPECT_EQ(&type_of<std::vector<Span>>().container->element(), &type_of<Span>());
}

class TableTest : public ConfigTest {
 protected:
  template <class T>
  std::string refusal_as(Bytes text) {
    write(text);
    const auto config = Config<T>::load(sources);
    return config ? "none" : without_folder(config.error().describe());
  }
};

TEST_F(TableTest, what_is_printed_of_every_kind_of_member_is_read_again_as_the_same) {
  const std::string defaults = write_value(More(), true);
  write("");
  const auto first = Config<More>::load(sources);
  ASSERT_TRUE(first) << first.error().describe();
  EXPECT_EQ(write_value(*first->get(), true), defaults);
  write(first->print());
  const auto second = Config<More>::load(sources);
  ASSERT_TRUE(second) << second.error().describe() << first->print();
  EXPECT_EQ(write_value(*second->get(), true), defaults);

  write(R"(numbers: {spent: 3MiB, word: "7", flag: false, tiny: -128, small_byte: 0, small: 0x10,
  port: 1, whole: 2, natural: 3, large: -4, largest: 5, half: 0.25, third: 1e-9}
text: ""
colour: as grass
wide: low
wait: 2h
memory: 1
pause: 1s
none: 4
some: null
maybe_list: null
no_span: {high: 9}
span: {low: 0}
flags: [false, true, true]
colours: []
gaps: [null, 2]
rows: [[], ["x", "y"]]
spans: [{}, {high: 8}]
named: {a: {low: 2}, b: {}}
waits: {q: [1ms, 2ms]}
counts: {two: 2}
ordered: {m: 1, b: 3}
others: {word: other}
the_last: 8
)");
  const auto third = Config<More>::load(sources);
  ASSERT_TRUE(third) << third.error().describe();
  const More& value = *third->get();
  EXPECT_EQ(value.numbers.spent, 3u << 20);
  EXPECT_EQ(value.numbers.tiny, -128);
  EXPECT_EQ(value.colour, Colour::green);
  EXPECT_EQ(value.wide, Wide::low);
  EXPECT_EQ(value.maybe_list, std::nullopt);
  ASSERT_TRUE(value.no_span && value.span);
  EXPECT_EQ(value.no_span->low, 1);
  EXPECT_EQ(value.span->high, 3);
  EXPECT_EQ(value.flags, (std::vector<bool>{false, true, true}));
  EXPECT_EQ(value.gaps, (std::vector<std::optional<int>>{std::nullopt, 2}));
  EXPECT_EQ(value.named.size(), 2u);
  EXPECT_EQ(value.ordered, (std::vector<std::pair<std::string, int>>{{"m", 1}, {"b", 3}}));
  EXPECT_EQ(value.others.word, "other");
  EXPECT_EQ(value.last, 8);
  write(third->print());
  const auto fourth = Config<More>::load(sources);
  ASSERT_TRUE(fourth) << fourth.error().describe() << third->print();
  EXPECT_EQ(write_value(*fourth->get(), true), write_value(value, true));
}

TEST_F(TableTest, the_rules_of_every_kind_of_member_are_obeyed) {
  EXPECT_EQ(refusal_as<Ruled>(R"(colour: red
span: {low: 6}
maybe: {low: 7}
list: [1, 2, 3]
words: {a: word, b: ""}
bytes: 8KiB
pause: 20ms
token: ABC
)"),
            R"(9 problems with the configuration:
  katana.yaml:1: colour: out of the range that is allowed
  katana.yaml:2: span: expected low before high
  katana.yaml:3: maybe: expected low before high
  katana.yaml:4: list: expected at most 2 items, got 3
  katana.yaml:5: words.a: expected 1 to 3 characters, got 4
  katana.yaml:5: words.b: expected 1 to 3 characters, got 0
  katana.yaml:6: bytes: expected 1KiB to 4KiB, got 8KiB
  katana.yaml:7: pause: expected 1ms to 10ms, got 20ms
  katana.yaml:8: token: expected text of the form [a-z]+)");
  EXPECT_EQ(refusal_as<Ruled>("list: [0, 10]"), R"(3 problems with the configuration:
  katana.yaml:1: list[0]: expected 1 to 9, got 0
  katana.yaml:1: list[1]: expected 1 to 9, got 10
  katana.yaml:1: words: is required and was not given)");
}

TEST_F(TableTest, a_schema_has_every_kind_of_member) {
  const std::string schema = json_schema<More>("more");
  for (const char* const part : {
           R"("flag": {
          "type": "boolean"
        })",
           R"("small_byte": {
          "type": "integer"
        })",
           R"("third": {
          "type": "number"
        })",
           R"("colours": {
      "type": "array",
      "items": {
        "enum": [
          "red",
          "as grass"
        ]
      }
    })",
           R"("wait": {
      "type": ["string", "number"]
    })",
       }) {
    EXPECT_NE(schema.find(part), std::string::npos) << part << schema;
  }
}

TEST_F(TableTest, a_reload_takes_over_every_kind_of_member) {
  write("");
  auto config = Config<Reloading>::load(sources);
  ASSERT_TRUE(config) << config.error().describe();
  write(R"(all: {text: new, colour: as grass, pause: 1s, some: null, none: 1, span: null,
  no_span: {low: 1}, flags: [true], named: {k: {low: 1}}, counts: {}, rows: [[q]]}
fixed: 2
)");
  const auto reloaded = config->reload();
  ASSERT_TRUE(reloaded) << reloaded.error().describe();
  EXPECT_EQ(reloaded->applied.size(), 11u);
  ASSERT_EQ(reloaded->needs_restart.size(), 1u);
  EXPECT_EQ(without_folder(reloaded->needs_restart[0]), "fixed: 1 → 2 (katana.yaml:3)");
  const auto fresh = Config<Reloading>::load(sources);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(write_value(config->get()->all, true), write_value(fresh->get()->all, true));
  EXPECT_EQ(config->get()->fixed, 1);
}

}  // namespace
}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
