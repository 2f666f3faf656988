// Deskbook: the desks of an office, and who has booked them. The program, put together for main()
// and for its tests.
#pragma once

#include "katana/application_postgres.hpp"
#include "katana/base.hpp"

namespace deskbook {

using namespace katana;

// The first account, which is made while there is none.
struct FirstAccount {
  std::string email = {};
  std::string password = {};
};
KATANA_DESCRIBE(FirstAccount, email, (password, secret, help("its hash, by `katana password`")))
struct Settings : app::SettingsWithDatabase {
  std::optional<std::string> token_key;
  std::string photos = "var/photos";
  std::chrono::minutes check_in_within{15};
  FirstAccount administrator;
};
KATANA_DESCRIBE_DERIVED(Settings, app::SettingsWithDatabase,
                        (token_key, secret, length(32, 1024),
                         help("signs tokens; without it they end with the process")),
                        (photos, help("the folder of photographs of desks")),
                        (check_in_within,
                         help("a booking without a check-in for so long is released")),
                        (administrator, help("the first account")))
using Program = app::Application<Settings>;
app::ApplicationOptions options();
void configure(Program& app);

}  // namespace deskbook

// SPDX-License-Identifier: Apache-2.0
