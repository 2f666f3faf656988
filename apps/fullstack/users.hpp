// Users: the resource /users, over the database.
//
// Owns       nothing.
// Borrows    the database and the settings, which outlive it.
// Thread     any: its calls are coroutines of the reactor that makes them.
// Allocates  as the database and JSON do.
// Fails      every call gives a reply. Errors are problem documents: 404 there is no such user, 409
//            the e-mail address is taken, 412 If-Match does not match the ETag.
// Invariant  an address belongs to one user at most, whatever its case. A version is given once:
//            two states of a user never have the same entity tag. The id of a user who was deleted
//            is never given again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/base.hpp"
#include "katana/database.hpp"
#include "katana/http.hpp"
#include "katana/preconditions.hpp"

namespace katana::openapi {
class ProblemTypes;
class Routes;
}  // namespace katana::openapi

namespace katana::fullstack {

// The types of problems with a request about users; each has a page.
openapi::ProblemTypes problem_types();

struct NewUser {
  std::string name;
  std::string email;
};
KATANA_DESCRIBE(NewUser, (name, length(1, 80), help("The name of the user.")),
                (email, format::email, length(3, 254),
                 help("One e-mail address; two users never share one, whatever its case.")))

struct User {
  std::int64_t id = 0;
  std::string name;
  std::string email;
  std::chrono::sys_seconds created_at;
  std::chrono::sys_seconds updated_at;
};
KATANA_DESCRIBE(User, (id, at_least(1)), name, (email, format::email), created_at, updated_at)

struct StoredUser : User {
  std::int64_t version = 0;
};
KATANA_DESCRIBE(StoredUser, id, name, email, created_at, updated_at, version)

struct UserPage {
  std::vector<User> users;
  std::optional<std::string> next;
};
KATANA_DESCRIBE(UserPage, users,
                (next, help("Where the next page is; null when this is the last one.")))

struct PageQuery {
  std::int64_t limit = 20;
  std::int64_t after = 0;
};
KATANA_DESCRIBE_STRICT(PageQuery,
                       (limit, range(1, 100), defaulted, help("Users of a page, at most.")),
                       (after, at_least(0), defaulted,
                        help("The id of the last user of the page before; 0: from the first.")))

class Users {
 public:
  // `pages`: replies that are kept for a while, where the settings `cache.http` say so.
  Users(database::Database& database, HttpCache& pages) noexcept
      : database_(database), pages_(pages) {}

  // Adds GET, POST {base}/users and GET, PUT, DELETE {base}/users/{id}, and describes them.
  void add_to(openapi::Routes& routes, const std::string& base);

 private:
  using Answer = Task<Result<Reply>>;

  Answer list(std::string base, PageQuery page);
  Answer add(std::string base, NewUser user);
  Answer get(std::int64_t id, Preconditions conditions);
  Answer put(std::int64_t id, NewUser user, Preconditions conditions);
  Answer remove(std::int64_t id, Preconditions conditions);

  using Found = database::Result<std::optional<StoredUser>>;
  Task<Found> find(std::int64_t id);

  // The cached values about the user are dropped.
  void forget(std::int64_t id) const;

  database::Database& database_;
  HttpCache& pages_;
};

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
