// Bookmarks: the program, put together for main() and for its tests.
#pragma once

#include "katana/application.hpp"
#include "katana/auth.hpp"

namespace bookmarks {

using Program = katana::host::Application<katana::host::SettingsWithDatabase>;
katana::host::ApplicationOptions options();
void configure(Program& app);

}  // namespace bookmarks

// SPDX-License-Identifier: Apache-2.0
