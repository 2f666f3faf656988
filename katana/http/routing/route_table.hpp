// RouteTable: finds the route for a method and a path. Built once, then immutable.
//
// Owns      its patterns; nothing of a request.
// Borrows   the path for the call; the PathParameters it fills point into the path and the table.
// Thread    any number at once.
// Allocates never; RouteTableBuilder allocates, which makes the table.
// Fails     never.
// Invariant specificity decides, never the order of registration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/routing/method_set.hpp"
#include "katana/http/routing/path_parameters.hpp"
#include "katana/http/routing/path_words.hpp"
#include "katana/http/routing/route_pattern.hpp"
#include "katana/wire/http/method.hpp"

namespace katana {

// A route, 404, or 405 (with RouteMatch::allowed for the header Allow).
enum class MatchKind : std::uint8_t { found, not_found, method_not_allowed };

// Result of match().
struct RouteMatch {
  std::uint32_t route = 0;                // for found: what add() returned
  MethodSet allowed;                      // for method_not_allowed; empty otherwise
  MatchKind kind = MatchKind::not_found;  // decides which of the members above count
};

// A pattern is '/' and segments between '/':
//
//   users       literal: exactly these bytes
//   {name}      parameter: exactly one segment, not empty
//   the same, with text before or behind it: a segment that begins and ends with this text, and has
//   more between
//   {name...}   rest: the rest of the path, which may be empty and have slashes; the last segment
//               only
//
// Names are letters, digits, '_' and '-'. A trailing slash counts: "/a" and "/a/" are two paths.
//
// The match is the most specific one of all patterns that fit the path and serve the method.
// Specificity is compared segment by segment from the left: literal, then parameter with text
// behind it, the longest text first, then parameter, then rest. A general pattern thus still serves
// the methods that a more specific one lacks. A method that no fitting pattern serves is
// method_not_allowed; `allowed` has the methods that they serve together.
//
// A pattern serves the methods that were added, and HEAD by the GET route unless HEAD was added.
// The any-method route, if there is one, serves every other method, extensions included. Without an
// OPTIONS or any-method route, OPTIONS is method_not_allowed and counted in `allowed`: the caller
// answers it.
class RouteTable {
 public:
  RouteTable(RouteTable&&) noexcept = default;
  RouteTable& operator=(RouteTable&&) noexcept = default;

  // REQUIRES: path is normalised, without the query, and shorter than 4 GiB. A path that does
  // not start with '/' ("*", an authority) is not_found. `parameters` is empty unless the match is
  // found.
  RouteMatch match(http::Method method, Bytes path, PathParameters& parameters) const noexcept {
    const LiteralMatch literal = match_literal(method, path, parameters);
    if (literal.step == LiteralStep::found) {
      return {.route = literal.route, .allowed = {}, .kind = MatchKind::found};
    }
    return match_otherwise(method, path, parameters, literal.step);
  }

  // The result of the first step of match(). Callers with their own code for paths without
  // parameters run the two steps themselves.
  enum class LiteralStep : std::uint8_t {
    found,        // a literal pattern that serves the method
    not_literal,  // no literal pattern has this path
    unclear       // one may have it
  };
  // The result of the first step.
  struct LiteralMatch {
    std::uint32_t route;  // the route, if found
    LiteralStep step;     // the kind of result
  };
  // Runs the first step.
  inline LiteralMatch match_literal(http::Method method, Bytes path,
                                    PathParameters& parameters) const noexcept;
  // Runs the second step. REQUIRES that `step` is the result of match_literal() for the same
  // arguments, and not `found`.
  RouteMatch match_otherwise(http::Method method, Bytes path, PathParameters& parameters,
                             LiteralStep step) const noexcept {
    if (step == LiteralStep::not_literal) return match_tree(method, path, {}, parameters);
    return match_slowly(method, path, parameters);
  }

  // Counts each pair of method and pattern.
  std::size_t route_count() const noexcept { return routes_.size(); }
  // Both REQUIRE route < route_count().
  Bytes pattern(std::uint32_t route) const noexcept;
  std::span<const Bytes> parameter_names(std::uint32_t route) const noexcept;

  // The work of a match, as the number of visited nodes of the tree. The first function gives it
  // for this path when nothing serves the method, the second the maximum for any path. A client
  // cannot raise that maximum: it is a property of the patterns, and at most the number of nodes.
  std::uint32_t node_visits(Bytes path) const noexcept;
  std::uint32_t node_visits_max() const noexcept { return node_visits_max_; }
  std::size_t node_count() const noexcept { return nodes_.size(); }

 private:
  friend class RouteTableBuilder;
  class Assembler;
  class Walk;
  struct DraftNode;

  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint32_t no_route = UINT32_MAX;
  // The index of the any-method route among routes by method. Extensions have only this route.
  static constexpr std::size_t any_method = http::method_names.size();
  static constexpr std::size_t index_of(http::Method method) noexcept {
    return static_cast<std::size_t>(method);
  }
  static_assert(any_method == static_cast<std::size_t>(http::Method::extension));

  // The end of all patterns of one shape: a route for each method, HEAD and any-method already
  // resolved.
  struct alignas(64) Endpoint {
    std::array<std::uint32_t, http::method_names.size() + 1> route_for;
    MethodSet allowed;
  };

  struct LiteralSlot {
    detail::RouteKey key;
    const char* text = nullptr;
    std::uint32_t endpoint = none;
  };

  struct alignas(64) Node {
    std::uint64_t label_word = 0;
    std::uint64_t label_mask = 0;
    const char* label = nullptr;
    const Node* parameter_child = nullptr;
    const Node* rest_child = nullptr;
    const Endpoint* endpoint = nullptr;
    const Node* const* row = nullptr;  // literal children, from first_byte on; null where none is
    std::uint16_t row_size = 0;
    std::uint16_t label_size = 0;
    std::uint8_t first_byte = 0;
    std::uint8_t parameter_index = 0;
    detail::RouteSegmentKind kind = detail::RouteSegmentKind::literal;
    std::uint8_t suffix_size = 0;  // of a part: the label begins with its suffix
  };
  static_assert(sizeof(void*) != 8 || sizeof(Node) == 64);

  struct Route {
    Bytes pattern;
    std::span<const Bytes> names;
  };

  RouteTable() = default;
  RouteMatch match_slowly(http::Method method, Bytes path,
                          PathParameters& parameters) const noexcept;
  RouteMatch match_tree(http::Method method, Bytes path, MethodSet allowed,
                        PathParameters& parameters) const noexcept;
  std::uint32_t find_literal(Bytes path) const noexcept;

  std::vector<LiteralSlot> literals_;  // open addressing: a power of two, at most half full
  std::uint64_t literal_mask_ = 0;
  std::uint64_t literal_sizes_ = 0;  // bit (size mod 64) is set if a literal path has that size
  std::vector<Node> nodes_;          // the root first; empty if no pattern has a parameter
  std::vector<const Node*> rows_;
  std::vector<Endpoint> endpoints_;
  std::vector<Route> routes_;
  std::vector<Bytes> names_;  // of all routes
  std::vector<char> text_;    // all patterns; a vector, because moving it keeps its address
  std::uint32_t node_visits_max_ = 0;
};

// Inlined, without a call: the result is then two values and never one word.
[[gnu::always_inline]] inline RouteTable::LiteralMatch RouteTable::match_literal(
    http::Method method, Bytes path, PathParameters& parameters) const noexcept {
  parameters.count_ = 0;
  const bool may_be_literal = (literal_sizes_ >> (path.size() % 64) & 1) != 0;
  if (!may_be_literal) return {no_route, LiteralStep::not_literal};
  if (path.size() > detail::key_bytes) return {no_route, LiteralStep::unclear};
  const detail::RouteKey key = detail::key_of(path);
  const LiteralSlot& slot = literals_[detail::hash_of(key) & literal_mask_];
  if (slot.key == key) {
    const std::uint32_t route = endpoints_[slot.endpoint].route_for[index_of(method)];
    if (route != no_route) [[likely]]
      return {route, LiteralStep::found};
  } else if (slot.endpoint == none) {
    return {no_route, LiteralStep::not_literal};
  }
  return {no_route, LiteralStep::unclear};
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
