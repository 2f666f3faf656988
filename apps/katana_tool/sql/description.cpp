#include "katana_tool/sql/description.hpp"

#include <array>
#include <utility>

namespace katana::tool::sql {
namespace {

constexpr std::array<std::pair<Storage, std::string_view>, 6> storage_names = {
    {{Storage::any, "any"},
     {Storage::integer, "integer"},
     {Storage::real, "real"},
     {Storage::text, "text"},
     {Storage::blob, "blob"},
     {Storage::none, "none"}}};

}  // namespace

std::string_view storage_name(Storage storage) noexcept {
  return storage_names[static_cast<std::size_t>(storage)].second;
}

std::optional<Storage> storage_named(std::string_view name) noexcept {
  for (const auto& [storage, its] : storage_names) {
    if (its == name) return storage;
  }
  return std::nullopt;
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
