// RealWorld's API ("Conduit"): the program, put together for main() and for its tests.
#pragma once

#include "katana/application_sqlite.hpp"

namespace realworld {

using namespace katana;

struct Settings : app::SettingsWithDatabase {
  std::optional<std::string> token_key;
};
KATANA_DESCRIBE_DERIVED(Settings, app::SettingsWithDatabase,
                        (token_key, secret, length(32, 1024),
                         help("signs tokens; without it they end with the process")))
using Program = app::Application<Settings>;
app::ApplicationOptions options();
void configure(Program& app);

}  // namespace realworld

// SPDX-License-Identifier: Apache-2.0
