#include "katana/stores/database/composite_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "katana/base/values/decimal.hpp"
#include "katana/base/values/described.hpp"
#include "katana/stores/database/row.hpp"

namespace katana::database {
namespace {

struct Point {
  double x = 0;
  double y = 0;
  bool operator==(const Point&) const = default;
};
KATANA_DESCRIBE(Point, x, y)

struct Place {
  std::string name;
  std::optional<Point> at;
  std::vector<Point> around;
  std::vector<int> numbers;
  std::optional<Decimal> price;
  bool open = false;
  bool operator==(const Place&) const = default;
};
KATANA_DESCRIBE(Place, name, at, around, numbers, price, open)

// "": it was read.
template <class T>
std::string read(Bytes json, T& out) {
  const char* const why = detail::read_value(Value::of_text(json), out);
  return why == nullptr ? "" : why;
}

TEST(CompositeText, a_name_is_a_string_before_a_colon) {
  Point point;
  EXPECT_EQ(read(R"({"x": 1, "y" : 2})", point), "");
  EXPECT_EQ(point, (Point{1, 2}));
  for (const char* const wrong : {R"({"x" 1, "y": 2})", R"({"x"= 1, "y": 2})", R"({"x\q: 1})",
                                  R"({"\q:1, "x": 1, "y": 2})", R"({x: 1, "y": 2})"}) {
    EXPECT_EQ(read(wrong, point), "is no composite") << wrong;
  }
}

TEST(CompositeText, what_is_written_is_read_as_it_was) {
  const Place place{.name = "a \"b\" \\ ü\n{",
                    .at = Point{1.5, -2},
                    .around = {{0, 1}, {2, 3}},
                    .numbers = {1, 2},
                    .price = Decimal::parse("12.30"),
                    .open = true};
  Place back;
  EXPECT_EQ(read(composite_text(place), back), "");
  EXPECT_EQ(back, place);
  EXPECT_EQ(read(composite_text(Place()), back), "");
  EXPECT_EQ(back, Place());
  EXPECT_EQ(composite_text(Point{1, 2.5}), R"({"x":1,"y":2.5})");
}

TEST(CompositeText, members_come_in_any_order_and_others_are_left_out) {
  Point point;
  EXPECT_EQ(read(R"( { "z" : [{}] , "y":2,"a":{"x":9}, "x" : 1 } )", point), "");
  EXPECT_EQ(point, (Point{1, 2}));
}

TEST(CompositeText, what_does_not_fit_names_its_field_and_the_one_within) {
  Point point;
  Place place;
  EXPECT_EQ(read(R"({"x":1})", point), "has no field 'y'");
  EXPECT_EQ(read(R"({"x":1,"y":"2"})", point), "has the field 'y', which is no number");
  EXPECT_EQ(read(R"({"x":1,"y":null})", point),
            "has the field 'y', which is null, and what it is read into is no optional");
  EXPECT_EQ(read(R"({"name":"a","at":{"x":1,"y":true}})", place), "has no field 'around'");
  EXPECT_EQ(read(R"({"name":"a","at":{"x":1,"y":"b"}})", place),
            "has the field 'at', which has the field 'y', which is no number");
  EXPECT_EQ(read(R"({"around":[{"x":1}]})", place),
            "has the field 'around', which is an array with an element that does not fit");
}

TEST(CompositeText, what_is_no_object_is_refused_wherever_it_is_cut) {
  const std::string whole = R"({"x":1,"y":-2.5e3})";
  Point point;
  EXPECT_EQ(read(whole, point), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(read(whole.substr(0, size), point), "") << size;
  }
  for (const char* const text :
       {"", "[]", "[1,2]", "{}x", "{,}", R"({"x"})", R"({"x":})", R"({x:1,"y":2})",
        R"({"x":1 "y":2})", R"({"x":1,,"y":2})", R"({"x":1,"y":2,})", R"({"x":1,"y":2]})",
        R"({"x":1,"y":2)", R"({"x":[1,"y":2})", R"({"x":{1],"y":2})", R"(["x":1,"y":2])"}) {
    EXPECT_NE(read(text, point), "") << text;
  }
}

TEST(CompositeText, a_value_that_is_broken_fits_nothing) {
  const Value broken = Value::of_broken("is odd");
  const auto why = [&](auto out) { return std::string(detail::read_value(broken, out)); };
  EXPECT_EQ(why(std::string()), "is odd");
  EXPECT_EQ(why(std::optional<int>()), "is odd");
  EXPECT_EQ(why(Point()), "is odd");
  EXPECT_EQ(why(std::vector<int>()), "is odd");
  EXPECT_EQ(why(Decimal()), "is odd");
}

TEST(CompositeText, a_struct_is_one_parameter_where_it_is_a_member) {
  static_assert(parameters_of<Place> == 6);
  static_assert(parameters_of<std::tuple<Place, int>> == 2);
  static_assert(parameters_of<std::optional<Place>> == 1);
  static_assert(texts_of<Place> == 4);
  static_assert(texts_of<std::tuple<Place, int>> == 1);
  const Parameters<2, 1> parameters(std::tuple(Point{1, 2}, 7));
  EXPECT_EQ(parameters.values()[0].octets, R"({"x":1,"y":2})");
  EXPECT_EQ(parameters.values()[1].integer, 7);
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
