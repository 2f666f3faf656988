#include "katana/base/registry/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/registry/plan.hpp"

namespace katana::registry {

std::string_view lifetime_name(Lifetime lifetime) noexcept {
  switch (lifetime) {
    case Lifetime::singleton: return "a singleton";
    case Lifetime::scoped: return "scoped";
    case Lifetime::transient: return "transient";
  }
  return "";
}

Error detail::error_of_exception() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    return Error(Code::internal, fmt::format("its factory threw: {}", thrown.what()));
  } catch (...) {
    return Error(Code::internal, "its factory threw an object that is not a std::exception");
  }
}

Result<void> Registry::apply_overrides() {
  std::string missing;
  for (Override& each : overrides_) {
    const auto found = std::ranges::find(entries_, each.entry.type, &detail::Entry::type);
    if (found == entries_.end()) {
      missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", each.entry.type->name);
      continue;
    }
    // Only the plan knows the lifetime of an alias, which is that of its service.
    if (each.keeps_lifetime && !found->alias) each.entry.lifetime = found->lifetime;
    *found = std::move(each.entry);
  }
  overrides_.clear();
  if (missing.empty()) return {};
  return fail(Code::not_found,
              fmt::format("an override of {}, which nothing registers: register it, or remove the "
                          "override",
                          missing));
}

Result<std::unique_ptr<Services>> Registry::seal() && {
  if (auto applied = apply_overrides(); !applied) {
    return std::unexpected(std::move(applied).error());
  }
  auto order = detail::plan(entries_, absent_);
  if (!order) return std::unexpected(std::move(order).error());
  std::unique_ptr<Services> services(new Services(std::move(entries_), *order, std::move(absent_)));
  if (auto made = services->make_singletons(); !made) {
    return std::unexpected(std::move(made).error());
  }
  return services;
}

}  // namespace katana::registry

// SPDX-License-Identifier: Apache-2.0
