// Users over SQLite by Drogon and its SQLite client. Four readers and one writer each have a
// connection and a thread; handlers are coroutines.
//   main_job_drogon --port PORT --database FILE
#include <drogon/HttpAppFramework.h>
#include <drogon/orm/DbClient.h>
#include <drogon/orm/Exception.h>
#include <json/json.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace drogon;
using orm::DbClientPtr;

constexpr const char* pragmas[] = {"PRAGMA busy_timeout = 5000", "PRAGMA journal_mode = WAL",
                                   "PRAGMA synchronous = FULL", "PRAGMA cache_size = -8192"};
constexpr const char* schema =
    "CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, "
    "email TEXT NOT NULL UNIQUE) STRICT";
constexpr std::size_t reader_count = 4;

DbClientPtr connect(const std::string& file) {
  DbClientPtr client = orm::DbClient::newSqlite3Client("filename=" + file, 1);
  for (const char* pragma : pragmas) client->execSqlSync(pragma);
  return client;
}

class Users {
 public:
  explicit Users(const std::string& file) : writer_(connect(file)) {
    writer_->execSqlSync(schema);
    for (std::size_t index = 0; index < reader_count; ++index) readers_.push_back(connect(file));
  }

  const DbClientPtr& reader() { return readers_[next_++ % reader_count]; }
  const DbClientPtr& writer() const { return writer_; }

 private:
  DbClientPtr writer_;
  std::vector<DbClientPtr> readers_;
  std::atomic<std::size_t> next_ = 0;
};

HttpResponsePtr refused(HttpStatusCode status, const char* why) {
  Json::Value content;
  content["error"] = why;
  auto reply = HttpResponse::newHttpJsonResponse(content);
  reply->setStatusCode(status);
  return reply;
}

Json::Value to_json(const orm::Row& row) {
  Json::Value user;
  user["id"] = Json::Int64{row[0].as<std::int64_t>()};
  user["name"] = row[1].as<std::string>();
  user["email"] = row[2].as<std::string>();
  return user;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parameter(const HttpRequestPtr& request, const char* name,
                                      std::int64_t usual, std::int64_t least, std::int64_t most) {
  const std::string& text = request->getParameter(name);
  if (text.empty()) return usual;
  const auto value = number_in(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (const char octet : text) count += (octet & 0xC0) != 0x80;
  return count;
}

Task<HttpResponsePtr> find(Users& users, std::string text) {
  const auto id = number_in(text);
  if (!id) co_return refused(k400BadRequest, "id is a number");
  const auto rows =
      co_await users.reader()->execSqlCoro("SELECT id, name, email FROM users WHERE id = ?", *id);
  if (rows.empty()) co_return refused(k404NotFound, "There is no such user.");
  co_return HttpResponse::newHttpJsonResponse(to_json(rows[0]));
}

Task<HttpResponsePtr> page(Users& users, HttpRequestPtr request) {
  const auto after = parameter(request, "after", 0, 0, INT64_MAX);
  const auto limit = parameter(request, "limit", 20, 1, 100);
  if (!after || !limit) co_return refused(k400BadRequest, "after is at least 0, limit 1 to 100");
  // One more than was asked for says whether there is another page.
  const auto rows = co_await users.reader()->execSqlCoro(
      "SELECT id, name, email FROM users WHERE id > ? ORDER BY id LIMIT ?", *after, *limit + 1);
  Json::Value found;
  found["users"] = Json::Value(Json::arrayValue);
  for (const auto& row : rows) {
    if (found["users"].size() < static_cast<unsigned>(*limit)) found["users"].append(to_json(row));
  }
  const bool has_more = rows.size() > static_cast<std::size_t>(*limit);
  found["next"] =
      has_more ? found["users"][static_cast<Json::ArrayIndex>(*limit) - 1]["id"] : Json::Value();
  co_return HttpResponse::newHttpJsonResponse(std::move(found));
}

Task<HttpResponsePtr> add(Users& users, HttpRequestPtr request) {
  const auto given = request->getJsonObject();
  if (!given || !given->isObject() || !(*given)["name"].isString() ||
      !(*given)["email"].isString()) {
    co_return refused(k400BadRequest, "the content is no JSON object of a name and an email");
  }
  const std::string name = (*given)["name"].asString(), email = (*given)["email"].asString();
  if (characters(name) < 1 || characters(name) > 100) {
    co_return refused(k422UnprocessableEntity, "name has 1 to 100 characters");
  }
  if (characters(email) > 200 || email.find('@') == email.npos) {
    co_return refused(k422UnprocessableEntity, "email has an @, and at most 200 characters");
  }
  std::optional<std::string> failure;
  try {
    const auto done = co_await users.writer()->execSqlCoro(
        "INSERT INTO users (name, email) VALUES (?, ?)", name, email);
    Json::Value user;
    user["id"] = Json::Int64{static_cast<std::int64_t>(done.insertId())};
    user["name"] = name;
    user["email"] = email;
    auto reply = HttpResponse::newHttpJsonResponse(user);
    reply->setStatusCode(k201Created);
    reply->addHeader("Location", "/users/" + std::to_string(done.insertId()));
    co_return reply;
  } catch (const orm::DrogonDbException& error) {
    failure = error.base().what();
  }
  if (failure->find("UNIQUE constraint failed") != failure->npos) {
    co_return refused(k409Conflict, "Another user has this e-mail address.");
  }
  std::cerr << *failure << '\n';
  co_return refused(k500InternalServerError, "the database failed");
}

HttpResponsePtr health() {
  Json::Value content;
  content["status"] = "pass";
  return HttpResponse::newHttpJsonResponse(content);
}

}  // namespace

int main(int count, char** arguments) {
  std::string file;
  int port = 0;
  for (int index = 1; index + 1 < count; index += 2) {
    if (std::string_view(arguments[index]) == "--port") port = std::atoi(arguments[index + 1]);
    if (std::string_view(arguments[index]) == "--database") file = arguments[index + 1];
  }
  if (port == 0 || file.empty()) {
    std::cerr << "usage: main_job_drogon --port PORT --database FILE\n";
    return 2;
  }
  Users users(file);
  auto& server = app();
  server.registerHandler(
      "/health",
      [](const HttpRequestPtr&, std::function<void(const HttpResponsePtr&)>&& reply) {
        reply(health());
      },
      {Get});
  server.registerHandler("/users/{id}",
                         [&users](HttpRequestPtr, std::string id) -> Task<HttpResponsePtr> {
                           co_return co_await find(users, std::move(id));
                         },
                         {Get});
  server.registerHandler("/users",
                         [&users](HttpRequestPtr request) -> Task<HttpResponsePtr> {
                           co_return co_await page(users, std::move(request));
                         },
                         {Get});
  server.registerHandler("/users",
                         [&users](HttpRequestPtr request) -> Task<HttpResponsePtr> {
                           co_return co_await add(users, std::move(request));
                         },
                         {Post});
  server
      .setThreadNum(1)  // as many as CPUs that it may use
      .setLogLevel(trantor::Logger::kWarn)
      .addListener("127.0.0.1", static_cast<std::uint16_t>(port))
      .run();
}

// SPDX-License-Identifier: Apache-2.0
