#include "katana/http/handlers/extract.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/values/decimal.hpp"
#include "katana/base/values/duration_text.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

template <class T>
Result<T> parsed(Bytes text) {
  return detail::parse_text<T>(text);
}

TEST(ParseText, whole_numbers_are_read_to_their_limits) {
  EXPECT_EQ(parsed<std::int64_t>("0"), 0);
  EXPECT_EQ(parsed<std::int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(parsed<std::int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parsed<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parsed<std::int8_t>("-128"), -128);
  EXPECT_EQ(parsed<unsigned>("007"), 7u);
}

TEST(ParseText, what_is_no_whole_number_or_too_large_is_refused) {
  for (const Bytes text :
       {"", " 1", "1 ", "+1", "1.5", "1e-3", "1.", "0x10", "--1", "one", "9223372036854775808",
        "99999999999999999999999999", "1,000", "\xd9\xa1"}) {
    EXPECT_FALSE(parsed<std::int64_t>(text)) << text;
  }
  EXPECT_FALSE(parsed<std::uint64_t>("-1"));
  EXPECT_FALSE(parsed<std::uint64_t>("18446744073709551616"));
  EXPECT_FALSE(parsed<std::int8_t>("128"));
}

TEST(ParseText, a_whole_number_may_have_a_point_or_exponent_as_in_json_schema) {
  EXPECT_EQ(parsed<std::int64_t>("1.0"), 1);
  EXPECT_EQ(parsed<int>("-1e3"), -1000);
  EXPECT_EQ(parsed<std::uint8_t>("2.55e2"), 255);
  EXPECT_FALSE(parsed<std::uint8_t>("2.56e2"));
  EXPECT_FALSE(parsed<unsigned>("-1.0"));
  EXPECT_FALSE(parsed<std::int64_t>("9223372036854775808.0"));
}

TEST(ParseText, numbers_are_read_exactly_and_finite) {
  EXPECT_EQ(parsed<double>("2.5"), 2.5);
  EXPECT_EQ(parsed<double>("-1e-3"), -0.001);
  EXPECT_EQ(parsed<double>("42"), 42.0);
  for (const Bytes text : {"", "nan", "-nan", "inf", "-inf", "infinity", "NaN(1)", "1e999", "2,5",
                           "1.5x", "+1", "0x1p3", "."}) {
    EXPECT_FALSE(parsed<double>(text)) << text;
  }
}

TEST(ParseText, a_bool_is_one_of_four_words) {
  EXPECT_EQ(parsed<bool>("true"), true);
  EXPECT_EQ(parsed<bool>("1"), true);
  EXPECT_EQ(parsed<bool>("false"), false);
  EXPECT_EQ(parsed<bool>("0"), false);
  for (const Bytes text : {"", "True", "yes", "2", "01", "true "}) {
    EXPECT_FALSE(parsed<bool>(text)) << text;
  }
}

TEST(ParseText, an_error_says_what_was_expected_and_what_came) {
  EXPECT_EQ(parsed<int>("x7").error().message(), "expected a whole number, got 'x7'");
  EXPECT_EQ(parsed<unsigned>("-1").error().message(),
            "expected a whole number that is not negative, got '-1'");
  EXPECT_EQ(parsed<double>("nan").error().message(), "expected a number, got 'nan'");
  EXPECT_EQ(parsed<bool>("maybe").error().message(), "expected true or false, got 'maybe'");
  EXPECT_EQ(parsed<int>("x").error().code(), Code::invalid_argument);
}

TEST(ParseText, an_error_does_not_repeat_all_of_a_long_text) {
  EXPECT_LT(parsed<int>(std::string(5000, 'x')).error().message().size(), 150u);
}

// ---- path parameters, through a route ----

// For a problem document.
struct Detail {
  std::string detail;
};
KATANA_DESCRIBE(Detail, detail)

testing::TestReply get(Router router, std::string_view target) {
  testing::TestServer server(std::move(router).build());
  return server.get(target);
}

template <class T>
std::string answer_to(std::string_view target) {
  Router router;
  router.get("/{value}", [](Path<T> value) {
    return Reply::text(format_text("{}|{}", *value, sizeof value.value));
  });
  const testing::TestReply reply = get(std::move(router), target);
  return std::to_string(reply.status()) + " " + reply.content();
}

TEST(PathParameter, becomes_the_type_of_its_handler) {
  EXPECT_EQ(answer_to<std::int64_t>("/-5"), "200 -5|8");
  EXPECT_EQ(answer_to<unsigned>("/5"), "200 5|4");
  EXPECT_EQ(answer_to<double>("/2.5"), "200 2.5|8");
  EXPECT_EQ(answer_to<bool>("/true"), "200 true|1");
  EXPECT_TRUE(answer_to<unsigned>("/-5").starts_with("400 "));
}

TEST(PathParameter, text_is_decoded_once_and_wholly) {
  const auto text = [](std::string_view target) {
    const std::string answer = answer_to<std::string>(target);
    return answer.substr(0, answer.find('|'));
  };
  EXPECT_EQ(text("/plain"), "200 plain");
  EXPECT_EQ(text("/a%20b"), "200 a b");
  EXPECT_EQ(text("/a%2Fb"), "200 a/b");
  EXPECT_EQ(text("/a%2fb"), "200 a/b");
  EXPECT_EQ(text("/100%25"), "200 100%");
  EXPECT_EQ(text("/%252F"), "200 %2F");
  EXPECT_EQ(text("/%2525"), "200 %25");
  EXPECT_EQ(text("/a+b"), "200 a+b");  // a plus sign is one in a path
  EXPECT_EQ(text("/%C3%A9"), "200 \xc3\xa9");
}

TEST(PathParameter, of_a_number_is_decoded_too) {
  EXPECT_EQ(answer_to<int>("/%31%32"), "200 12|4");
}

TEST(PathParameter, that_does_not_parse_is_answered_with_400_and_what_was_wrong) {
  Router router;
  router.get("/users/{id}", [](Path<int>) { return Reply::text("found"); });
  const testing::TestReply reply = get(std::move(router), "/users/seven%22%0D%0A");
  EXPECT_EQ(reply.status(), 400u);
  const Result<Detail> problem = reply.json<Detail>();
  ASSERT_TRUE(problem) << problem.error().describe();
  EXPECT_EQ(problem->detail, "path parameter 'id': expected a whole number, got 'seven\"\r\n'");
}

TEST(PathParameter, several_are_filled_in_the_order_of_the_pattern_whatever_stands_between) {
  Router router;
  router.get("/{a}/x/{b}/{c}",
             [](Path<int> a, const RequestView& request, Path<std::string> b, Path<bool> c) {
               return Reply::text(format_text("{} {} {} {}", *a, *b, *c, request.path()));
             });
  EXPECT_EQ(get(std::move(router), "/7/x/seven/true").content(), "7 seven true /7/x/seven/true");
}

TEST(PathParameter, a_rest_is_decoded_as_a_whole) {
  Router router;
  router.get("/files/{name...}", [](Path<std::string> name, const RequestView& request) {
    return Reply::text(format_text("{} {}", *name, request.parameters()[0].value));
  });
  EXPECT_EQ(get(std::move(router), "/files/a/b%2Fc%20d").content(), "a/b/c d a/b%2Fc d");
}

// ---- queries ----

struct Page {
  int limit = 20;
  std::int64_t after = -1;
  std::string name = "none";
  std::optional<double> weight;
  std::optional<std::string> note;
  bool deep = false;
};
KATANA_DESCRIBE(Page, limit, after, name, weight, note, deep)

template <class T>
Result<T> parse_query(Bytes query) {
  Result<T> value{std::in_place};
  container::Findings findings;
  detail::QueryPairs pairs(query);
  if (detail::read_pairs(pairs, *value, findings)) return value;
  return std::unexpected(detail::misfits_error(findings, pairs.kind));
}

Result<Page> page(Bytes query) { return parse_query<Page>(query); }

TEST(QueryParameters, keep_the_values_of_their_initialisers_unless_they_are_named) {
  const auto empty = page("");
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->limit, 20);
  EXPECT_EQ(empty->name, "none");
  EXPECT_FALSE(empty->weight);
  const auto some = page("after=7&deep=1");
  ASSERT_TRUE(some);
  EXPECT_EQ(some->after, 7);
  EXPECT_TRUE(some->deep);
  EXPECT_EQ(some->limit, 20);
}

TEST(QueryParameters, optional_members_are_set_when_they_are_named) {
  const auto both = page("weight=2.5&note=");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->weight, 2.5);
  EXPECT_EQ(both->note, "");
}

TEST(QueryParameters, values_and_names_are_form_decoded) {
  const auto decoded = page("n%61me=a+b%26c%2B&%6c%69%6d%69%74=%31%30");
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->name, "a b&c+");
  EXPECT_EQ(decoded->limit, 10);
}

TEST(QueryParameters, of_a_repeated_name_the_last_value_counts) {
  EXPECT_EQ(page("limit=1&limit=2&limit=3")->limit, 3);
  EXPECT_FALSE(page("limit=x&limit=3"));  // but each must be valid
}

TEST(QueryParameters, names_that_the_struct_lacks_are_passed_over_whatever_they_hold) {
  EXPECT_EQ(page("other=%zz&%zz=1&limit=5&=&&Limit=9&limit2=1")->limit, 5);
}

TEST(QueryParameters, a_value_that_does_not_parse_names_the_parameter) {
  const auto wrong = page("limit=many");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(),
            "query parameter 'limit': expected a whole number, got 'many'");
  EXPECT_FALSE(page("limit="));
  EXPECT_FALSE(page("limit"));
  EXPECT_FALSE(page("weight=nan"));
  EXPECT_FALSE(page("deep=perhaps"));
}

TEST(QueryParameters, a_bad_escape_in_a_value_is_an_error_that_names_it) {
  for (const Bytes query : {"name=%", "name=%4", "name=%zz", "name=a%2"}) {
    const auto wrong = page(query);
    ASSERT_FALSE(wrong) << query;
    EXPECT_NE(wrong.error().message().find("'name'"), Bytes::npos) << wrong.error().message();
  }
}

struct Window {
  int limit = 20;
  std::optional<std::string> sort;
  std::string token;
};
KATANA_DESCRIBE_STRICT(Window, (limit, range(1, 100)), (sort, length(1, 4)), (token, required))

std::string wrong_with(Bytes query) {
  const auto window = parse_query<Window>(query);
  return window ? "nothing" : window.error().describe();
}

TEST(QueryParameters, obey_the_rules_of_their_description) {
  EXPECT_EQ(wrong_with("token=t&limit=1&sort=name"), "nothing");
  EXPECT_EQ(wrong_with("token=t&limit=100"), "nothing");
  EXPECT_EQ(wrong_with("token=t&limit=0"), "query parameter 'limit': expected 1 to 100, got 0");
  EXPECT_EQ(wrong_with("token=t&limit=101"), "query parameter 'limit': expected 1 to 100, got 101");
  EXPECT_EQ(wrong_with("token=t&sort=newest"),
            "query parameter 'sort': expected 1 to 4 characters, got 6");
}

struct Days {
  int from = 0;
  int until = 7;
};
KATANA_DESCRIBE(Days, (from, at_least(0)), until)
KATANA_DESCRIBE_RULES(Days,
                      (until, [](const Days& d) { return d.from < d.until; }, "more than 'from'"))

TEST(QueryParameters, obey_the_rules_across_members_of_their_description) {
  const auto wrong = [](Bytes query) {
    const auto days = parse_query<Days>(query);
    return days ? "nothing" : days.error().describe();
  };
  EXPECT_EQ(wrong(""), "nothing");
  EXPECT_EQ(wrong("until=3&from=2"), "nothing");
  EXPECT_EQ(wrong("from=7"), "query parameter 'until': expected more than 'from'");
  EXPECT_EQ(wrong("from=-1&until=-2"), "query parameter 'from': expected at least 0, got -1")
      << "each member first";
}

TEST(QueryParameters, that_are_required_have_to_come) {
  EXPECT_EQ(wrong_with(""), "query parameter 'token': is missing");
  EXPECT_EQ(wrong_with("limit=3"), "query parameter 'token': is missing");
}

TEST(QueryParameters, of_a_strict_description_come_once_and_none_is_unknown) {
  EXPECT_EQ(wrong_with("token=t&token=t"), "query parameter 'token': is given more than once");
  EXPECT_EQ(wrong_with("token=t&%74oken=u"), "query parameter 'token': is given more than once");
  EXPECT_EQ(wrong_with("token=t&colour=red"), "query parameter 'colour': unknown name");
  EXPECT_EQ(wrong_with("tokne=t"),
            "query parameter 'tokne': unknown name; did you mean 'token'?; "
            "query parameter 'token': is missing");
}

// Json<T> lists its faults in the same members: json_test.cpp.
TEST(QueryParameters, that_do_not_fit_are_all_told_in_one_document) {
  Router router;
  router.get("/windows", [](Query<Window>) { return Reply::text(""); });
  testing::TestServer server(std::move(router).build());
  const auto reply = server.get("/windows?limit=0&sort=newest&a/b=1");
  EXPECT_EQ(reply.status(), 400u);
  EXPECT_EQ(reply.content(),
            R"({"type":"urn:katana:problem:invalid-parameter","title":"Bad Request","status":400,)"
            R"("detail":"query parameter 'limit': expected 1 to 100, got 0; )"
            R"(query parameter 'sort': expected 1 to 4 characters, got 6; )"
            R"(query parameter 'a/b': unknown name; query parameter 'token': is missing",)"
            R"("errors":[{"pointer":"/limit","detail":"expected 1 to 100, got 0"},)"
            R"({"pointer":"/sort","detail":"expected 1 to 4 characters, got 6"},)"
            R"({"pointer":"/a~1b","detail":"unknown name"},)"
            R"({"pointer":"/token","detail":"is missing"}]})");
}

TEST(QueryParameters, have_sixteen_mistakes_told_and_the_others_counted) {
  std::string query = "limit=0&sort=newest";
  for (int number = 0; number < 20; ++number) query += fmt::format("&n{}=1", number);
  EXPECT_TRUE(wrong_with(query).ends_with("'n13': unknown name; and 7 more")) << wrong_with(query);
}

TEST(QueryParameters, may_have_names_with_the_characters_of_a_message) {
  Router router;
  router.get("/windows", [](Query<Window>) { return Reply::text(""); });
  testing::TestServer server(std::move(router).build());
  const auto reply = server.get("/windows?token=t&a':b':%20c=1&a':b=1&a'=1&a':%20b=1");
  EXPECT_TRUE(
      reply.content().ends_with(R"("errors":[{"pointer":"/a':b':%20c","detail":"unknown name"},)"
                                R"({"pointer":"/a':b","detail":"unknown name"},)"
                                R"({"pointer":"/a'","detail":"unknown name"},)"
                                R"({"pointer":"/a':%20b","detail":"unknown name"}]})"))
      << reply.content();
}

// The name of a member may have them unescaped.
struct Marked {
  int mark = 0;
};
KATANA_DESCRIBE(Marked, (mark, named("a': b")))

TEST(QueryParameters, a_member_may_have_a_name_with_the_characters_of_a_message) {
  Router router;
  router.get("/marks", [](Query<Marked>) { return Reply::text(""); });
  testing::TestServer server(std::move(router).build());
  const auto reply = server.get("/marks?a':+b=x");
  EXPECT_TRUE(reply.content().ends_with(
      R"("errors":[{"pointer":"/a': b","detail":"expected a whole number, got 'x'"}]})"))
      << reply.content();
}

TEST(QueryParameters, that_repeat_a_mistake_leave_room_for_others) {
  std::string query;
  for (int round = 0; round < 40; ++round) query += "limit=0&sort=newest&toke=t&";
  query += "other=1";
  EXPECT_EQ(wrong_with(query),
            "query parameter 'limit': expected 1 to 100, got 0; "
            "query parameter 'sort': expected 1 to 4 characters, got 6; "
            "query parameter 'toke': unknown name; did you mean 'token'?; "
            "query parameter 'limit': is given more than once; "
            "query parameter 'sort': is given more than once; "
            "query parameter 'other': unknown name; query parameter 'token': is missing");
}

TEST(PathParameter, that_does_not_fit_is_told_as_a_query_parameter_is) {
  Router router;
  router.get("/users/{id}", [](Path<int>) { return Reply::text(""); });
  testing::TestServer server(std::move(router).build());
  EXPECT_TRUE(
      server.get("/users/seven")
          .content()
          .ends_with(
              R"("errors":[{"pointer":"/id","detail":"expected a whole number, got 'seven'"}]})"));
}

TEST(QueryParameters, reach_a_handler_through_its_route) {
  Router router;
  router.get("/pages", [](Query<Page> query) {
    return Reply::text(format_text("{} {}", query->limit, (*query).name));
  });
  testing::TestServer server(std::move(router).build());
  EXPECT_EQ(server.get("/pages?limit=3&name=x%20y").content(), "3 x y");
  EXPECT_EQ(server.get("/pages?limit=x").status(), 400u);
}

// ---- lists, enumerations, and types with a text form ----

enum class Sort : std::uint8_t { newest, oldest };
KATANA_DESCRIBE_ENUM(Sort, newest, (oldest, "oldest-first"))

struct Search {
  Sort sort = Sort::newest;
  std::vector<std::string> tag{"default"};
  std::optional<std::vector<int>> id;
  std::optional<Decimal> price;
  std::optional<Timestamp> since;
  std::chrono::seconds within{60};
};
KATANA_DESCRIBE(Search, sort, (tag, length(1, 3), each(length(1, 4))), id, (price, at_least(0)),
                since, (within, at_least(std::chrono::seconds(1))))

Result<Search> search(Bytes query) { return parse_query<Search>(query); }
std::string wrong_in(Bytes query) {
  const auto parsed = search(query);
  return parsed ? "nothing" : std::string(parsed.error().message());
}

TEST(QueryParameters, a_list_takes_every_value_of_its_name) {
  EXPECT_EQ(search("tag=a&x=1&tag=b%20c")->tag, (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(search("id=3&id=1")->id, (std::vector<int>{3, 1}));
  EXPECT_EQ(search("")->tag, std::vector<std::string>{"default"});
  EXPECT_EQ(search("")->id, std::nullopt);
}

TEST(QueryParameters, a_list_obeys_its_rules_and_those_of_its_items) {
  EXPECT_EQ(wrong_in("tag=a&tag=b&tag=c&tag=d&tag=e"),
            "query parameter 'tag': is given more than 3 times");
  EXPECT_EQ(wrong_in("tag=a&tag=toolong"),
            "query parameter 'tag': expected 1 to 4 characters, got 7");
  EXPECT_EQ(wrong_in("id=1&id=x"), "query parameter 'id': expected a whole number, got 'x'");
}

struct Lists {
  int limit = 1;
  std::vector<std::string> tag;
  std::optional<std::vector<int>> id;
};
KATANA_DESCRIBE(Lists, limit, (tag, length(2, 3), each(length(1, 4))), (id, length(3, 9)))

TEST(QueryParameters, a_list_that_is_too_short_is_told_beside_other_mistakes) {
  const auto wrong = [](Bytes query) { return parse_query<Lists>(query).error().describe(); };
  constexpr Bytes number = "query parameter 'limit': expected a whole number, got 'x'";
  constexpr Bytes tags = "query parameter 'tag': expected 2 to 3 items, got 1";
  constexpr Bytes ids = "query parameter 'id': expected 3 to 9 items, got 2";
  const std::string all = fmt::format("{}; {}; {}", number, tags, ids);
  EXPECT_EQ(wrong("limit=x&tag=a&id=1&id=2"), all);
  EXPECT_EQ(wrong("id=1&tag=a&id=2&limit=x"), all);
  EXPECT_EQ(wrong("tag=a&id=1&id=2"), fmt::format("{}; {}", tags, ids));
  // The length of a list says nothing while one of its items is wrong, in either order.
  constexpr Bytes item = "query parameter 'id': expected a whole number, got 'x'";
  EXPECT_EQ(wrong("tag=a&tag=b&id=x&id=1"), item);
  EXPECT_EQ(wrong("tag=a&tag=b&id=1&id=x"), item);
  EXPECT_EQ(wrong("tag=a&id=1&id=x"), fmt::format("{}; {}", item, tags));
}

TEST(QueryParameters, an_enumeration_is_read_by_its_names) {
  EXPECT_EQ(search("sort=oldest-first")->sort, Sort::oldest);
  EXPECT_EQ(wrong_in("sort=oldest"),
            "query parameter 'sort': expected one of newest, oldest-first, got 'oldest'");
}

TEST(QueryParameters, types_with_a_text_form_are_read_by_it) {
  EXPECT_EQ(search("price=12.30")->price, Decimal::parse("12.3"));
  EXPECT_EQ(search("since=1970-01-01T00:00:01%2B00:00")->since, Timestamp(std::chrono::seconds(1)));
  EXPECT_EQ(search("within=1.5h")->within, std::chrono::minutes(90));
  EXPECT_EQ(wrong_in("within=0"), "query parameter 'within': expected at least 1s, got 0s");
  EXPECT_EQ(
      wrong_in("within=90"),
      "query parameter 'within': expected a duration in whole seconds, such as 30s, got '90'");
  EXPECT_EQ(wrong_in("price=-1"), "query parameter 'price': expected at least 0, got -1");
  EXPECT_TRUE(wrong_in("since=yesterday").starts_with("query parameter 'since': expected a date"));
}

TEST(PathParameter, may_be_an_enumeration_or_a_uuid) {
  const auto answer = [](std::string_view target) {
    Router router;
    router.get("/{sort}/{id}", [](Path<Sort> sort, Path<Uuid> id) {
      return Reply::text(format_text("{} {}", *sort == Sort::oldest, id->version()));
    });
    const testing::TestReply reply = get(std::move(router), target);
    return std::to_string(reply.status()) + " " + reply.content();
  };
  EXPECT_EQ(answer("/oldest-first/017f22e2-79b0-7cc3-98c4-dc0c0c07398f"), "200 true 7");
  EXPECT_TRUE(answer("/newest/7").starts_with("400 "));
  EXPECT_TRUE(answer("/best/017f22e2-79b0-7cc3-98c4-dc0c0c07398f").starts_with("400 "));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
