#include "katana/stores/database/postgres/target/settings.hpp"

#include <fmt/format.h>

#include "katana/base/system/check.hpp"

namespace katana::database::postgres::target {

std::optional<Bytes> Settings::find(Keyword keyword) const noexcept {
  if (!at(keyword)) return std::nullopt;
  return at(keyword)->text.reveal();
}

Bytes Settings::text(Keyword keyword) const noexcept { return find(keyword).value_or(Bytes()); }

Origin Settings::origin(Keyword keyword) const noexcept {
  KATANA_REQUIRE(at(keyword));
  return at(keyword)->origin;
}

std::string Settings::describe(Keyword keyword) const {
  const KeywordFacts& facts = facts_of(keyword);
  if (!at(keyword)) return std::string(facts.name);
  switch (at(keyword)->origin) {
    case Origin::service_file: return fmt::format("{} (of the service file)", facts.name);
    case Origin::environment: return fmt::format("{} (of {})", facts.name, facts.environment);
    default: return std::string(facts.name);
  }
}

void Settings::set(Keyword keyword, Bytes value, Origin origin) {
  values_[static_cast<std::size_t>(keyword)] = Value{SecretText(value), origin};
}

void Settings::set_if_absent(Keyword keyword, Bytes value, Origin origin) {
  if (!at(keyword)) set(keyword, value, origin);
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
