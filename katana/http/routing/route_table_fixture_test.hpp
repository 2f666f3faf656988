// Helpers of the route table's tests: tables of patterns, and a match as text.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/routing/route_table.hpp"
#include "katana/http/routing/route_table_builder.hpp"

namespace katana {

inline constexpr std::optional<http::Method> any_method = std::nullopt;

struct TestRoute {
  std::optional<http::Method> method;
  std::string pattern;
};

inline Result<std::uint32_t> add(RouteTableBuilder& builder, const TestRoute& route) {
  return route.method ? builder.add(*route.method, route.pattern)
                      : builder.add_any_method(route.pattern);
}

inline std::string refusal_of(const Result<std::uint32_t>& result) {
  return result ? "accepted" : result.error().describe();
}

inline RouteTable table_of(const std::vector<TestRoute>& routes) {
  RouteTableBuilder builder;
  for (std::uint32_t number = 0; number < routes.size(); ++number) {
    const auto added = add(builder, routes[number]);
    EXPECT_EQ(added.value_or(UINT32_MAX), number) << refusal_of(added);
  }
  return std::move(builder).build();
}

inline std::string name_of_kind(MatchKind kind) {
  if (kind == MatchKind::found) return "found";
  return kind == MatchKind::not_found ? "not found" : "not allowed";
}

// "found /users/{id} id=7", "not allowed GET, HEAD, OPTIONS" or "not found".
inline std::string match(const RouteTable& table, http::Method method, Bytes path) {
  // A heap block of the exact size: AddressSanitizer then detects a read beyond it.
  const auto block = std::make_unique<char[]>(path.size());
  std::ranges::copy(path, block.get());
  PathParameters parameters;
  const RouteMatch match = table.match(method, {block.get(), path.size()}, parameters);
  std::string text = name_of_kind(match.kind);
  if (match.kind == MatchKind::found) text += fmt::format(" {}", table.pattern(match.route));
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    text += fmt::format(" {}={}", parameters[index].name, parameters[index].value);
  }
  if (!match.allowed.empty()) text += fmt::format(" {}", allow_value(match.allowed));
  return text;
}

inline std::string match_get(const std::vector<Bytes>& patterns, Bytes path) {
  std::vector<TestRoute> routes;
  for (const Bytes pattern : patterns) routes.push_back({http::Method::get, std::string(pattern)});
  return match(table_of(routes), http::Method::get, path);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
