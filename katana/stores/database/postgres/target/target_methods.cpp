// The list of require_auth.
#include <algorithm>
#include <array>

#include "katana/base/system/propagate.hpp"
#include "katana/stores/database/postgres/target/target_parts.hpp"
#include "katana/stores/database/postgres/target/values.hpp"

namespace katana::database::postgres::target {
namespace {

using katana::postgres::Methods;

struct NamedMethod {
  std::string_view name = {};
  bool Methods::* member = nullptr;  // null: libpq has it, and KATANA does not
};
constexpr std::array<NamedMethod, 7> named = {{{"scram-sha-256", &Methods::scram},
                                               {"md5", &Methods::md5},
                                               {"password", &Methods::cleartext},
                                               {"none", &Methods::nothing},
                                               {"gss"},
                                               {"sspi"},
                                               {"oauth"}}};

constexpr Methods every = {.scram = true, .md5 = true, .cleartext = true, .nothing = true};
constexpr Methods no_method = {.scram = false};

bool has_method(const Methods& methods) {
  return methods.scram || methods.md5 || methods.cleartext || methods.nothing;
}

}  // namespace

katana::Result<std::optional<Methods>> read_methods(const Settings& settings) {
  constexpr Keyword keyword = Keyword::require_auth;
  const Bytes list = settings.text(keyword);
  if (list.empty()) return std::optional<Methods>();
  const bool excludes = list.starts_with('!');
  Methods methods = excludes ? every : no_method;
  std::array<bool, named.size()> is_seen = {};
  for (Bytes part : split_list(list)) {
    if (part.starts_with('!') != excludes) {
      return wrong_value(settings, keyword, "either every method has a '!', or none has");
    }
    if (excludes) part.remove_prefix(1);
    const auto found = std::ranges::find(named, part, &NamedMethod::name);
    if (found == named.end()) {
      return wrong_value(settings, keyword,
                         "it is a list of scram-sha-256, md5, password and none");
    }
    bool& was_seen = is_seen[static_cast<std::size_t>(found - named.begin())];
    if (was_seen) return wrong_value(settings, keyword, "it has a method twice");
    was_seen = true;
    if (found->member != nullptr) methods.*(found->member) = !excludes;
  }
  if (!has_method(methods)) {
    return unsupported_value(settings, keyword, "add one of scram-sha-256, md5, password and none");
  }
  return std::optional(methods);
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
