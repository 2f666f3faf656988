// Invariant: for all patterns and paths, the table answers as a scan over all routes does. It does
// so within the promised work, and reads no byte outside of the path.
//
// The input consists of lines that end with the byte 255. Each has a method, one byte, and a
// pattern; after an empty line a method and a path. Bytes below 32 stand for whole segments, which
// makes fitting paths likely.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/http/routing/route_table_builder.hpp"

namespace {

using katana::Bytes;
using katana::MatchKind;
using katana::MethodSet;
using katana::PathParameters;
using katana::RouteMatch;
using katana::RouteTable;
using katana::RouteTableBuilder;
using katana::http::Method;

constexpr unsigned method_count = katana::http::method_names.size();
constexpr unsigned any_method = static_cast<unsigned>(Method::extension);

struct Route {
  unsigned method;
  std::string pattern;
};

// ---- The scan --------------------------------------------------------------------------------

// Takes the text before the next '/' off.
Bytes take_segment(Bytes& text) {
  const Bytes segment = text.substr(0, text.find('/'));
  text.remove_prefix(segment.size());
  return segment;
}

// Reads both from left to right; `values` gets the values of the parameters if they fit.
bool fits(Bytes pattern, Bytes path, std::vector<Bytes>& values) {
  values.clear();
  char before = '/';  // of the pattern
  while (!pattern.empty()) {
    if (pattern.front() == '{') {
      const Bytes parameter = take_segment(pattern);
      const bool is_rest = parameter.ends_with("...}");
      values.push_back(is_rest ? path : take_segment(path));
      if (is_rest) return true;
      const Bytes suffix = parameter.substr(parameter.find('}') + 1);
      if (!values.back().ends_with(suffix)) return false;
      values.back().remove_suffix(suffix.size());
      if (values.back().empty()) return false;
      // "%2F" is one byte, which no text may split.
      const bool is_part = before != '/' || !suffix.empty();
      const std::size_t size = values.back().size();
      if (is_part && values.back().substr(size < 2 ? 0 : size - 2).contains('%')) return false;
    } else {
      if (path.empty() || path.front() != pattern.front()) return false;
      before = pattern.front();
      pattern.remove_prefix(1);
      path.remove_prefix(1);
    }
  }
  return path.empty();
}

int rank_of(Bytes segment) {
  const std::size_t open = segment.find('{');
  if (open == Bytes::npos) return 0;
  if (segment.ends_with("...}")) return 3'000'000;
  // A longer text before a parameter, and then behind it, is more specific.
  return 2'000'000 - static_cast<int>(open * 1'000 + segment.size() - segment.find('}') - 1);
}

// Returns a negative number if the first pattern is the more specific one, and 0 if both have one
// shape. Both fit the same path; where both are literal they are equal.
int compare(Bytes left, Bytes right) {
  while (!left.empty() && !right.empty()) {
    left.remove_prefix(1);
    right.remove_prefix(1);
    const int difference = rank_of(take_segment(left)) - rank_of(take_segment(right));
    if (difference != 0) return difference;
  }
  KATANA_CHECK(left.empty() && right.empty());
  return 0;
}

// The rank of a route for a method, 0 is best; negative if it does not serve it.
int service_of(const Route& route, Method method) {
  if (route.method == static_cast<unsigned>(method) && route.method != any_method) return 0;
  if (method == Method::head && route.method == static_cast<unsigned>(Method::get)) return 1;
  return route.method == any_method ? 2 : -1;
}

struct Found {
  MatchKind kind = MatchKind::not_found;
  std::size_t route = 0;
  MethodSet allowed;
};

Found scan(const std::vector<Route>& routes, Method method, Bytes path) {
  Found best;
  std::vector<Bytes> values;
  for (std::size_t number = 0; number < routes.size(); ++number) {
    const Route& route = routes[number];
    if (!fits(route.pattern, path, values)) continue;
    best.allowed.insert(Method::options);
    if (route.method != any_method) best.allowed.insert(static_cast<Method>(route.method));
    if (route.method == static_cast<unsigned>(Method::get)) best.allowed.insert(Method::head);
    const int service = service_of(route, method);
    if (service < 0) continue;
    const int order =
        best.kind == MatchKind::found ? compare(route.pattern, routes[best.route].pattern) : -1;
    if (order < 0 || (order == 0 && service < service_of(routes[best.route], method))) {
      best.kind = MatchKind::found;
      best.route = number;
    }
  }
  if (best.kind != MatchKind::found && !best.allowed.empty()) {
    best.kind = MatchKind::method_not_allowed;
  }
  if (best.kind == MatchKind::found) best.allowed = {};
  return best;
}

// ---- The input -------------------------------------------------------------------------------

std::string expand(Bytes line) {
  static constexpr std::array<Bytes, 28> segments = {"/a",
                                                     "/b",
                                                     "/ab",
                                                     "/abcdefg",
                                                     "/abcdefgh",
                                                     "/seventeen-bytes",
                                                     "/a-segment-of-27-bytes-in-all",
                                                     "/",
                                                     "/{x}",
                                                     "/{y}",
                                                     "/{z}",
                                                     "/{x...}",
                                                     "/{rest...}",
                                                     "/%2F",
                                                     "/a/a",
                                                     "//",
                                                     "/{x}b",
                                                     "/{y}ab",
                                                     "/{z}.json",
                                                     "/a.json",
                                                     "/aab",
                                                     "/{x}abcdefghi",
                                                     "/a{x}",
                                                     "/ab{y}",
                                                     "/a{x}b",
                                                     "/abcdefghi{z}",
                                                     "/a{z}.json",
                                                     "/a%2F"};
  std::string text;
  for (const char c : line) {
    const auto value = static_cast<unsigned char>(c);
    if (value < 32) text += segments[value % segments.size()];
    if (value >= 32) text += c;
  }
  return text;
}

Bytes take_line(Bytes& input) {
  const Bytes line = input.substr(0, input.find('\xff'));
  input.remove_prefix(std::min(line.size() + 1, input.size()));
  return line;
}

// The pattern without the names.
std::string shape_of(Bytes pattern) {
  std::string shape;
  bool in_name = false;
  for (const char c : pattern) {
    if (c == '}') in_name = false;
    if (!in_name || c == '.') shape += c;
    if (c == '{') in_name = true;
  }
  return shape;
}

void add(RouteTableBuilder& builder, std::vector<Route>& routes, Route route) {
  const auto added = route.method == any_method
                         ? builder.add_any_method(route.pattern)
                         : builder.add(static_cast<Method>(route.method), route.pattern);
  const bool is_known = std::ranges::any_of(routes, [&](const Route& other) {
    return other.method == route.method && shape_of(other.pattern) == shape_of(route.pattern);
  });
  if (added) {
    KATANA_CHECK(!is_known && *added == routes.size());
    routes.push_back(std::move(route));
  } else {
    KATANA_CHECK(is_known || added.error().code() == katana::Code::invalid_argument);
    KATANA_CHECK(added.error().message().contains(route.pattern));
  }
}

void check_match(const RouteTable& table, const std::vector<Route>& routes, Method method,
                 Bytes text) {
  // A heap block of the exact size: AddressSanitizer then detects a read beyond it.
  const auto block = std::make_unique<char[]>(text.size());
  std::ranges::copy(text, block.get());
  const Bytes path{block.get(), text.size()};

  PathParameters parameters;
  const RouteMatch match = table.match(method, path, parameters);
  const Found expected = scan(routes, method, path);
  KATANA_CHECK(match.kind == expected.kind);
  KATANA_CHECK(match.allowed == expected.allowed);
  KATANA_CHECK(table.node_visits(path) <= table.node_visits_max());
  if (match.kind != MatchKind::found) {
    KATANA_CHECK(parameters.empty());
    return;
  }
  KATANA_CHECK(match.route == expected.route);
  std::vector<Bytes> values;
  KATANA_CHECK(fits(table.pattern(match.route), path, values));
  KATANA_CHECK(parameters.size() == values.size());
  KATANA_CHECK(table.parameter_names(match.route).size() == values.size());
  for (std::size_t index = 0; index < values.size(); ++index) {
    KATANA_CHECK(parameters[index].value == values[index]);
    KATANA_CHECK(parameters[index].value.data() == values[index].data());
    KATANA_CHECK(parameters[index].name == table.parameter_names(match.route)[index]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes input{reinterpret_cast<const char*>(data), size};
  RouteTableBuilder builder;
  std::vector<Route> routes;
  for (Bytes line = take_line(input); !line.empty(); line = take_line(input)) {
    const unsigned method = static_cast<unsigned char>(line.front()) % (method_count + 1);
    add(builder, routes, {method, expand(line.substr(1))});
  }
  const RouteTable table = std::move(builder).build();
  KATANA_CHECK(table.route_count() == routes.size());
  KATANA_CHECK(table.node_visits_max() <= table.node_count());

  std::vector<std::string> paths = {"", "/", "*"};
  for (const Route& route : routes) paths.push_back(route.pattern);
  for (unsigned method = 0; method <= method_count; ++method) {
    for (const std::string& path : paths)
      check_match(table, routes, static_cast<Method>(method), path);
  }
  while (!input.empty()) {
    const Bytes line = take_line(input);
    if (line.empty()) continue;
    const unsigned method = static_cast<unsigned char>(line.front()) % (method_count + 1);
    check_match(table, routes, static_cast<Method>(method), expand(line.substr(1)));
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
