// Bookmarks: the program, put together for main() and for its tests.
#pragma once

#include "katana/application.hpp"
#include "katana/auth.hpp"

namespace bookmarks {

using Program = katana::app::Application<katana::app::SettingsWithDatabase>;
katana::app::ApplicationOptions options();
void configure(Program& app);

}  // namespace bookmarks

// SPDX-License-Identifier: Apache-2.0
