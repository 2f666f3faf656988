#include "katana/stores/database/postgres/target/defaults.hpp"

#include "katana/base/system/propagate.hpp"
#include "katana/stores/database/postgres/target/service_file.hpp"

namespace katana::database::postgres::target {
namespace {

void add_variables(Settings& settings, const Sources& sources) {
  for (const KeywordFacts& each : keywords()) {
    if (each.environment == nullptr || settings.find(each.keyword)) continue;
    auto value = sources.variable(each.environment);
    if (!value) continue;
    settings.set(each.keyword, *value, Origin::environment);
    erase_secret(*value);
  }
  // PGREQUIRESSL is the older name of PGSSLMODE=require.
  const auto require = sources.variable("PGREQUIRESSL");
  if (require && require->starts_with('1')) {
    settings.set_if_absent(Keyword::sslmode, "require", Origin::environment);
  }
}

}  // namespace

katana::Result<void> add_defaults(Settings& settings, const Sources& sources) {
  KATANA_TRY_DONE(add_service(settings, sources));
  add_variables(settings, sources);
  if (settings.text(Keyword::sslrootcert) == "system") {
    settings.set_if_absent(Keyword::sslmode, "verify-full", Origin::fallback);
  }
  if (!sources.user.empty()) {
    settings.set_if_absent(Keyword::user, sources.user, Origin::fallback);
  }
  for (const KeywordFacts& each : keywords()) {
    if (each.fallback == nullptr) continue;
    settings.set_if_absent(each.keyword, each.fallback, Origin::fallback);
  }
  return {};
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
