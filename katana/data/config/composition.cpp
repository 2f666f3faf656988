#include "katana/data/config/composition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/data/config/printer.hpp"
#include "katana/data/config/schema.hpp"

namespace katana::config {
namespace {

void locate_composed(void* value, void** places) {
  const Composition::Value& composed = *static_cast<Composition::Value*>(value);
  composed.base->locate(composed.value.get(), places);
  places += composed.base->members.size();
  for (const auto& group : composed.groups) *places++ = group.get();
}

// The rules across the members of the program's own settings.
void check_composed(const void* value, Told tell) {
  const Composition::Value& composed = *static_cast<const Composition::Value*>(value);
  if (composed.base->check_across == nullptr) return;
  composed.base->check_across(composed.value.get(), tell);
}

// The group that holds the last key of "a.b.c"; null: the shape has none.
Shape* holder_of(Shape& root, Bytes path) {
  Shape* at = &root;
  for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    const auto found = std::ranges::find(at->members, path.substr(0, dot), &Shape::name);
    if (found == at->members.end()) return nullptr;
    at = &*found;
    path.remove_prefix(dot + 1);
  }
  return at;
}

}  // namespace

Composition::Composition(const Type& base, MakeValue maker, Additions additions)
    : base_(base), make_(maker), additions_(std::move(additions)) {
  members_.assign(base.group->members.begin(), base.group->members.end());
  for (const AddedGroup& added : additions_.groups) {
    members_.push_back({.name = added.name, .help = added.help, .type = added.type, .said = {}});
  }
  group_ = {.members = members_,
            .unknown = base.group->unknown,
            .locate = &locate_composed,
            .check_across = &check_composed};
}

Result<void> Composition::check() const {
  if (members_.size() > described_members_max) {
    return fail(Code::out_of_range, fmt::format("the configuration has {} groups and keys at its "
                                                "top; at most {} are allowed",
                                                members_.size(), described_members_max));
  }
  for (const AddedGroup& added : additions_.groups) {
    if (std::ranges::count(members_, added.name, &Member::name) == 1) continue;
    return fail(Code::already_exists,
                fmt::format("the group '{}' of the configuration is there twice: a part has it, "
                            "and another part or the program's own settings have it as well",
                            added.name));
  }
  return {};
}

Shape Composition::shape() const {
  const Type type{.kind = Type::Kind::group, .group = &group_};
  Shape shape = shape_of(type);
  for (const AbsentKey& absent : additions_.absent) {
    Shape* const holder = holder_of(shape, absent.path);
    if (holder != nullptr) holder->absent.push_back(absent);
  }
  return shape;
}

Composition::Value Composition::make(const Value* copied) const {
  Value made{.base = base_.group,
             .value = make_(copied != nullptr ? copied->value.get() : nullptr)};
  for (std::size_t index = 0; index < additions_.groups.size(); ++index) {
    made.groups.push_back(
        additions_.groups[index].make(copied != nullptr ? copied->groups[index].get() : nullptr));
  }
  return made;
}

std::shared_ptr<const void> Composition::find(const Value& value, Bytes name) const noexcept {
  const auto at = std::ranges::find(additions_.groups, name, &AddedGroup::name);
  if (at == additions_.groups.end()) return nullptr;
  return value.groups[static_cast<std::size_t>(at - additions_.groups.begin())];
}

std::string Composition::print_defaults() const {
  const Value value = make();
  return config::print_defaults(group_, &value);
}

std::string Composition::json_schema(Bytes title) const {
  return config::json_schema({.kind = Type::Kind::group, .group = &group_}, title);
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
