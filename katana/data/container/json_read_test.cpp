#include "katana/data/container/json_read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/data/container/json_write.hpp"
#include "katana/data/container/shapes_test.hpp"

namespace katana::container {
namespace {

using testing::HasSubstr;

struct Read {
  bool good;
  std::string words;  // every finding
  bool malformed;
};

// From memory that ends with the text, so that AddressSanitizer sees a read beyond it.
template <class T>
Read read_exactly(Bytes text, T& value, const ReadOptions& options = {}) {
  const auto block = std::make_unique<char[]>(text.size());
  if (!text.empty()) std::memcpy(block.get(), text.data(), text.size());
  Findings findings(options.findings_max);
  const bool good = read_json(Bytes(block.get(), text.size()), value, findings, options);
  EXPECT_EQ(good, findings.empty());
  return {good, good ? "" : std::string(findings.error().message()), findings.malformed()};
}

template <class T>
T read_good(Bytes text, const ReadOptions& options = {}) {
  T value{};
  const Read read = read_exactly(text, value, options);
  EXPECT_TRUE(read.good) << text << ": " << read.words;
  return value;
}
template <class T>
std::string fault_of(Bytes text, const ReadOptions& options = {}) {
  T value{};
  return read_exactly(text, value, options).words;
}

// ---- accepted text ----

TEST(JsonRead, a_struct_is_filled_in_any_order_of_names) {
  const User user = some_user();
  EXPECT_EQ(read_good<User>(to_json(user)), user);
  EXPECT_EQ(read_good<User>(R"( { "active" : true , "age":36,"email":"ada@example.org",
                                "name":"Ada","id":7 } )"),
            user);
}

TEST(JsonRead, what_was_written_reads_back_equal) {
  EXPECT_EQ(read_good<Order>(to_json(some_order())), some_order());
}

TEST(JsonRead, optional_members_may_be_null_or_missing) {
  EXPECT_EQ(read_good<User>(R"({"id":1,"name":"a","email":"a@b","active":false})").age,
            std::nullopt);
  EXPECT_EQ(read_good<User>(R"({"id":1,"name":"a","email":"a@b","active":false,"age":null})").age,
            std::nullopt);
}

TEST(JsonRead, defaulted_members_keep_what_they_were) {
  Order order;
  order.mail = "kept";
  const Read read = read_exactly(
      R"({"number":1,"state":"open","lines":[],"tags":{},"notes":[],"key":"","flags":[]})", order);
  EXPECT_TRUE(read.good) << read.words;
  EXPECT_EQ(order.mail, "kept");
}

TEST(JsonRead, integers_are_read_to_their_limits) {
  EXPECT_EQ(read_good<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(read_good<std::int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(read_good<std::int8_t>("-128"), -128);
  EXPECT_EQ(read_good<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(read_good<std::vector<std::int64_t>>("[0,-0,9223372036854775807]"),
            (std::vector<std::int64_t>{0, 0, INT64_MAX}));
}

TEST(JsonRead, real_numbers_are_exact) {
  EXPECT_EQ(read_good<double>("0.1"), 0.1);
  EXPECT_EQ(read_good<double>("5"), 5.0);
  EXPECT_TRUE(std::signbit(read_good<double>("-0.0")));
  EXPECT_EQ(read_good<double>("5e-324"), 5e-324);
  EXPECT_EQ(read_good<float>("0.1"), 0.1f);
}

TEST(JsonRead, strings_have_their_escapes_resolved) {
  EXPECT_EQ(read_good<std::string>(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00\u0000x")"),
            Bytes("\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\0x", 20));
  for (std::size_t size = 0; size < 70; ++size) {
    const std::string text(size, 'x');
    EXPECT_EQ(read_good<std::string>("\"" + text + "\""), text);
    EXPECT_EQ(read_good<std::string>("\"" + text + "\\n" + text + "\""), text + "\n" + text);
  }
}

TEST(JsonRead, names_may_be_written_with_escapes) {
  EXPECT_EQ(read_good<Line>(R"({"\u0069tem":"tea","pr\u0069ce":1})").price, 1);
}

struct Odd {
  int quoted = 0;
  int a_name_that_is_longer_than_the_padding_of_the_text = 0;
};
KATANA_DESCRIBE(Odd, (quoted, named("a \"b\" \\c")),
                a_name_that_is_longer_than_the_padding_of_the_text)

TEST(JsonRead, odd_names_are_found) {
  const Odd odd{.quoted = 1, .a_name_that_is_longer_than_the_padding_of_the_text = 2};
  const Odd read = read_good<Odd>(to_json(odd));
  EXPECT_EQ(read.quoted, 1);
  EXPECT_EQ(read.a_name_that_is_longer_than_the_padding_of_the_text, 2);
}

TEST(JsonRead, dictionaries_of_each_kind_are_filled) {
  EXPECT_EQ((read_good<std::unordered_map<std::string, int>>(R"({"a":1,"b":2})").at("b")), 2);
  using Pairs = std::vector<std::pair<std::string, int>>;
  EXPECT_EQ(read_good<Pairs>(R"({"z":1,"a":2})"), (Pairs{{"z", 1}, {"a", 2}}));
  EXPECT_THAT(fault_of<Pairs>(R"({"z":1,"a":2,"z":3})"), HasSubstr("twice"));
  EXPECT_EQ((fault_of<std::map<std::string, int>>(R"({"z":1,"z":3})")), "/z: is there twice");
}

TEST(JsonRead, a_value_keeps_kinds_and_order) {
  const auto value =
      read_good<Value>(R"({"z":[null,true,-1,18446744073709551615,1.0,1e2,-0,"x"],"a":{}})");
  const List expected = {nullptr, true, -1, UINT64_MAX, 1.0, 100.0, -0.0, "x"};
  EXPECT_EQ(value, Value(Object{{"z", expected}, {"a", Object()}}));
  EXPECT_EQ(to_json(value),
            R"({"z":[null,true,-1,18446744073709551615,1.0,100.0,-0.0,"x"],"a":{}})");
}

TEST(JsonRead, scalars_may_stand_alone) {
  EXPECT_EQ(read_good<Value>(" true\n"), Value(true));
  EXPECT_EQ(read_good<Value>("\"x\""), Value("x"));
  EXPECT_EQ(read_good<Value>("null"), Value());
  EXPECT_EQ(read_good<int>("42"), 42);
}

TEST(JsonRead, padded_text_is_read_where_it_is) {
  std::string text = to_json(some_user());
  const std::size_t size = text.size();
  text.append(json_padding_bytes, 'x');
  User user;
  Findings findings;
  EXPECT_TRUE(read_json(PaddedText{Bytes(text).substr(0, size)}, user, findings));
  EXPECT_EQ(user, some_user());
}

// ---- what does not fit ----

TEST(JsonRead, a_finding_names_the_place_what_was_expected_and_what_came) {
  EXPECT_EQ(fault_of<Order>(R"({"number":1,"state":"open","lines":[{"item":"a","price":1},)"
                            R"({"item":7,"price":1}],"tags":{},"notes":[],"key":"","flags":[]})"),
            "/lines/1/item: expected string, got 7");
  EXPECT_EQ(fault_of<User>("[]"), "expected object, got array");
  EXPECT_EQ(fault_of<std::vector<int>>("{\"a\":1}"), "expected array, got object");
  EXPECT_EQ(fault_of<std::vector<int>>("[1,\"2\",null]"),
            "/1: expected integer, got string; /2: expected integer, got null");
  EXPECT_EQ(fault_of<std::vector<bool>>("[1,{}]"),
            "/0: expected boolean, got 1; /1: expected boolean, got object");
  EXPECT_EQ(fault_of<double>("\"1\""), "expected number, got string");
  EXPECT_EQ(fault_of<State>("\"gone\""), "expected one of open, sent off, got 'gone'");
  EXPECT_EQ(fault_of<std::vector<std::byte>>("\"A\""), "expected string of base64, got string");
  EXPECT_EQ(fault_of<std::vector<std::byte>>("\"A*AA\""), "expected string of base64, got string");
  EXPECT_EQ(fault_of<std::vector<std::byte>>("\"QR==\""), "expected string of base64, got string")
      << "unused bits must be zero";
}

TEST(JsonRead, a_number_without_a_fraction_is_an_integer_however_it_is_written) {
  EXPECT_EQ(read_good<std::vector<int>>("[1.0,1e2,-0.0,120e-1,0e999,2147483647.00,1.5e1]"),
            (std::vector<int>{1, 100, 0, 12, 0, 2147483647, 15}));
  EXPECT_EQ(read_good<std::vector<std::uint64_t>>("[1.8446744073709551615e19]"),
            std::vector<std::uint64_t>{UINT64_MAX});
  EXPECT_EQ(read_good<std::vector<std::int64_t>>("[-922337203685477580.80e1]"),
            std::vector<std::int64_t>{INT64_MIN});
  EXPECT_EQ(fault_of<std::int64_t>("9223372036854775808.0"),
            "expected integer of 64 bits with a sign, got 9223372036854775808.0");
  EXPECT_EQ(fault_of<std::int64_t>("1e999999999999999999999"),
            "expected integer of 64 bits with a sign, got 1e999999999999999999999");
  EXPECT_EQ(fault_of<unsigned>("-1.0"), "expected integer from 0 to 4294967295, got -1.0");
  EXPECT_EQ(fault_of<std::vector<int>>("[1e-999999999999999999999,1]"),
            "/0: expected integer, got 1e-999999999999999999999");
  using IntegerOrText = AnyOf<int, std::string>;
  EXPECT_EQ(read_good<std::vector<IntegerOrText>>("[1.0,\"1.0\"]"),
            (std::vector<IntegerOrText>{1, std::string("1.0")}));
  using IntegerOrReal = AnyOf<int, double>;
  EXPECT_EQ(read_good<std::vector<IntegerOrReal>>("[1.0,1]"), (std::vector<IntegerOrReal>{1.0, 1}));
}

TEST(JsonRead, numbers_that_no_member_can_hold_are_findings) {
  EXPECT_EQ(fault_of<int>("1.5"), "expected integer, got 1.5");
  EXPECT_EQ(fault_of<int>("1e-2"), "expected integer, got 1e-2");
  EXPECT_EQ(fault_of<std::uint8_t>("256"), "expected integer from 0 to 255, got 256");
  EXPECT_EQ(fault_of<unsigned>("-1"), "expected integer from 0 to 4294967295, got -1");
  EXPECT_EQ(fault_of<std::uint64_t>("18446744073709551616"),
            "expected integer of 64 bits without a sign, got 18446744073709551616");
  EXPECT_EQ(fault_of<std::int64_t>("-9223372036854775809"),
            "expected integer of 64 bits with a sign, got -9223372036854775809");
  EXPECT_EQ(fault_of<double>("1e999"), "expected number of 64 bits, got 1e999");
  EXPECT_EQ(fault_of<float>("1e200"), "expected number that a float can hold, got number");
  EXPECT_EQ(fault_of<Value>("[18446744073709551616]"),
            "/0: expected number of 64 bits, got 18446744073709551616");
}

TEST(JsonRead, all_faults_of_a_value_are_found_at_once) {
  EXPECT_EQ(fault_of<User>(R"({"id":-1,"name":"","email":"nobody","age":200})"),
            "/id: expected integer of 64 bits without a sign, got -1; "
            "/name: expected 1 to 80 characters, got 0; "
            "/email: expected an e-mail address, got 'nobody'; "
            "/age: expected 0 to 150, got 200; /active: is missing");
}

TEST(JsonRead, rules_hold_for_items_and_stop_lists_that_are_too_long) {
  EXPECT_EQ(fault_of<Order>(R"({"number":1,"state":"open","lines":[1,2,3,4,5],"tags":{"a/b":-6},)"
                            R"("notes":[],"key":"","flags":[]})"),
            "/lines/0: expected object, got 1; /lines/1: expected object, got 2; "
            "/lines/2: expected object, got 3; /lines: expected at most 3 items, got 5; "
            "/tags/a~1b: expected at least -5, got -6");
}

TEST(JsonRead, findings_beyond_the_limit_are_counted) {
  EXPECT_EQ(fault_of<std::vector<int>>("[true,true,true,true]", {.findings_max = 2}),
            "/0: expected integer, got boolean; /1: expected integer, got boolean; and 2 more");
}

TEST(JsonRead, a_name_that_comes_twice_is_refused) {
  EXPECT_EQ(fault_of<Line>(R"({"item":"a","price":1,"item":"b"})"), "/item: is there twice");
  EXPECT_EQ(fault_of<Value>(R"({"a":{"b":1,"b":2}})"), "/a: a name is there twice");
  std::string many = "{";
  for (int count = 0; count < 100; ++count) many += fmt::format("\"{}\":0,", count);
  EXPECT_EQ(fault_of<Value>(many + "\"x\":0}"), "");
  EXPECT_EQ(fault_of<Value>(many + "\"50\":0}"), "a name is there twice");
}

struct Strict {
  int a = 0;
};
KATANA_DESCRIBE_STRICT(Strict, a)

TEST(JsonRead, unknown_names_are_ignored_or_refused_as_declared) {
  EXPECT_EQ(fault_of<Line>(R"({"item":"a","price":1,"more":[{"x":"\n"}]})"), "");
  EXPECT_EQ(fault_of<Line>(R"({"item":"a","price":1,"more":1})", {.unknown = UnknownNames::refuse}),
            "/more: is not known");
  EXPECT_EQ(fault_of<Strict>(R"({"a":1,"b":2})"), "/b: is not known");
}

struct StrictAddress {
  std::string street, postcode;
};
KATANA_DESCRIBE_STRICT(StrictAddress, (street, defaulted), (postcode, defaulted))

struct StrictPerson {
  std::string email;
  StrictAddress home;
  std::vector<StrictAddress> others;
};
KATANA_DESCRIBE_STRICT(StrictPerson, (email, defaulted), (home, defaulted), (others, defaulted))

TEST(JsonRead, of_an_unknown_name_the_nearest_that_there_is_is_named) {
  EXPECT_EQ(fault_of<StrictPerson>(R"({"emial":"a","colour":1})"),
            "/emial: is not known; did you mean 'email'?; /colour: is not known");
  EXPECT_EQ(fault_of<StrictPerson>(R"({"home":{"postcod":"1"},"others":[{},{"Street ":"x"}]})"),
            "/home/postcod: is not known; did you mean 'postcode'?; "
            "/others/1/Street : is not known; did you mean 'street'?");
  EXPECT_EQ(fault_of<StrictPerson>(R"({"home":{"emial":"1"}})"), "/home/emial: is not known")
      << "a name of the object around it is none of its own";
  EXPECT_EQ(fault_of<StrictPerson>(R"({"em\u0061li":"a"})"),
            "/emali: is not known; did you mean 'email'?");
}

TEST(JsonRead, of_unknown_names_no_more_is_repeated_than_a_limit) {
  const std::string long_name(100'000, 'x');
  const std::string one = fault_of<Strict>("{\"a\":1,\"" + long_name + "\":1}");
  EXPECT_EQ(one, "/" + std::string(128, 'x') + ": is not known");
  std::string many = "{\"a\":1";
  for (int count = 0; count < 1000; ++count) {
    many += fmt::format(",\"{}{}\":1", count, long_name.substr(0, 500));
  }
  EXPECT_LT(fault_of<Strict>(many + "}").size(), 16u * 160 + 40);
}

// ---- malformed text ----

TEST(JsonRead, malformed_text_is_one_finding_whatever_was_found_before) {
  for (const Bytes text : {"",
                           " ",
                           "{",
                           "[",
                           "}",
                           "]",
                           "[1",
                           "[1,",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "[1]]",
                           "[1],",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{\"a\" 1}",
                           "{1:1}",
                           "[}",
                           "{]",
                           "tru",
                           "truee",
                           "nul",
                           "nulls",
                           "falsch",
                           "[tru]",
                           "[01]",
                           "[1.]",
                           "[.5]",
                           "[+1]",
                           "[-]",
                           "[1e]",
                           "[0x10]",
                           "[NaN]",
                           "[Infinity]",
                           "'a'",
                           "\"",
                           "\"\\\"",
                           "[\"\\q\"]",
                           "[\"\\u12g4\"]",
                           "[\"\\ud800\"]",
                           "[\"\\udc00\"]",
                           "[\"\\ud800\\u0041\"]",
                           "\"\n\"",
                           "[\"\t\"]",
                           "1 2",
                           "1,2",
                           "{}{}",
                           "[] x",
                           "\xff",
                           "\"\xff\"",
                           "[\"\xc3\"]",
                           "\xef\xbb\xbf[]",
                           "//x\n1",
                           "[1,2}",
                           "{\"a\":[1,2}",
                           "{\"a\":1]"}) {
    Value value;
    const Read read = read_exactly(text, value);
    EXPECT_FALSE(read.good) << text;
    EXPECT_TRUE(read.malformed) << text << ": " << read.words;
    EXPECT_THAT(read.words, HasSubstr("malformed JSON: "));
  }
}

TEST(JsonRead, members_that_are_passed_over_are_judged_too) {
  for (const Bytes more :
       {"tru", "01", "\"\\q\"", "[1 2]", "{\"a\":nul}", "{\"\\x\":1}", "[\"\\ud800\"]"}) {
    const std::string text = R"({"item":"a","price":1,"more":)" + std::string(more) + "}";
    Line line;
    EXPECT_TRUE(read_exactly(text, line).malformed) << text;
  }
}

TEST(JsonRead, malformed_text_is_told_from_text_of_another_type) {
  std::vector<int> list;
  EXPECT_TRUE(read_exactly("[\"a\",tru]", list).malformed);
  EXPECT_FALSE(read_exactly("[\"a\",true]", list).malformed);
}

TEST(JsonRead, malformed_text_is_told_with_its_line_and_column) {
  const std::pair<Bytes, Bytes> cases[] = {
      {"[1,2,3x]", "line 1, column 6: expected a value"},
      {"{\"name\":", "line 1, column 9: an object or array does not end"},
      {"{\n  \"name\": 1,\n  \"a\" 2\n}", "line 3, column 7: "},
      {"[1,\n 2\n", "line 2, column 3: an object or array does not end"},
      {"[\"\u00fc\", \"b", "line 1, column 7: a string does not end"},
      {"\"b", "line 1, column 1: a string does not end"},
      {"[1,\n\"a\tb\"]", "line 2, column 3: a control character in a string"},
      {"[1,\n \"\xff\"]", "line 2, column 3: text that is not UTF-8"},
      {"[1,\n \"\\q\"]", "line 2, column 2: an escape that JSON does not have"},
      {"{}\n {}", "line 2, column 2: something follows the value"},
      {"7 8", "line 1, column 3: "},
  };
  for (const auto& [text, words] : cases) {
    Value value;
    EXPECT_THAT(read_exactly(text, value).words, HasSubstr("malformed JSON: " + std::string(words)))
        << text;
  }
}

TEST(JsonRead, text_cut_anywhere_is_malformed) {
  const std::string text = to_json(some_order());
  for (std::size_t size = 0; size < text.size(); ++size) {
    Order order;
    EXPECT_TRUE(read_exactly(Bytes(text).substr(0, size), order).malformed) << size;
  }
}

TEST(JsonRead, depth_and_size_are_limited_whether_wanted_or_passed_over) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(fault_of<Value>(nested(64)), "");
  EXPECT_THAT(fault_of<Value>(nested(65)), HasSubstr("more than 64 deep"));
  EXPECT_THAT(fault_of<Line>("{\"x\":" + nested(64) + "}"), HasSubstr("more than 64 deep"));
  EXPECT_THAT(fault_of<Value>(nested(100'000)), HasSubstr("malformed JSON"));
  EXPECT_THAT(fault_of<Value>("[1,2,3]", {.bytes_max = 6}), HasSubstr("more than 6 bytes"));
  EXPECT_EQ(fault_of<Value>("[1,2,3]", {.bytes_max = 7}), "");
}

// ---- the parser that is kept ----

TEST(JsonRead, large_texts_and_small_ones_may_follow_one_another) {
  std::vector<User> users(20'000, some_user());
  EXPECT_EQ(read_good<std::vector<User>>(to_json(users)), users);
  EXPECT_EQ(read_good<User>(to_json(some_user())), some_user());
}

bool reads_another(const int& number) {
  return read_json<std::vector<int>>("[1,2,3]").has_value() && number == 1;
}
struct Nested {
  int a = 0;
  int b = 0;
};
KATANA_DESCRIBE(Nested, (a, satisfies(reads_another, "one")), b)

TEST(JsonRead, a_rule_may_read_json_itself) {
  EXPECT_EQ(read_good<Nested>(R"({"a":1,"b":2})").b, 2);
}

struct Stay {
  int starts = 0;
  int ends = 9;
};
KATANA_DESCRIBE(Stay, (starts, at_least(0)), (ends, defaulted))
KATANA_DESCRIBE_RULES(Stay,
                      (ends, [](const Stay& s) { return s.starts < s.ends; }, "more than 'starts'"))
struct Stays {
  std::vector<Stay> stays;
};
KATANA_DESCRIBE(Stays, stays)

TEST(JsonRead, a_rule_across_members_is_told_of_the_member_that_it_names) {
  EXPECT_TRUE(read_json<Stays>(R"({"stays":[{"ends":2,"starts":1},{"starts":8}]})"));
  Stays stays;
  Findings findings;
  EXPECT_FALSE(
      read_json(R"({"stays":[{"ends":2,"starts":2},{"starts":1},{"starts":9}]})", stays, findings));
  ASSERT_EQ(findings.list().size(), 2u);
  EXPECT_EQ(findings.list()[0].pointer, "/stays/0/ends");
  EXPECT_EQ(findings.list()[0].words, "expected more than 'starts'");
  EXPECT_EQ(findings.list()[1].pointer, "/stays/2/ends");
}

TEST(JsonRead, a_rule_across_members_is_applied_once_each_member_is_right) {
  Stay stay;
  for (const char* const wrong : {R"({"starts":-1,"ends":-2})", R"({"ends":-1})"}) {
    Findings findings;
    EXPECT_FALSE(read_json(wrong, stay, findings)) << wrong;
    ASSERT_EQ(findings.list().size(), 1u) << wrong;
    EXPECT_EQ(findings.list()[0].pointer, "/starts") << wrong;
  }
}

TEST(JsonRead, a_result_has_the_findings_as_its_message) {
  EXPECT_EQ(read_json<int>("1"), 1);
  const Result<int> refused = read_json<int>("\"1\"");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::invalid_argument);
  EXPECT_EQ(refused.error().message(), "expected integer, got string");
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
