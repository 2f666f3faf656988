#include "katana/wire/http/conditional.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace katana::http {
namespace {

constexpr std::int64_t modified_s = 784'111'777;  // Sun, 06 Nov 1994 08:49:37 GMT
constexpr Bytes modified = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr Bytes earlier = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr Bytes later = "Sun, 06 Nov 1994 08:49:38 GMT";
constexpr Validators strong{"\"a\"", modified_s, true};
constexpr Validators weak{"W/\"a\"", modified_s, false};

using Fields = std::initializer_list<std::pair<Bytes, Bytes>>;

// A head with these fields, and the bytes that it points into.
struct Request {
  explicit Request(Fields fields, Method method = Method::get) {
    text.reserve(4096);
    head.begin(text.data());
    for (const auto& [name, value] : fields) head.add_field(add(name), add(value));
    head.set_request_line(method, {}, {}, 1);
  }
  Slice add(Bytes bytes) {
    const Slice slice{static_cast<std::uint16_t>(text.size()),
                      static_cast<std::uint16_t>(bytes.size())};
    text += bytes;
    return slice;
  }
  std::string text;
  Head head;
};

Condition evaluate(Fields fields, const Validators& now = strong, Method method = Method::get) {
  return evaluate_conditions(Request(fields, method).head, now);
}
bool applies(Bytes if_range, const Validators& now = strong) {
  return range_applies(Request({{"if-range", if_range}}).head, now);
}

std::vector<std::string> tags_of(Bytes value) {
  std::vector<std::string> tags;
  Bytes tag;
  for (EntityTagReader reader(value); reader.next(tag);) tags.emplace_back(tag);
  return tags;
}

TEST(EntityTagReader, a_list_is_read_tag_by_tag) {
  using Tags = std::vector<std::string>;
  EXPECT_EQ(tags_of("\"a\""), Tags{"\"a\""});
  EXPECT_EQ(tags_of("W/\"a\", \"b\",\"\""), (Tags{"W/\"a\"", "\"b\"", "\"\""}));
  EXPECT_EQ(tags_of(" , \"a,b\" ,"), Tags{"\"a,b\""});
  EXPECT_EQ(tags_of("\"back\\slash\""), Tags{"\"back\\slash\""});
  EXPECT_EQ(tags_of("\"\xc3\xa9\""), Tags{"\"\xc3\xa9\""});
}

TEST(EntityTagReader, a_list_ends_where_it_is_malformed) {
  for (const Bytes value : {"", "a", "\"", "W/", "w/\"a\"", "\"a", "\"a b\"", "W\"a\"", ","}) {
    EXPECT_TRUE(tags_of(value).empty()) << value;
  }
  EXPECT_EQ(tags_of("\"a\", b, \"c\"").size(), 1u);
}

TEST(Conditional, entity_tags_compare_as_the_table_of_the_rfc_says) {
  // RFC 9110 §8.8.3.2, table 3.
  EXPECT_FALSE(matches_strongly("W/\"1\"", "W/\"1\""));
  EXPECT_TRUE(matches_weakly("W/\"1\"", "W/\"1\""));
  EXPECT_FALSE(matches_weakly("W/\"1\"", "W/\"2\""));
  EXPECT_FALSE(matches_strongly("W/\"1\"", "\"1\""));
  EXPECT_TRUE(matches_weakly("W/\"1\"", "\"1\""));
  EXPECT_TRUE(matches_strongly("\"1\"", "\"1\""));
  EXPECT_TRUE(matches_weakly("\"1\"", "\"1\""));
}

TEST(Conditional, without_conditions_a_request_is_served) {
  EXPECT_EQ(evaluate({}), Condition::proceed);
  EXPECT_EQ(evaluate({{"host", "x"}}), Condition::proceed);
}

TEST(Conditional, if_none_match_is_not_modified_for_a_read_and_fails_for_a_write) {
  EXPECT_EQ(evaluate({{"if-none-match", "\"a\""}}), Condition::not_modified);
  EXPECT_EQ(evaluate({{"If-None-Match", "\"x\", W/\"a\""}}), Condition::not_modified);
  EXPECT_EQ(evaluate({{"If-None-Match", "\"x\""}, {"If-None-Match", "\"a\""}}),
            Condition::not_modified);
  EXPECT_EQ(evaluate({{"if-none-match", "*"}}), Condition::not_modified);
  EXPECT_EQ(evaluate({{"if-none-match", "\"a\""}}, strong, Method::head), Condition::not_modified);
  EXPECT_EQ(evaluate({{"if-none-match", "\"a\""}}, strong, Method::put), Condition::failed);
  EXPECT_EQ(evaluate({{"if-none-match", "\"b\""}}), Condition::proceed);
  EXPECT_EQ(evaluate({{"if-none-match", "a"}}), Condition::proceed);
}

TEST(Conditional, if_modified_since_counts_whole_seconds_and_only_without_if_none_match) {
  EXPECT_EQ(evaluate({{"if-modified-since", modified}}), Condition::not_modified);
  EXPECT_EQ(evaluate({{"if-modified-since", later}}), Condition::not_modified);
  EXPECT_EQ(evaluate({{"if-modified-since", earlier}}), Condition::proceed);
  EXPECT_EQ(evaluate({{"if-modified-since", "yesterday"}}), Condition::proceed);
  EXPECT_EQ(evaluate({{"if-modified-since", later}, {"if-none-match", "\"b\""}}),
            Condition::proceed);
  EXPECT_EQ(evaluate({{"if-modified-since", later}}, strong, Method::post), Condition::proceed);
}

TEST(Conditional, if_match_wants_the_same_bytes_and_comes_first) {
  EXPECT_EQ(evaluate({{"if-match", "\"a\""}}), Condition::proceed);
  EXPECT_EQ(evaluate({{"if-match", "*"}}), Condition::proceed);
  EXPECT_EQ(evaluate({{"if-match", "\"b\""}}), Condition::failed);
  EXPECT_EQ(evaluate({{"if-match", "garbage"}}), Condition::failed);
  EXPECT_EQ(evaluate({{"if-match", "W/\"a\""}}), Condition::failed);
  EXPECT_EQ(evaluate({{"if-match", "\"a\""}}, weak), Condition::failed);
  EXPECT_EQ(evaluate({{"if-none-match", "\"a\""}, {"if-match", "\"b\""}}), Condition::failed);
}

TEST(Conditional, dates_count_for_nothing_where_none_is_known) {
  constexpr Validators undated{.entity_tag = "\"a\"", .is_strong = true};
  for (const char* const date :
       {"Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"}) {
    EXPECT_EQ(evaluate({{"if-modified-since", date}}, undated), Condition::proceed);
    EXPECT_EQ(evaluate({{"if-unmodified-since", date}}, undated), Condition::proceed);
    EXPECT_FALSE(applies(date, undated));
  }
}

TEST(Conditional, if_unmodified_since_fails_for_what_was_changed_later) {
  EXPECT_EQ(evaluate({{"if-unmodified-since", modified}}), Condition::proceed);
  EXPECT_EQ(evaluate({{"if-unmodified-since", earlier}}), Condition::failed);
  EXPECT_EQ(evaluate({{"if-unmodified-since", earlier}, {"if-match", "\"a\""}}),
            Condition::proceed);
}

TEST(Conditional, a_date_that_is_given_twice_is_none) {
  for (const char* const second : {modified.data(), earlier.data(), "garbage", ""}) {
    EXPECT_EQ(evaluate({{"if-modified-since", later}, {"If-Modified-Since", second}}),
              Condition::proceed);
    EXPECT_EQ(evaluate({{"if-unmodified-since", earlier}, {"If-Unmodified-Since", second}}),
              Condition::proceed);
    EXPECT_FALSE(
        range_applies(Request({{"if-range", modified}, {"If-Range", second}}).head, strong));
  }
  EXPECT_EQ(evaluate({{"if-unmodified-since",
                       "Sun, 06 Nov 1994 08:49:36 GMT, "
                       "Sun, 06 Nov 1994 08:49:36 GMT"}}),
            Condition::proceed);
}

TEST(Conditional, a_method_that_selects_no_representation_has_no_conditions) {
  for (const Method method : {Method::options, Method::trace, Method::connect}) {
    EXPECT_EQ(evaluate({{"if-match", "\"b\""}}, strong, method), Condition::proceed);
    EXPECT_EQ(evaluate({{"if-none-match", "*"}}, strong, method), Condition::proceed);
    EXPECT_EQ(evaluate({{"if-unmodified-since", earlier}}, strong, method), Condition::proceed);
  }
  EXPECT_EQ(evaluate({{"if-unmodified-since", earlier}}, strong, Method::delete_),
            Condition::failed);
}

TEST(Conditional, if_range_wants_a_strong_validator_that_is_exactly_the_same) {
  EXPECT_TRUE(range_applies(Request({}).head, strong));
  EXPECT_TRUE(applies("\"a\""));
  EXPECT_FALSE(applies("\"b\""));
  EXPECT_FALSE(applies("W/\"a\""));
  EXPECT_FALSE(applies("\"a\", \"b\""));
  EXPECT_TRUE(applies(modified));
  EXPECT_FALSE(applies(earlier));
  EXPECT_FALSE(applies(later));
  EXPECT_FALSE(applies("garbage"));
  EXPECT_FALSE(applies("\"a\"", weak));
  EXPECT_FALSE(applies(modified, weak));
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
