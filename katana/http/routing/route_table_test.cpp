#include "katana/http/routing/route_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "katana/http/routing/route_table_fixture_test.hpp"

namespace katana {
namespace {

using enum http::Method;
using http::Method;

// ---- Patterns and paths ----------------------------------------------------------------------

TEST(RouteTable, an_empty_table_finds_nothing) {
  const RouteTable table = table_of({});
  EXPECT_EQ(match(table, get, "/"), "not found");
  EXPECT_EQ(match(table, get, ""), "not found");
  EXPECT_EQ(table.route_count(), 0);
  EXPECT_EQ(table.node_visits_max(), 0);
}

TEST(RouteTable, a_literal_pattern_fits_its_own_bytes_only) {
  const std::vector<Bytes> patterns = {"/", "/plaintext", "/a", "/a/", "/caf\xc3\xa9"};
  EXPECT_EQ(match_get(patterns, "/"), "found /");
  EXPECT_EQ(match_get(patterns, "/plaintext"), "found /plaintext");
  EXPECT_EQ(match_get(patterns, "/plaintex"), "not found");
  EXPECT_EQ(match_get(patterns, "/plaintext/"), "not found");
  EXPECT_EQ(match_get(patterns, "/Plaintext"), "not found");
  EXPECT_EQ(match_get(patterns, "/a"), "found /a");
  EXPECT_EQ(match_get(patterns, "/a/"), "found /a/");
  EXPECT_EQ(match_get(patterns, "/caf\xc3\xa9"), "found /caf\xc3\xa9");
}

TEST(RouteTable, what_does_not_begin_with_a_slash_is_not_found) {
  const std::vector<Bytes> patterns = {"/", "/{x}", "/{rest...}"};
  EXPECT_EQ(match_get(patterns, ""), "not found");
  EXPECT_EQ(match_get(patterns, "*"), "not found");
  EXPECT_EQ(match_get(patterns, "example.com:443"), "not found");
}

TEST(RouteTable, a_parameter_takes_exactly_one_segment_that_is_not_empty) {
  const std::vector<Bytes> patterns = {"/users/{id}", "/users/{id}/posts/{post}"};
  EXPECT_EQ(match_get(patterns, "/users/7"), "found /users/{id} id=7");
  EXPECT_EQ(match_get(patterns, "/users/a%2Fb"), "found /users/{id} id=a%2Fb");
  EXPECT_EQ(match_get(patterns, "/users/7/posts/9"), "found /users/{id}/posts/{post} id=7 post=9");
  for (const Bytes path : {"/users", "/users/", "/users/7/", "/users//posts/9", "/users/7/posts",
                           "/users/7/posts/", "/users/7/posts/9/", "/user/7", "/users7"}) {
    EXPECT_EQ(match_get(patterns, path), "not found") << path;
  }
}

TEST(RouteTable, a_rest_takes_what_is_left_even_nothing_but_not_without_its_slash) {
  const std::vector<Bytes> patterns = {"/static/{path...}"};
  EXPECT_EQ(match_get(patterns, "/static/css/site.css"),
            "found /static/{path...} path=css/site.css");
  EXPECT_EQ(match_get(patterns, "/static/"), "found /static/{path...} path=");
  EXPECT_EQ(match_get(patterns, "/static//a/"), "found /static/{path...} path=/a/");
  EXPECT_EQ(match_get(patterns, "/static"), "not found");
  EXPECT_EQ(match_get(patterns, "/statics/a"), "not found");
  EXPECT_EQ(match_get({"/{all...}"}, "/"), "found /{all...} all=");
  EXPECT_EQ(match_get({"/{all...}"}, "//"), "found /{all...} all=/");
}

TEST(RouteTable, empty_segments_are_segments) {
  const std::vector<Bytes> patterns = {"/a//b", "/{x}//{y}", "/{x}/"};
  EXPECT_EQ(match_get(patterns, "/a//b"), "found /a//b");
  EXPECT_EQ(match_get(patterns, "/a//c"), "found /{x}//{y} x=a y=c");
  EXPECT_EQ(match_get(patterns, "/a/b"), "not found");
  EXPECT_EQ(match_get(patterns, "/a/"), "found /{x}/ x=a");
  EXPECT_EQ(match_get(patterns, "//"), "not found");
}

TEST(RouteTable, bytes_above_127_part_patterns_like_all_others) {
  const std::vector<Bytes> patterns = {"/{x}/a", "/\xc3\xa9/{x}", "/\x01/{x}", "/z/{x}",
                                       "/\xff/{x}"};
  EXPECT_EQ(match_get(patterns, "/\xc3\xa9/a"), "found /\xc3\xa9/{x} x=a");
  EXPECT_EQ(match_get(patterns, "/\xff/a"), "found /\xff/{x} x=a");
  EXPECT_EQ(match_get(patterns, "/\x01/a"), "found /\x01/{x} x=a");
  EXPECT_EQ(match_get(patterns, "/\xc3/a"), "found /{x}/a x=\xc3");
}

TEST(RouteTable, texts_of_every_size_are_compared_to_their_last_byte) {
  for (std::size_t size = 1; size <= 80; ++size) {
    const std::string text = std::string("/").append(size, 'x');
    const RouteTable literal = table_of({{get, text}});
    const RouteTable front = table_of({{get, text + "/{p}"}});
    const RouteTable back = table_of({{get, "/{p}" + text}});
    EXPECT_EQ(match(literal, get, text), "found " + text);
    EXPECT_EQ(match(front, get, text + "/v"), "found " + text + "/{p} p=v");
    EXPECT_EQ(match(back, get, "/v" + text), "found /{p}" + text + " p=v");
    EXPECT_EQ(match(front, get, text + "/"), "not found");
    EXPECT_EQ(match(back, get, "/v" + text + "x"), "not found");
    for (std::size_t place = 0; place <= size; ++place) {
      std::string other = text;
      other[place] = 'y';
      EXPECT_EQ(match(literal, get, other), "not found");
      EXPECT_EQ(match(front, get, other + "/v"), "not found");
      EXPECT_EQ(match(back, get, "/v" + other), "not found");
      EXPECT_EQ(match(back, get, "/v" + text.substr(0, place)), "not found");
    }
  }
}

TEST(RouteTable, values_of_every_size_end_at_their_slash) {
  const RouteTable table = table_of({{get, "/{p}"}, {get, "/{p}/z"}});
  for (std::size_t size = 1; size <= 80; ++size) {
    const std::string value(size, '.');  // one less than '/'
    EXPECT_EQ(match(table, get, "/" + value), "found /{p} p=" + value);
    EXPECT_EQ(match(table, get, "/" + value + "/z"), "found /{p}/z p=" + value);
    EXPECT_EQ(match(table, get, "/" + value + "0z"), "found /{p} p=" + value + "0z");
    EXPECT_EQ(match(table, get, "/" + value + "/"), "not found");
  }
}

TEST(RouteTable, thousands_of_literal_routes_are_each_found) {
  std::vector<TestRoute> routes;
  for (unsigned number = 0; number < 5'000; ++number) {
    routes.push_back({get, fmt::format("/api/v1/resource/{}/list", number * 7)});
  }
  const RouteTable table = table_of(routes);
  for (unsigned number = 0; number < 35'000; ++number) {
    const std::string path = fmt::format("/api/v1/resource/{}/list", number);
    EXPECT_EQ(match(table, get, path), number % 7 == 0 ? "found " + path : "not found");
  }
}

// ---- Specificity -----------------------------------------------------------------------------

TEST(RouteTable, at_each_segment_a_literal_comes_before_a_parameter_before_a_rest) {
  const std::vector<Bytes> patterns = {"/{all...}", "/{x}",         "/a",           "/a/{all...}",
                                       "/a/{x}",    "/{x}/b",       "/a/{x}/c",     "/a/b/{all...}",
                                       "/a/b/",     "/{x}/b/{y}/d", "/{x}/{y}/{z}/"};
  EXPECT_EQ(match_get(patterns, "/a"), "found /a");
  EXPECT_EQ(match_get(patterns, "/b"), "found /{x} x=b");
  EXPECT_EQ(match_get(patterns, "/"), "found /{all...} all=");
  EXPECT_EQ(match_get(patterns, "/a/b"), "found /a/{x} x=b");
  EXPECT_EQ(match_get(patterns, "/b/b"), "found /{x}/b x=b");
  EXPECT_EQ(match_get(patterns, "/a/"), "found /a/{all...} all=");
  EXPECT_EQ(match_get(patterns, "/a/b/"), "found /a/b/");
  EXPECT_EQ(match_get(patterns, "/a/b/c"), "found /a/b/{all...} all=c");
  EXPECT_EQ(match_get(patterns, "/a/d/c"), "found /a/{x}/c x=d");
  EXPECT_EQ(match_get(patterns, "/a/d/e"), "found /a/{all...} all=d/e");
  EXPECT_EQ(match_get(patterns, "/b/b/c/d"), "found /{x}/b/{y}/d x=b y=c");
  EXPECT_EQ(match_get(patterns, "/b/c/d/"), "found /{x}/{y}/{z}/ x=b y=c z=d");
  EXPECT_EQ(match_get(patterns, "/b/c/d"), "found /{all...} all=b/c/d");
}

TEST(RouteTable, a_dead_end_is_turned_back_from) {
  EXPECT_EQ(match_get({"/a/b/d", "/a/{x}/c"}, "/a/b/c"), "found /a/{x}/c x=b");
  EXPECT_EQ(match_get({"/a/b/{y}/d", "/a/{x}/c/{z}"}, "/a/b/c/e"), "found /a/{x}/c/{z} x=b z=e");
  EXPECT_EQ(match_get({"/help/{x}", "/{name}"}, "/hello"), "found /{name} name=hello");
  // The value of y, from a way that led nowhere, does not remain.
  EXPECT_EQ(match_get({"/{x}/{y}/{z}/1", "/{x}/{all...}"}, "/a/b/c/2"),
            "found /{x}/{all...} x=a all=b/c/2");
}

TEST(RouteTable, the_names_belong_to_the_route_and_not_to_the_shape) {
  const RouteTable table = table_of({{get, "/users/{id}"},
                                     {put, "/users/{name}"},
                                     {get, "/users/{user}/posts"},
                                     {delete_, "/users/{key}/posts"}});
  EXPECT_EQ(match(table, get, "/users/7"), "found /users/{id} id=7");
  EXPECT_EQ(match(table, put, "/users/7"), "found /users/{name} name=7");
  EXPECT_EQ(match(table, get, "/users/7/posts"), "found /users/{user}/posts user=7");
  EXPECT_EQ(match(table, delete_, "/users/7/posts"), "found /users/{key}/posts key=7");
}

// ---- Methods ---------------------------------------------------------------------------------

TEST(RouteTable, head_is_served_by_get_unless_it_has_a_route) {
  const RouteTable table = table_of({{get, "/a"},
                                     {get, "/b"},
                                     {head, "/b"},
                                     {get, "/{x}/c"},
                                     {any_method, "/{x}/c"},
                                     {post, "/d"}});
  PathParameters parameters;
  EXPECT_EQ(table.match(head, "/a", parameters).route, 0);
  EXPECT_EQ(table.match(head, "/b", parameters).route, 2);
  EXPECT_EQ(table.match(head, "/x/c", parameters).route, 3);
  EXPECT_EQ(match(table, head, "/d"), "not allowed POST, OPTIONS");
}

TEST(RouteTable, head_on_the_more_specific_get_comes_before_a_head_route_of_a_general_pattern) {
  const RouteTable table = table_of({{get, "/a"}, {head, "/{x}"}});
  EXPECT_EQ(match(table, head, "/a"), "found /a");
  EXPECT_EQ(match(table, head, "/b"), "found /{x} x=b");
}

TEST(RouteTable, a_method_without_a_route_names_those_that_have_one) {
  const RouteTable table =
      table_of({{get, "/a"}, {post, "/a"}, {delete_, "/b/{x}"}, {patch, "/b/{x}"}});
  EXPECT_EQ(match(table, put, "/a"), "not allowed GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(match(table, get, "/b/1"), "not allowed DELETE, OPTIONS, PATCH");
  EXPECT_EQ(match(table, get, "/c"), "not found");
}

TEST(RouteTable, options_is_left_to_the_caller_unless_it_has_a_route) {
  const RouteTable table = table_of({{get, "/a"},
                                     {options, "/b"},
                                     {any_method, "/c"},
                                     {options, "/api/{rest...}"},
                                     {get, "/api/users"}});
  EXPECT_EQ(match(table, options, "/a"), "not allowed GET, HEAD, OPTIONS");
  EXPECT_EQ(match(table, options, "/b"), "found /b");
  EXPECT_EQ(match(table, options, "/c"), "found /c");
  EXPECT_EQ(match(table, options, "/api/users"), "found /api/{rest...} rest=users");
  EXPECT_EQ(match(table, options, "/d"), "not found");
}

TEST(RouteTable, a_general_pattern_serves_the_methods_that_a_specific_one_lacks) {
  const RouteTable table = table_of({{post, "/login"},
                                     {get, "/{path...}"},
                                     {put, "/files/{name}"},
                                     {delete_, "/files/{path...}"}});
  EXPECT_EQ(match(table, post, "/login"), "found /login");
  EXPECT_EQ(match(table, get, "/login"), "found /{path...} path=login");
  EXPECT_EQ(match(table, delete_, "/files/a"), "found /files/{path...} path=a");
  EXPECT_EQ(match(table, get, "/files/a"), "found /{path...} path=files/a");
}

TEST(RouteTable, what_is_allowed_is_the_union_over_all_patterns_that_fit) {
  const RouteTable table = table_of(
      {{post, "/a/b"}, {get, "/a/{x}"}, {patch, "/{x}/b"}, {delete_, "/{p...}"}, {trace, "/c"}});
  EXPECT_EQ(match(table, put, "/a/b"), "not allowed GET, HEAD, POST, DELETE, OPTIONS, PATCH");
  EXPECT_EQ(match(table, put, "/a/c"), "not allowed GET, HEAD, DELETE, OPTIONS");
  EXPECT_EQ(match(table, put, "/d"), "not allowed DELETE, OPTIONS");
}

TEST(RouteTable, any_method_serves_what_has_no_route_of_its_own) {
  const RouteTable table = table_of({{any_method, "/echo"}, {post, "/echo"}});
  PathParameters parameters;
  for (const Method method : {get, head, put, delete_, connect, options, trace, patch, extension}) {
    EXPECT_EQ(table.match(method, "/echo", parameters).route, 0);
  }
  EXPECT_EQ(table.match(post, "/echo", parameters).route, 1);
}

TEST(RouteTable, an_extension_method_is_served_by_any_method_only) {
  const RouteTable table = table_of({{get, "/a"}, {any_method, "/{x}/b"}, {get, "/a/b"}});
  EXPECT_EQ(match(table, extension, "/a"), "not allowed GET, HEAD, OPTIONS");
  EXPECT_EQ(match(table, extension, "/a/b"), "found /{x}/b x=a");
  EXPECT_EQ(match(table, extension, "/c"), "not found");
}

TEST(MethodSet, prints_every_set_as_the_value_of_an_allow_field) {
  for (unsigned bits = 0; bits < 1U << http::method_names.size(); ++bits) {
    MethodSet set;
    std::string expected;
    for (std::size_t method = 0; method < http::method_names.size(); ++method) {
      if ((bits >> method & 1U) == 0) continue;
      set.insert(static_cast<Method>(method));
      expected += (expected.empty() ? "" : ", ") + std::string(http::method_names[method]);
    }
    EXPECT_EQ(set.bits(), bits);
    EXPECT_EQ(allow_value(set), expected);
    EXPECT_FALSE(set.contains(extension));
  }
  EXPECT_EQ(allow_value({get, head, options}), "GET, HEAD, OPTIONS");
}

// ---- PathParameters and the table as values --------------------------------------------------

TEST(PathParameters, are_found_by_name_and_follow_a_copy_of_the_path) {
  const RouteTable table = table_of({{get, "/{first}/x/{second}/{rest...}"}});
  std::string path = "/one/x/two/three/four";
  PathParameters parameters;
  ASSERT_EQ(table.match(get, path, parameters).kind, MatchKind::found);
  const std::string copy = path;
  parameters.rebase(copy.data());
  std::ranges::fill(path, '?');
  ASSERT_EQ(parameters.size(), 3);
  EXPECT_EQ(parameters.find("first"), "one");
  EXPECT_EQ(parameters.find("second"), "two");
  EXPECT_EQ(parameters.find("rest"), "three/four");
  EXPECT_EQ(parameters.find("third"), std::nullopt);
  EXPECT_EQ(parameters[1].name, "second");
}

TEST(PathParameters, are_empty_again_after_a_match_without_any) {
  const RouteTable table = table_of({{get, "/{x}"}, {get, "/a"}, {post, "/{x}/b"}});
  PathParameters parameters;
  for (const Bytes path : {"/a", "/nothing/here", "/c/b"}) {
    ASSERT_EQ(table.match(get, "/value", parameters).kind, MatchKind::found);
    EXPECT_EQ(parameters.size(), 1);
    table.match(get, path, parameters);
    EXPECT_TRUE(parameters.empty()) << path;
  }
}

TEST(RouteTable, a_moved_table_still_matches_and_its_parameters_stay_valid) {
  RouteTable table = table_of({{get, "/{x}"}, {get, "/abc"}});
  PathParameters parameters;
  table.match(get, "/value", parameters);
  const RouteTable moved = std::move(table);
  EXPECT_EQ(parameters[0].name, "x");
  EXPECT_EQ(match(moved, get, "/value"), "found /{x} x=value");
  EXPECT_EQ(match(moved, get, "/abc"), "found /abc");
}

TEST(RouteTable, tells_the_pattern_and_the_names_of_a_route) {
  const RouteTable table = table_of({{get, "/a"}, {get, "/{x}/{y-1...}"}});
  EXPECT_EQ(table.route_count(), 2);
  EXPECT_EQ(table.pattern(1), "/{x}/{y-1...}");
  EXPECT_TRUE(table.parameter_names(0).empty());
  ASSERT_EQ(table.parameter_names(1).size(), 2);
  EXPECT_EQ(table.parameter_names(1)[0], "x");
  EXPECT_EQ(table.parameter_names(1)[1], "y-1");
}

// ---- Refusals --------------------------------------------------------------------------------

std::string refusal_of(std::optional<Method> method, const std::string& pattern) {
  RouteTableBuilder builder;
  return refusal_of(add(builder, {method, pattern}));
}

TEST(RouteTableBuilder, refuses_what_is_no_path_and_says_what_to_write) {
  EXPECT_EQ(refusal_of(get, ""), R"(route GET "": a pattern starts with '/'; write "/")");
  EXPECT_EQ(refusal_of(any_method, "users/{id}"),
            R"(route any method "users/{id}": a pattern starts with '/'; write "/users/{id}")");
  EXPECT_EQ(refusal_of(get, "/find?q={q}"),
            R"(route GET "/find?q={q}": '?' ends a path, so the pattern stops at "/find"; read the)"
            R"( query in the handler, and take a segment that holds an escaped '?' with "{name}")");
  EXPECT_EQ(refusal_of(get, "/a%zz"),
            R"(route GET "/a%zz": no path has a NUL byte, or a '%' without two hexadecimal digits;)"
            R"( write "%25" for a percent sign)");
}

TEST(RouteTableBuilder, refuses_what_is_not_normal_and_suggests_what_is) {
  const auto refusal = [](Bytes pattern, Bytes normal) {
    return fmt::format(
        "route PUT \"{}\": paths are normalised before they are compared, so this"
        " never fits; write \"{}\"",
        pattern, normal);
  };
  const std::vector<std::pair<std::string, std::string>> patterns = {
      {"/a/../b", "/b"},       {"/a/./b", "/a/b"}, {"/%41", "/A"},         {"/a%2fb", "/a%2Fb"},
      {"/%2e%2e/{x}", "/{x}"}, {"/a/..", "/"},     {"/caf%C3%A9", "/café"}};
  for (const auto& [pattern, normal] : patterns) {
    EXPECT_EQ(refusal_of(put, pattern), refusal(pattern, normal));
    EXPECT_EQ(refusal_of(put, normal), "accepted");
  }
  EXPECT_EQ(refusal_of(put, "/%7Bid%7D"),
            R"(route PUT "/%7Bid%7D": no pattern can spell a brace; take a segment that holds one)"
            R"( with "{name}")");
}

TEST(RouteTableBuilder, refuses_malformed_parameters_and_names_the_segment) {
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"/a/{}", R"(segment 2 "{}" has no name; write "{name}")"},
      {"/a/{...}", R"(segment 2 "{...}" has no name; write "{name...}")"},
      {"/{a b}", R"(segment 1 "{a b}" has ' ' in its name; use letters, digits, '_' and '-')"},
      {"/{a..}", R"(segment 1 "{a..}" has '.' in its name; use letters, digits, '_' and '-')"},
      {"/{id", R"(segment 1 "{id" opens a parameter and does not close it; write "{id}")"},
      {"/{id}/b/{id}", R"(segment 3 "{id}" has the name of segment 1; give it another name)"},
      {"/{p...}b", R"(segment 1 "{p...}b" takes the rest of the path, and has text beside it;)"
                   R"( write "{p...}")"},
      {"/a{p...}", R"(segment 1 "a{p...}" takes the rest of the path, and has text beside it;)"
                   R"( write "{p...}")"},
      {"/a{b", R"(segment 1 "a{b" opens a parameter and does not close it; write "a{b}")"},
      {"/{p...}/b", R"(segment 1 "{p...}" takes the rest of the path and has to be the last one;)"
                    R"( write "{p}" for one segment)"}};
  for (const auto& [pattern, refusal] : refusals) {
    EXPECT_EQ(refusal_of(post, pattern), fmt::format("route POST \"{}\": {}", pattern, refusal));
  }
  for (const std::string segment :
       {"a}", "{a}{b}", "{a}b{c}", "x{a}b{c}", "{a{b}}", "}{", "{", "{a}}", "x{{"}) {
    const bool is_open = segment == "{";
    EXPECT_EQ(refusal_of(post, "/x/" + segment),
              fmt::format("route POST \"/x/{0}\": segment 2 \"{0}\" {1}", segment,
                          is_open ? "opens a parameter and does not close it; write \"{}\""
                                  : "has more than one parameter, or a brace that belongs to"
                                    " none; write \"{name}\" and take the value apart in the"
                                    " handler"));
  }
}

std::string repeated(std::size_t count, const std::function<std::string(std::size_t)>& part) {
  std::string text;
  for (std::size_t index = 0; index < count; ++index) text += part(index);
  return text;
}

TEST(RouteTableBuilder, accepts_patterns_up_to_each_limit_and_refuses_one_more) {
  const auto parameter = [](std::size_t index) { return fmt::format("/{{p{}}}", index); };
  const auto segment = [](std::size_t) { return "/s"; };
  EXPECT_EQ(refusal_of(get, repeated(route_parameters_max, parameter)), "accepted");
  EXPECT_EQ(refusal_of(get, repeated(route_segments_max, segment)), "accepted");
  EXPECT_EQ(refusal_of(get, "/" + std::string(route_pattern_bytes_max - 1, 'x')), "accepted");

  const std::string parameters = repeated(route_parameters_max + 1, parameter);
  EXPECT_EQ(refusal_of(get, parameters),
            fmt::format("route GET \"{}\": segment 17 \"{{p16}}\" is parameter 17, 16 are allowed;"
                        " take the tail with \"{{rest...}}\"",
                        parameters));
  const std::string segments = repeated(route_segments_max + 1, segment);
  EXPECT_EQ(refusal_of(get, segments),
            fmt::format("route GET \"{}\": the pattern has 33 segments, 32 are allowed; take the"
                        " tail with \"{{rest...}}\"",
                        segments));
  const std::string bytes = "/" + std::string(route_pattern_bytes_max, 'x');
  EXPECT_EQ(refusal_of(get, bytes),
            fmt::format("route GET \"{}\": the pattern has 1025 bytes, 1024 are allowed; take the"
                        " tail with \"{{rest...}}\"",
                        bytes));
}

TEST(RouteTableBuilder, refuses_a_second_route_for_the_same_paths_and_method_naming_both) {
  RouteTableBuilder builder;
  EXPECT_TRUE(builder.add(get, "/users/{id}"));
  const auto refused = builder.add(get, "/users/{name}");
  EXPECT_EQ(refusal_of(refused),
            R"(route GET "/users/{name}": "/users/{id}" is registered for GET already and fits the)"
            R"( same paths; keep one of them)");
  EXPECT_EQ(refused.error().code(), Code::already_exists);
  EXPECT_TRUE(builder.add_any_method("/{a...}"));
  EXPECT_EQ(refusal_of(builder.add_any_method("/{b...}")),
            R"(route any method "/{b...}": "/{a...}" is registered for any method already and fits)"
            R"( the same paths; keep one of them)");
  EXPECT_EQ(builder.add(post, "/users/{name}"), 2U) << "refused routes take no number";
}

TEST(RouteTableBuilder, refuses_a_route_for_an_extension_method) {
  EXPECT_EQ(refusal_of(extension, "/a"),
            R"(route "/a": only the 9 registered methods have routes; add the pattern)"
            R"( for any method and read the method in the handler)");
}

TEST(RouteTableBuilder, refuses_more_routes_than_a_table_holds) {
  RouteTableBuilder builder;
  for (std::size_t number = 0; number < routes_max; ++number) {
    ASSERT_TRUE(builder.add(get, fmt::format("/{}/{{x}}", number)));
  }
  const auto refused = builder.add(get, "/one-more");
  EXPECT_EQ(refused.error().code(), Code::resource_exhausted);
  EXPECT_EQ(
      refusal_of(refused),
      R"(route GET "/one-more": the table has 65536 routes already and holds no more; replace)"
      R"( routes that differ in one segment by a parameter)");
  const RouteTable table = std::move(builder).build();
  EXPECT_EQ(match(table, get, "/65535/v"), "found /65535/{x} x=v");
}

// ---- Work ------------------------------------------------------------------------------------

// Every mix of the literal "a" and a parameter at each of `count` segments, then `last`.
std::vector<TestRoute> mixes_of(unsigned count, Bytes last) {
  std::vector<TestRoute> routes;
  for (unsigned mix = 0; mix < 1U << count; ++mix) {
    const auto segment = [mix](std::size_t index) {
      return (mix >> index & 1U) == 0 ? std::string("/a") : fmt::format("/{{p{}}}", index);
    };
    routes.push_back({get, repeated(count, segment) + std::string(last)});
  }
  return routes;
}

// The limit of a tree's nodes. Each pattern adds at most one node for each parameter, one for the
// text before the first, and one for a place where texts differ.
std::size_t node_count_max(const std::vector<TestRoute>& routes) {
  std::size_t count = 0;
  for (const TestRoute& route : routes) {
    count += static_cast<std::size_t>(std::ranges::count(route.pattern, '{')) + 2;
  }
  return count;
}

TEST(RouteTable, a_walk_over_every_mix_of_literal_and_parameter_visits_no_node_twice) {
  for (unsigned count = 1; count <= 12; ++count) {
    const std::vector<TestRoute> routes = mixes_of(count, "/{end}/z");
    const RouteTable table = table_of(routes);
    const std::string path = repeated(count, [](std::size_t) { return "/a"; }) + "/a/y";
    EXPECT_EQ(match(table, get, path), "not found");
    EXPECT_EQ(table.node_visits(path), table.node_count()) << "all there are, each once";
    EXPECT_EQ(table.node_visits(path), table.node_visits_max());
    EXPECT_LE(table.node_count(), node_count_max(routes));
  }
}

TEST(RouteTable, few_patterns_cannot_make_a_walk_long) {
  // One parameter for each place of a path that is otherwise literal: no prefix is a dead end.
  std::vector<TestRoute> routes;
  for (std::size_t place = 0; place < route_segments_max - 1; ++place) {
    const auto segment = [place](std::size_t index) { return index == place ? "/{x}" : "/a"; };
    routes.push_back({get, repeated(route_segments_max - 1, segment) + "/z"});
  }
  const RouteTable table = table_of(routes);
  const std::string path = repeated(route_segments_max, [](std::size_t) { return "/a"; });
  EXPECT_EQ(match(table, get, path), "not found");
  EXPECT_LE(table.node_visits(path), table.node_visits_max());
  EXPECT_LE(table.node_visits_max(), table.node_count());
  EXPECT_LE(table.node_count(), node_count_max(routes));
}

TEST(RouteTable, a_parameter_and_a_rest_open_at_every_segment_are_all_tried) {
  std::vector<TestRoute> routes;
  std::string prefix;
  for (std::size_t depth = 0; depth < route_segments_max; ++depth, prefix += "/a") {
    routes.push_back({post, prefix + "/{x}"});
    routes.push_back({put, prefix + "/{all...}"});
    if (depth + 2 <= route_segments_max) routes.push_back({get, prefix + "/{x}/z"});
  }
  const RouteTable table = table_of(routes);
  const std::string shorter = prefix.substr(2);
  EXPECT_EQ(match(table, patch, prefix), "not allowed POST, PUT, OPTIONS");
  EXPECT_EQ(match(table, patch, shorter + "/z"), "not allowed GET, HEAD, POST, PUT, OPTIONS");
  EXPECT_EQ(match(table, put, prefix + "/y"), "found " + shorter + "/{all...} all=a/y");
  EXPECT_LE(table.node_visits(prefix + "/z"), table.node_visits_max());
}

TEST(RouteTable, a_path_far_longer_than_every_pattern_costs_no_more_visits) {
  const RouteTable table = table_of(mixes_of(6, "/{end}/z"));
  const std::string path = repeated(10'000, [](std::size_t) { return "/a"; });
  EXPECT_EQ(match(table, get, path), "not found");
  EXPECT_LE(table.node_visits(path), table.node_visits_max());
}

// ---- Against a matcher that does it the simple way -------------------------------------------

std::vector<std::string> segments_of(Bytes text) {
  std::vector<std::string> segments;
  for (const char c : text) {
    if (c == '/') segments.emplace_back();
    if (c != '/') segments.back() += c;
  }
  return segments;
}

bool is_parameter(const std::string& segment) { return segment.starts_with('{'); }
bool is_rest(const std::string& segment) { return segment.ends_with("...}"); }

std::string join(std::span<const std::string> segments) {
  std::string text;
  for (const std::string& segment : segments)
    text += (&segment == segments.data() ? "" : "/") + segment;
  return text;
}

// Describes how a pattern fits a path: 'a' for a literal, 'b' for a parameter, 'c' for a rest.
// Patterns that fit the same path have one shape exactly when these texts are equal. Returns
// nullopt if the pattern does not fit.
std::optional<std::string> fit(const std::vector<std::string>& pattern,
                               const std::vector<std::string>& path,
                               std::vector<std::string>& values) {
  std::string kinds;
  for (std::size_t index = 0; index < pattern.size(); ++index) {
    if (index == path.size()) return std::nullopt;
    if (is_rest(pattern[index])) {
      values.push_back(join(std::span(path).subspan(index)));
      return kinds + 'c';
    }
    const bool fits =
        is_parameter(pattern[index]) ? !path[index].empty() : pattern[index] == path[index];
    if (!fits) return std::nullopt;
    if (is_parameter(pattern[index])) values.push_back(path[index]);
    kinds += is_parameter(pattern[index]) ? 'b' : 'a';
  }
  return pattern.size() == path.size() ? std::optional(kinds) : std::nullopt;
}

// As match() above prints it.
std::string match_simply(const std::vector<TestRoute>& routes, Method method, Bytes path) {
  struct Fitting {
    const TestRoute* route;
    std::vector<std::string> values;
  };
  std::map<std::string, std::vector<Fitting>> shapes;  // the most specific one first
  for (const TestRoute& route : routes) {
    std::vector<std::string> values;
    const auto kinds = fit(segments_of(route.pattern), segments_of(path), values);
    if (kinds) shapes[*kinds].push_back({&route, values});
  }
  std::set<Method> allowed;
  for (const auto& [kinds, fitting] : shapes) {
    std::vector<std::optional<Method>> wanted = {method};
    if (method == head) wanted.push_back(get);
    wanted.push_back(any_method);
    for (const auto& each : wanted) {
      for (const auto& [route, values] : fitting) {
        if (route->method != each) continue;
        std::string text = "found " + route->pattern;
        std::size_t index = 0;
        for (const std::string& segment : segments_of(route->pattern)) {
          if (!is_parameter(segment)) continue;
          const std::size_t marks = is_rest(segment) ? 5 : 2;
          text += fmt::format(" {}={}", segment.substr(1, segment.size() - marks), values[index++]);
        }
        return text;
      }
    }
    for (const auto& [route, values] : fitting) {
      allowed.insert(*route->method);
      if (route->method == get) allowed.insert(head);
      allowed.insert(options);
    }
  }
  if (allowed.empty()) return "not found";
  std::vector<std::string> names;
  for (const Method each : allowed) names.emplace_back(http::name_of(each));
  return fmt::format("not allowed {}", fmt::join(names, ", "));
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::string segment() {
    static const std::vector<std::string> segments = {"/a",
                                                      "/b",
                                                      "/ab",
                                                      "/aa",
                                                      "/",
                                                      "/users",
                                                      "/usersx",
                                                      "/eightlen",
                                                      "/%2F",
                                                      "/\xc3\xa9",
                                                      "/a-segment-of-27-bytes-in-all",
                                                      "/a-segment-of-27-bytes-in-alL"};
    // Two of three are from the front: patterns then share prefixes.
    return segments[below(below(3) == 0 ? segments.size() : 3)];
  }

  std::string path() {
    std::string text;
    for (std::size_t count = 1 + below(5); count > 0; --count) text += segment();
    return text;
  }

  TestRoute route() {
    TestRoute route;
    if (below(6) != 0) route.method = static_cast<Method>(below(http::method_names.size()));
    const std::size_t count = 1 + below(5);
    for (std::size_t index = 0; index < count; ++index) {
      const std::size_t kind = below(8);
      route.pattern += kind < 4 ? segment() : fmt::format("/{{{}{}}}", "xyz"[below(3)], index);
      if (kind == 7 && index + 1 == count) route.pattern.insert(route.pattern.size() - 1, "...");
    }
    return route;
  }

  Method method() { return static_cast<Method>(below(http::method_names.size() + 1)); }

  template <class Items>
  void shuffle(Items& items) {
    std::ranges::shuffle(items, random_);
  }

 private:
  std::mt19937 random_;
};

// Routes that a builder accepts.
std::vector<TestRoute> draw_routes(Draw& draw, std::size_t count) {
  RouteTableBuilder builder;
  std::vector<TestRoute> routes;
  std::set<Code> refusals;
  for (; count > 0; --count) {
    const TestRoute route = draw.route();
    const auto added = add(builder, route);
    if (added) routes.push_back(route);
    if (!added) refusals.insert(added.error().code());
  }
  refusals.erase(Code::already_exists);
  EXPECT_TRUE(refusals.empty());
  return routes;
}

std::string listing(const std::vector<TestRoute>& routes) {
  std::string text;
  for (const TestRoute& route : routes) {
    text += fmt::format("\n  {} {}", route.method ? http::name_of(*route.method) : "any",
                        route.pattern);
  }
  return text;
}

TEST(RouteTable, agrees_with_the_simple_matcher_on_random_tables_and_paths) {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    Draw draw(seed);
    const std::vector<TestRoute> routes = draw_routes(draw, 1 + draw.below(40));
    const RouteTable table = table_of(routes);
    for (unsigned path_count = 0; path_count < 30; ++path_count) {
      const std::string path = draw.path();
      const Method method = draw.method();
      ASSERT_EQ(match(table, method, path), match_simply(routes, method, path))
          << "seed " << seed << ", " << http::name_of(method) << " " << path << listing(routes);
      ASSERT_LE(table.node_visits(path), table.node_visits_max());
    }
    ASSERT_LE(table.node_visits_max(), table.node_count());
    ASSERT_LE(table.node_count(), node_count_max(routes));
  }
}

TEST(RouteTable, does_not_depend_on_the_order_of_registration) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    Draw draw(seed);
    std::vector<TestRoute> routes = draw_routes(draw, 40);
    const RouteTable table = table_of(routes);
    draw.shuffle(routes);
    const RouteTable shuffled = table_of(routes);
    EXPECT_EQ(table.node_count(), shuffled.node_count());
    for (unsigned path_count = 0; path_count < 50; ++path_count) {
      const std::string path = draw.path();
      const Method method = draw.method();
      ASSERT_EQ(match(table, method, path), match(shuffled, method, path))
          << "seed " << seed << ", " << http::name_of(method) << " " << path << listing(routes);
    }
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
