// Bookmarks: the program, put together for main() and for its tests.
#pragma once

#include <functional>

#include "katana/application.hpp"

namespace bookmarks {

struct User {
  std::int64_t id = 0;
  std::string name;
};
// Who sends this Authorization field: a table here (accounts.cpp), elsewhere JWT or a provider.
struct Accounts {
  std::function<katana::Task<std::optional<User>>(std::string)> user_of;
};
std::unique_ptr<Accounts> own_accounts();

using Program = katana::host::Application<katana::host::SettingsWithDatabase>;
katana::host::ApplicationOptions options();
void configure(Program& app);

}  // namespace bookmarks

// SPDX-License-Identifier: Apache-2.0
