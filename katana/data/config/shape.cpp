#include "katana/data/config/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace katana::config {
namespace {

constexpr std::size_t compared_max = 40;  // longer names are not what somebody mistyped

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// How many characters are to be inserted, removed, replaced or swapped with their neighbour.
std::size_t distance(Bytes from, Bytes to) noexcept {
  if (from.size() > compared_max || to.size() > compared_max) return compared_max;
  std::array<std::array<std::uint8_t, compared_max + 1>, compared_max + 1> cost;
  for (std::size_t row = 0; row <= from.size(); ++row) {
    for (std::size_t column = 0; column <= to.size(); ++column) {
      auto& best = cost[row][column];
      if (row == 0 || column == 0) {
        best = static_cast<std::uint8_t>(row + column);
        continue;
      }
      const bool same = lower(from[row - 1]) == lower(to[column - 1]);
      best =
          static_cast<std::uint8_t>(std::min({cost[row - 1][column] + 1, cost[row][column - 1] + 1,
                                              cost[row - 1][column - 1] + (same ? 0 : 1)}));
      if (row > 1 && column > 1 && lower(from[row - 1]) == lower(to[column - 2]) &&
          lower(from[row - 2]) == lower(to[column - 1])) {
        best = std::min(best, static_cast<std::uint8_t>(cost[row - 2][column - 2] + 1));
      }
    }
  }
  return cost[from.size()][to.size()];
}

// The path of a key of exactly this name; empty if there is none.
std::string path_of(const Shape& in, Bytes key, const std::string& prefix) {
  if (in.kind != Shape::Kind::group) return "";
  for (const Shape& member : in.members) {
    const std::string path = prefix + std::string(member.name);
    if (member.name == key) return path;
    if (auto found = path_of(member, key, path + "."); !found.empty()) return found;
  }
  return "";
}

}  // namespace

const Shape* Shape::find(Bytes key) const noexcept {
  if (kind == Kind::dictionary) return &members.front();
  const auto at = std::ranges::find(members, key, &Shape::name);
  return at == members.end() ? nullptr : &*at;
}

const Shape* Shape::find_any_case(Bytes key) const noexcept {
  if (kind == Kind::dictionary) return &members.front();
  const auto at = std::ranges::find_if(members, [key](const Shape& member) {
    return std::ranges::equal(member.name, key, {}, lower, lower);
  });
  return at == members.end() ? nullptr : &*at;
}

Shape shape_of(const Type& type, Bytes name, bool secret) {
  const Type& value = type.without_optional();
  Shape shape{.name = name, .secret = secret, .members = {}};
  switch (value.kind) {
    case Type::Kind::group:
      shape.kind = Shape::Kind::group;
      for (const Member& member : value.group->members) {
        shape.members.push_back(shape_of(member.type(), member.name, secret || member.said.secret));
      }
      return shape;
    case Type::Kind::list: shape.kind = Shape::Kind::list; break;
    case Type::Kind::dictionary: shape.kind = Shape::Kind::dictionary; break;
    case Type::Kind::optional:
    case Type::Kind::scalar: return shape;
  }
  shape.members.push_back(shape_of(value.container->element(), {}, secret));
  return shape;
}

std::string unknown_key(const Shape& group, Bytes key, const Shape& root) {
  const Shape* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(key.size() / 3, 1) + 1;
  for (const Shape& member : group.members) {
    if (const std::size_t away = distance(key, member.name); away < least) {
      least = away;
      nearest = &member;
    }
  }
  if (nearest != nullptr) return fmt::format("unknown key; did you mean '{}'?", nearest->name);
  if (const std::string path = path_of(root, key, ""); !path.empty()) {
    return fmt::format("unknown key; did you mean '{}'?", path);
  }
  std::string text = "unknown key; known are: ";
  for (const Shape& member : group.members) {
    if (&member != &group.members.front()) text += ", ";
    text += member.name;
  }
  return text;
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
