#include "fullstack/users.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "katana/base.hpp"
#include "katana/http.hpp"
#include "katana/openapi.hpp"

namespace katana::fullstack {
namespace {

// A user is a name and an address: larger bodies are refused.
constexpr RouteOptions small_content{.content_bytes_max = 16 * 1024};

// The server may keep a user, and forgets it with a change; a client asks whether it has changed.
constexpr Bytes for_a_while = "max-age=0, s-maxage=60";

Reply no_such_user(std::int64_t id) {
  return problem(404, fmt::format("There is no user {}.", id));
}

constexpr ProblemType email_taken{
    .uri = "/problems/email-taken",
    .status = 409,
    .title = "The e-mail address is taken",
    .description = "Two users never share an address, whatever its case: take another one."};
constexpr ProblemType user_changed{
    .uri = "/problems/user-changed",
    .status = 412,
    .title = "The user has changed",
    .description = "If-Match does not match the current ETag of the user: get it again and retry."};

Reply changed_meanwhile() { return problem(user_changed, user_changed.description); }

Reply reply_with(const StoredUser& user, unsigned status) {
  return json_reply<User>(user, status).with_version(user.version);
}

// 409 when the address is taken; every other error is that of the database.
Result<Reply> refused(const database::Error& error) {
  if (error.kind() == database::Kind::constraint_violation && error.which() == "users.email") {
    return problem(email_taken, "Another user has this e-mail address.");
  }
  return std::unexpected(error);
}

}  // namespace

openapi::ProblemTypes problem_types() { return {email_taken, user_changed}; }

Task<Users::Found> Users::find(std::int64_t id) {
  co_return co_await database_.query_one<StoredUser>(
      "SELECT id, name, email, created_at, updated_at, version FROM users WHERE id = $1", id);
}

Users::Answer Users::list(std::string base, PageQuery page) {
  // One more than was asked for says whether there is another page.
  auto found = co_await database_.query<User>(
      "SELECT id, name, email, created_at, updated_at FROM users WHERE id > $1 ORDER BY id "
      "LIMIT $2",
      page.after, page.limit + 1);
  if (!found) co_return std::unexpected(found.error());
  UserPage answer{.users = *std::move(found), .next = {}};
  if (std::cmp_greater(answer.users.size(), page.limit)) {
    answer.users.resize(static_cast<std::size_t>(page.limit));
    answer.next =
        fmt::format("{}/users?limit={}&after={}", base, page.limit, answer.users.back().id);
  }
  Reply reply = json_reply(answer);
  if (answer.next) reply.add_field("Link", fmt::format("<{}>; rel=\"next\"", *answer.next));
  co_return reply;
}

Users::Answer Users::add(std::string base, NewUser user) {
  auto added = co_await database_.query_one<StoredUser>(
      "INSERT INTO users (name, email) VALUES ($1, $2) "
      "RETURNING id, name, email, created_at, updated_at, version",
      user);
  if (!added) co_return refused(added.error());
  Reply reply = reply_with(**added, 201);
  reply.add_field("Location", fmt::format("{}/users/{}", base, (*added)->id));
  co_return reply;
}

Users::Answer Users::get(std::int64_t id, Preconditions conditions) {
  const Found found = co_await find(id);
  if (!found) co_return std::unexpected(found.error());
  if (!*found) co_return no_such_user(id);
  if (auto refusal = conditions.refusal((*found)->version)) co_return *std::move(refusal);
  Reply reply = reply_with(**found, 200);
  reply.add_field("Cache-Control", for_a_while);
  co_return reply;
}

void Users::forget(std::int64_t id) const {
  for (const std::string_view base : {"/api", ""}) {
    pages_.invalidate(fmt::format("{}/users/{}", base, id));
  }
}

Users::Answer Users::put(std::int64_t id, NewUser user, Preconditions conditions) {
  std::optional<std::int64_t> version;  // the version that the user must still have
  if (conditions.any()) {
    const Found found = co_await find(id);
    if (!found) co_return std::unexpected(found.error());
    if (!*found) co_return no_such_user(id);
    auto refusal = conditions.refusal((*found)->version, user_changed);
    if (refusal) co_return *std::move(refusal);
    version = (*found)->version;
  }
  // The same content again changes nothing, not even the version: PUT is idempotent.
  const auto now = std::chrono::floor<std::chrono::seconds>(current_time());
  auto changed = co_await database_.query_one<StoredUser>(
      "UPDATE users SET name = $2, email = $3, "
      "version = CASE WHEN name <> $2 OR email <> $3 COLLATE \"binary\" "
      "THEN version + 1 ELSE version END, "
      "updated_at = CASE WHEN name <> $2 OR email <> $3 COLLATE \"binary\" "
      "THEN $5 ELSE updated_at END "
      "WHERE id = $1 AND version = coalesce($4, version) "
      "RETURNING id, name, email, created_at, updated_at, version",
      id, user.name, user.email, version, now);
  if (!changed) co_return refused(changed.error());
  if (!*changed) co_return version ? changed_meanwhile() : no_such_user(id);
  forget(id);
  co_return reply_with(**changed, 200);
}

Users::Answer Users::remove(std::int64_t id, Preconditions conditions) {
  std::optional<std::int64_t> version;
  if (conditions.any()) {
    const Found found = co_await find(id);
    if (!found) co_return std::unexpected(found.error());
    if (*found) {
      auto refusal = conditions.refusal((*found)->version, user_changed);
      if (refusal) co_return *std::move(refusal);
      version = (*found)->version;
    }
  }
  const auto removed = co_await database_.execute(
      "DELETE FROM users WHERE id = $1 AND version = coalesce($2, version)", id, version);
  if (!removed) co_return std::unexpected(removed.error());
  forget(id);
  if (*removed != 0) co_return Reply(204);
  if (version) co_return changed_meanwhile();
  // The user existed and is gone. Every repetition of the request gets the same reply.
  // katana: full scan is fine (it has a row for each table)
  const auto was_there = co_await database_.query_one<std::int64_t>(
      "SELECT count(*) FROM user_ids WHERE $1 BETWEEN 1 AND highest", id);
  if (!was_there) co_return std::unexpected(was_there.error());
  co_return **was_there != 0 ? Reply(204) : no_such_user(id);
}

namespace {

const openapi::ReplyField etag{.name = "ETag",
                               .description = "The version of the user, for If-Match."};
// In words, not as a parameter: a tool that tries out values of a parameter has no tag that fits.
const std::string if_match =
    "With If-Match (RFC 9110 §13.1.1) the change is made only if the user still has one of these "
    "entity tags.";

openapi::Operation words(std::string id, std::string summary, std::string description,
                         std::vector<unsigned> problems, std::vector<openapi::ReplyWords> replies) {
  openapi::Operation operation;
  operation.id = std::move(id);
  operation.summary = std::move(summary);
  operation.description = std::move(description);
  operation.tag = "users";
  operation.problems = std::move(problems);
  operation.replies = std::move(replies);
  return operation;
}

openapi::ReplyWords user_reply(unsigned status, std::string description) {
  return openapi::json_reply<User>(status, std::move(description), {etag});
}

openapi::Operation words_of_add() {
  openapi::Operation add_words =
      words("addUser", "Adds a user", "The id is the server's to give, and is never given again.",
            {406}, {user_reply(201, "The user was added.")});
  add_words.types = {&email_taken};
  openapi::ReplyWords& added = add_words.replies[0];
  added.fields.push_back({.name = "Location", .description = "Where the user is served."});
  for (const char* const next : {"getUser", "putUser", "deleteUser"}) {
    added.links.push_back(
        {.name = next, .operation_id = next, .parameters = {{"id", "$response.body#/id"}}});
  }
  add_words.examples = {
      {.name = "ada", .value = openapi::to_value(NewUser{"Ada Lovelace", "ada@example.org"})},
      {.name = "grace", .value = openapi::to_value(NewUser{"Grace Hopper", "grace@example.org"})}};
  return add_words;
}

}  // namespace

void Users::add_to(openapi::Routes& routes, const std::string& base) {
  using http::Method;
  openapi::Operation list_words =
      words("listUsers", "Users, by id, a page at a time",
            "`next` and Link name the page behind; a page that is the last has neither.", {406},
            {openapi::json_reply<UserPage>(200, "A page of users.",
                                           {{"Link", "The next page, if there is one."}})});
  routes.route(
      Method::get, "/users", [this, base](Query<PageQuery> page) { return list(base, *page); },
      list_words);

  routes.route(
      Method::post, "/users",
      [this, base](Json<NewUser> user) { return add(base, std::move(user.value)); }, words_of_add(),
      small_content);

  openapi::Operation get_words = words(
      "getUser", "One user", "With If-None-Match, only if it is another one by now.", {404, 406},
      {user_reply(200, "The user."),
       openapi::empty_reply(304, "If-None-Match names the present version.", {etag})});
  get_words.parameters = {{.name = "id", .description = "As addUser gave it."}};
  routes.route(
      Method::get, "/users/{id}",
      [this](Path<std::int64_t> id, Preconditions conditions) {
        return get(*id, std::move(conditions));
      },
      get_words);

  openapi::Operation put_words = words("putUser", "Replaces a user", if_match, {404, 406},
                                       {user_reply(200, "The user as it is from here on.")});
  put_words.types = {&email_taken, &user_changed};
  put_words.parameters = get_words.parameters;
  put_words.example = openapi::to_value(NewUser{"Ada King", "ada.king@example.org"});
  routes.route(
      Method::put, "/users/{id}",
      [this](Path<std::int64_t> id, Json<NewUser> user, Preconditions conditions) {
        return put(*id, std::move(user.value), std::move(conditions));
      },
      put_words, small_content);

  openapi::Operation delete_words =
      words("deleteUser", "Deletes a user", if_match, {404, 406},
            {openapi::empty_reply(204, "The user is gone; also when it was gone already.")});
  delete_words.types = {&user_changed};
  delete_words.parameters = get_words.parameters;
  routes.route(
      Method::delete_, "/users/{id}",
      [this](Path<std::int64_t> id, Preconditions conditions) {
        return remove(*id, std::move(conditions));
      },
      delete_words);
}

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
