#include "katana/base/registry/services.hpp"

#include <fmt/format.h>

#include <utility>

#include "katana/base/registry/plan.hpp"

namespace katana::registry {
namespace {

// Destroys in reverse order: users of a service are destroyed before it.
void destroy_all(std::vector<detail::Destroyer>& made) noexcept {
  while (!made.empty()) {
    const detail::Destroyer last = made.back();
    made.pop_back();
    last(nullptr);
  }
}

}  // namespace

Services::Services(std::vector<detail::Entry> entries, const std::vector<std::uint32_t>& order,
                   std::vector<AbsentService> absent) {
  absent_ = std::move(absent);
  entries_.reserve(order.size());
  for (const std::uint32_t each : order) entries_.push_back(std::move(entries[each]));
  for (const detail::Entry& entry : entries_) held_.push_back({entry.type, nullptr});
  build_table();
}

Services::~Services() { destroy_all(made_); }

void Services::build_table() {
  const std::size_t size = std::bit_ceil(entries_.size() * 4 + 2);
  mask_ = size - 1;
  shift_ = static_cast<unsigned>(64 - std::countr_zero(size));
  table_.resize(size);
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    // look_up() of a type that is not present ends at its free place.
    auto* const place = const_cast<Found*>(look_up(entries_[index].type));
    *place = {entries_[index].type, nullptr, index};
  }
}

Result<void> Services::make_singletons() {
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    const detail::Entry& entry = entries_[index];
    if (entry.lifetime != Lifetime::singleton) continue;
    Result<detail::Made> made = call_factory(entry, nullptr);
    if (!made) return std::unexpected(std::move(made).error());
    if (made->owner.destroy != nullptr) made_.push_back(made->owner);
    held_[index].object = made->interface;
    const_cast<Found*>(look_up(entry.type))->object = made->interface;
  }
  return {};
}

Result<detail::Made> Services::call_factory(const detail::Entry& entry, Scope* scope) const {
  std::vector<detail::Made> arguments;
  arguments.reserve(entry.needs.size());
  Result<detail::Made> made = fail(Code::internal);
  for (const detail::Need& need : entry.needs) {
    Result<detail::Made> found = argument(need, scope);
    if (!found) made = std::unexpected(std::move(found).error());
    if (!found) break;
    arguments.push_back(*found);
  }
  if (arguments.size() == entry.needs.size()) made = entry.make(arguments);
  // Ends transient services that no factory has taken.
  for (const detail::Made& each : arguments) each.end();
  if (made) return made;
  return std::unexpected(made.error().within(
      fmt::format("service '{}'{} was not made", entry.type->name, detail::needs_text(entry))));
}

Result<detail::Made> Services::argument(const detail::Need& need, Scope* scope) const {
  const Found* const found = look_up(need.type);
  if (found->type == nullptr) return detail::Made{};  // an optional need
  switch (entries_[found->index].lifetime) {
    case Lifetime::singleton: return detail::Made{held_[found->index].object, {}};
    case Lifetime::transient: return call_factory(entries_[found->index], scope);
    case Lifetime::scoped: break;
  }
  if (scope == nullptr) {
    return fail(Code::invalid_argument,
                fmt::format("'{}' is scoped: make this in a Scope", need.type->name));
  }
  Result<void*> object = scope->get_at(found->index);
  if (!object) return std::unexpected(std::move(object).error());
  return detail::Made{*object, {}};
}

Result<detail::Made> Services::make_transient(const TypeInfo* type, Scope* scope) const {
  const Found* const found = look_up(type);
  if (found->type == nullptr) return std::unexpected(unknown(type));
  const detail::Entry& entry = entries_[found->index];
  if (entry.lifetime != Lifetime::transient) {
    return fail(Code::invalid_argument, fmt::format("'{}' is {}, which others share: use get()",
                                                    type->name, lifetime_name(entry.lifetime)));
  }
  return call_factory(entry, scope);
}

Error Services::unknown(const TypeInfo* type) const {
  const std::string_view how = remedy(type);
  if (!how.empty()) {
    return Error(Code::not_found,
                 fmt::format("no service '{}' is registered: {}", type->name, how));
  }
  std::string text = fmt::format("no service '{}' is registered; there are:", type->name);
  for (const detail::Entry& entry : entries_) text += fmt::format(" '{}'", entry.type->name);
  return Error(Code::not_found, entries_.empty() ? text + " none" : std::move(text));
}

std::string_view Singletons::remedy(const TypeInfo* type) const noexcept {
  for (const AbsentService& each : absent_) {
    if (each.type == type) return each.remedy;
  }
  return {};
}

void Singletons::refuse(const TypeInfo* type, const std::source_location& where) const {
  const std::string_view how = remedy(type);
  const std::string_view file = where.file_name();
  throw MissingService(
      fmt::format("get<{0}>() at {1}:{2}: '{0}' is not registered as a singleton: {3}", type->name,
                  file.substr(file.rfind('/') + 1), where.line(),
                  how.empty() ? fmt::format("call singleton<{}>() of the registry", type->name)
                              : std::string(how)));
}

std::string Services::describe() const {
  std::string text;
  for (const detail::Entry& entry : entries_) {
    text += fmt::format("{}: {}{}\n", entry.type->name, lifetime_name(entry.lifetime),
                        detail::needs_text(entry));
  }
  return text;
}

Scope::~Scope() { destroy_all(made_); }

Result<void*> Scope::get_shared(const TypeInfo* type) {
  const Services::Found* const found = services_.look_up(type);
  if (found->type == nullptr) return std::unexpected(services_.unknown(type));
  return get_at(found->index);
}

Result<void*> Scope::get_at(std::uint32_t index) {
  if (void* const object = services_.held_[index].object) return object;
  if (!objects_.empty() && objects_[index] != nullptr) return objects_[index];
  const detail::Entry& entry = services_.entries_[index];
  if (entry.lifetime == Lifetime::transient) {
    return fail(Code::invalid_argument,
                fmt::format("'{}' is transient: use make()", entry.type->name));
  }
  Result<detail::Made> made = services_.call_factory(entry, this);
  if (!made) return std::unexpected(std::move(made).error());
  objects_.resize(services_.held_.size());
  if (made->owner.destroy != nullptr) made_.push_back(made->owner);
  return objects_[index] = made->interface;
}

}  // namespace katana::registry

// SPDX-License-Identifier: Apache-2.0
