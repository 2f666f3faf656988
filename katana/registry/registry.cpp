#include "katana/registry/registry.hpp"

#include <fmt/format.h>

#include "katana/registry/plan.hpp"

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

Result<std::unique_ptr<Services>> Registry::seal() && {
  auto order = detail::plan(entries_);
  if (!order) return std::unexpected(std::move(order).error());
  std::unique_ptr<Services> services(new Services(std::move(entries_), *order));
  if (auto made = services->make_singletons(); !made) {
    return std::unexpected(std::move(made).error());
  }
  return services;
}

}  // namespace katana::registry
