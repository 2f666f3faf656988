// Users: the five endpoints of a user service on a database, as a program would write them.
//
// Owns       nothing.
// Borrows    the database, which must outlive the service.
// Thread     the handlers run on reactors.
// Fails      a handler answers with a problem document.
#pragma once

#include <cstdint>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/described.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/stores/database/database.hpp"

namespace e2e {

struct User {
  std::int64_t id = 0;
  std::string name;
  std::string email;
};
KATANA_DESCRIBE(User, id, name, email)

struct NewUser {
  std::string name;
  std::string email;
};
KATANA_DESCRIBE(NewUser, (name, length(1, 80)), (email, format::email))

// Mounts GET, POST /users and GET, PUT, DELETE /users/{id}. For the benchmarks it also mounts GET
// /report, which reads every user, and POST /fill?from=&count=, which makes users.
void mount_users(katana::Group& routes, katana::database::Database& database);

// The table; ids 1 … rows. Blocks.
katana::Result<void> make_users(katana::database::Database& database, std::int64_t rows);

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
