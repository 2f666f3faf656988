// RouteTableBuilder: collects patterns and their methods, and makes a RouteTable of them.
//
// Owns       the patterns, until build() passes them on.
// Thread     one.
// Allocates  for each pattern.
// Fails      add() with a message that names the pattern, the place in it and the remedy.
// Invariant  the table does not depend on the order of the calls, except for the numbers of routes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/routing/route_table.hpp"

namespace katana {

inline constexpr std::size_t routes_max = 65'536;  // of one table; add() fails beyond it

class RouteTableBuilder {
 public:
  // The route's number: 0, 1, 2, … in the order of the calls. A call that fails adds nothing.
  Result<std::uint32_t> add(http::Method method, std::string_view pattern);
  // Serves every method for which the same pattern has no other route.
  Result<std::uint32_t> add_any_method(std::string_view pattern);

  RouteTable build() &&;  // cannot fail: add() has checked everything

 private:
  friend class RouteTable::Assembler;
  // Routes of one shape by method; the last entry is the any-method route.
  using Served = std::array<std::uint32_t, http::method_names.size() + 1>;

  Result<std::uint32_t> add_route(std::size_t method, std::string_view pattern);

  std::vector<std::string> patterns_;
  std::map<std::string, Served> shapes_;  // keyed by the pattern without its names
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
