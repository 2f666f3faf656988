// Bookmarks: what the service is made of, for main() and for its tests.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/task.hpp"
#include "katana/database/migrations.hpp"
#include "katana/registry/registry.hpp"
#include "katana/service/router.hpp"

namespace bookmarks {

struct User {
  std::int64_t id = 0;
  std::string name;
};
// Who sends this Authorization field: a table here (accounts.cpp), elsewhere JWT or a provider.
struct Accounts {
  std::function<katana::Task<std::optional<User>>(std::string)> user_of;
};
// What a page elsewhere is called.
struct Titles {
  std::function<katana::Task<katana::Result<std::string>>(std::string url)> title_of;
};
std::unique_ptr<Accounts> own_accounts();
katana::Result<std::unique_ptr<Titles>> web_titles();

std::vector<katana::database::MigrationFile> migrations();
void add_routes(const katana::registry::Services& services, katana::Router& router);
// A job: asks again for the titles that are not known yet.
katana::Task<katana::Result<void>> find_titles(const katana::registry::Services& services);

}  // namespace bookmarks
