#include "katana/data/config/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "katana/base/text/nearest_name.hpp"

namespace katana::config {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

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

const AbsentKey* Shape::find_absent(Bytes key) const noexcept {
  const auto at = std::ranges::find_if(absent, [key](const AbsentKey& each) {
    const Bytes last = each.path.substr(each.path.rfind('.') + 1);  // npos + 1 is 0
    return std::ranges::equal(last, key, {}, lower, lower);
  });
  return at == absent.end() ? nullptr : &*at;
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
  if (const AbsentKey* const absent = group.find_absent(key)) {
    return fmt::format("'{}' is of a part that this program does not have: {}", absent->path,
                       absent->remedy);
  }
  std::vector<std::string_view> names;
  names.reserve(group.members.size());
  for (const Shape& member : group.members) names.push_back(member.name);
  if (const std::string hint = nearest_hint(key, names); !hint.empty()) {
    return "unknown key" + hint;
  }
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
