// Programs with a planted bug each, of kinds that production systems had, and the same without it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "katana/app/application.hpp"
#include "katana/app/sqlite/sqlite.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/http/client/request.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/testing/world/world.hpp"

namespace katana::testing::planted {

enum class Bug : std::uint8_t {
  none,
  lost_update,         // reads, then writes without a condition
  early_reply,         // acknowledges before the commit
  number_from_memory,  // numbers start again after a crash
  stale_cache,         // fills the cache after the invalidation
  repeated_deposit,    // repeats a call that is not idempotent
  double_delivery,     // delivers again after a crash, without a key
  missing_fence,       // takes writes of a worker whose lease another one has
  payment_checked,     // looks for the key of a payment, and then writes it
  half_transfer,       // two statements without a transaction
  session_revived,     // a request that runs beside the logout writes the session again
};

struct Text {
  std::string text;
};
KATANA_DESCRIBE(Text, text)
struct Number {
  std::int64_t number = 0;
};
KATANA_DESCRIBE(Number, number)
struct Letter {
  std::int64_t id = 0;
  std::string text;
};
KATANA_DESCRIBE(Letter, id, text)

inline std::string text_json(const std::string& text) {
  return fmt::format(R"({{"text":"{}"}})", text);
}

using Database = database::Database;
using Answer = Task<Result<Reply>>;

inline app::ApplicationOptions options() {
  return {
      .name = "planted",
      .database = app::sqlite(),
      .http_client = true,
      .migrations = {{"0001_all.sql",
                      "CREATE TABLE seats (number INTEGER PRIMARY KEY, owner TEXT) STRICT;"
                      "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT) STRICT;"
                      "CREATE TABLE orders (number INTEGER, text TEXT) STRICT;"
                      "CREATE TABLE deposits (id TEXT) STRICT;"
                      "CREATE TABLE letters (id INTEGER PRIMARY KEY, text TEXT, sent INTEGER "
                      "NOT NULL DEFAULT 0) STRICT;"
                      "CREATE TABLE inbox (text TEXT) STRICT;"
                      "CREATE TABLE leases (token INTEGER PRIMARY KEY, until_ms INTEGER) STRICT;"
                      "CREATE TABLE log (id INTEGER PRIMARY KEY, token INTEGER) STRICT;"
                      "CREATE TABLE payments (key TEXT) STRICT;"
                      "CREATE TABLE accounts (name TEXT PRIMARY KEY, amount INTEGER NOT NULL) "
                      "STRICT; INSERT INTO accounts VALUES ('a', 100), ('b', 100);"
                      "CREATE TABLE sessions (id TEXT PRIMARY KEY, uses INTEGER) STRICT"}}};
}

template <class R>
Result<Reply> created_or(const R& done) {
  if (!done) return std::unexpected(done.error());
  return *done == 0 ? problem(409, "It is taken.") : Reply::no_content();
}

template <class R>
Result<Reply> written(const R& done) {
  if (!done) return std::unexpected(done.error());
  return Reply::no_content();
}

template <class R>
Result<Reply> numbered(const R& made) {
  if (!made) return std::unexpected(made.error());
  return Reply::text(std::to_string((*made)->number));
}

template <class R, class F>
Result<Reply> answered(const R& rows, F text_of) {
  if (!rows) return std::unexpected(rows.error());
  std::string text;
  for (const auto& each : *rows) text += text_of(each) + "\n";
  return Reply::text(text);
}

// ---- lost update

template <Bug bug>
Answer book(Path<std::int64_t> seat, Json<Text> who, Inject<Database> db) {
  if constexpr (bug == Bug::lost_update) {
    auto found =
        co_await db->query_one<Number>("SELECT number FROM seats WHERE number = $1", *seat);
    if (!found) co_return std::unexpected(found.error());
    if (*found) co_return problem(409, "It is taken.");
    co_return created_or(co_await db->execute(
        "INSERT INTO seats VALUES ($1, $2) ON CONFLICT (number) DO UPDATE SET owner = $2", *seat,
        who->text));
  } else {
    co_return created_or(co_await db->execute(
        "INSERT INTO seats VALUES ($1, $2) ON CONFLICT DO NOTHING", *seat, who->text));
  }
}

// ---- acknowledged before commit

inline Task<void> write_note(Database& db, std::int64_t id, std::string text) {
  (void)co_await db.execute("INSERT INTO notes VALUES ($1, $2) ON CONFLICT DO NOTHING", id, text);
}

template <Bug bug>
Answer add_note(Path<std::int64_t> id, Json<Text> text, Inject<Database> db) {
  if constexpr (bug == Bug::early_reply) {
    (void)net::spawn(write_note(*db, *id, text->text), "write");
    co_return Reply::no_content();
  } else {
    auto done = co_await db->execute("INSERT INTO notes VALUES ($1, $2) ON CONFLICT DO NOTHING",
                                     *id, text->text);
    co_return created_or(done);
  }
}
inline Answer list_notes(Inject<Database> db) {
  auto rows = co_await db->query<Number>("SELECT id AS number FROM notes LIMIT 1000");
  co_return answered(rows, [](const Number& each) { return std::to_string(each.number); });
}

// ---- numbers from memory

struct Counter {
  std::int64_t next = 0;
};

template <Bug bug>
Answer add_order(Json<Text> text, Inject<Database> db, Inject<Counter> counter) {
  const std::int64_t number = ++counter->next;
  if constexpr (bug == Bug::number_from_memory) {
    co_return numbered(co_await db->query_one<Number>(
        "INSERT INTO orders VALUES ($1, $2) RETURNING number", number, text->text));
  } else {
    co_return numbered(co_await db->query_one<Number>(
        "INSERT INTO orders SELECT coalesce(max(number), 0) + 1, $1 FROM orders RETURNING number",
        text->text));
  }
}

// ---- a cache in front of the notes of another node

struct Cache {
  std::map<std::int64_t, std::string> texts;
  std::uint64_t generation = 0;
};

inline Answer read_note(Path<std::int64_t> id, Inject<Database> db) {
  auto found = co_await db->query_one<Text>("SELECT text FROM notes WHERE id = $1", *id);
  if (!found) co_return std::unexpected(found.error());
  co_return Reply::text(*found ? (*found)->text : std::string("none"));
}
inline Answer change_note(Path<std::int64_t> id, Json<Text> text, Inject<Database> db) {
  co_return created_or(co_await db->execute(
      "INSERT INTO notes VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET text = $2", *id,
      text->text));
}
template <Bug bug>
Answer read_cached(Path<std::int64_t> id, Inject<Cache> cache, Inject<client::HttpClient> http) {
  if (const auto found = cache->texts.find(*id); found != cache->texts.end()) {
    co_return Reply::text(found->second);
  }
  const std::uint64_t generation = cache->generation;
  auto reply = co_await http->fetch(client::Request(fmt::format("http://store/notes/{}", *id)));
  if (!reply) co_return problem(502, reply.error().describe());
  const std::string text(reply->content());
  if (bug == Bug::stale_cache || generation == cache->generation) cache->texts[*id] = text;
  co_return Reply::text(text);
}
inline Answer change_cached(Path<std::int64_t> id, Json<Text> text, Inject<Cache> cache,
                            Inject<client::HttpClient> http) {
  auto reply =
      co_await http->fetch(client::Request("PUT", fmt::format("http://store/notes/{}", *id))
                               .content(text_json(text->text), "application/json"));
  cache->texts.erase(*id);
  ++cache->generation;
  if (!reply) co_return problem(502, reply.error().describe());
  co_return Reply::no_content();
}

// ---- a deposit by another node

inline Answer take_deposit(Path<std::string> id, Inject<Database> db) {
  co_return created_or(co_await db->execute("INSERT INTO deposits VALUES ($1)", *id));
}
template <Bug bug>
Answer pass_deposit(Path<std::string> id, Inject<client::HttpClient> http) {
  client::Request request("POST", "http://store/deposits/" + *id);
  if constexpr (bug == Bug::repeated_deposit) request.repeatable();
  auto reply = co_await http->fetch(std::move(request));
  if (!reply) co_return problem(502, reply.error().describe());
  Reply passed = Reply::text(std::string(reply->content()));
  passed.set_status(reply->status());
  co_return passed;
}
inline Answer list_deposits(Inject<Database> db) {
  auto rows = co_await db->query<Text>("SELECT id AS text FROM deposits LIMIT 1000");
  co_return answered(rows, [](const Text& each) { return each.text; });
}

// ---- letters that a job delivers to another node

inline Answer write_letter(Path<std::int64_t> id, Json<Text> text, Inject<Database> db) {
  co_return created_or(co_await db->execute(
      "INSERT INTO letters (id, text) VALUES ($1, $2) ON CONFLICT DO NOTHING", *id, text->text));
}
inline Task<Result<void>> deliver(const registry::Services& services) {
  auto& db = services.get<Database>();
  auto rows =
      co_await db.query<Letter>("SELECT id, text FROM letters WHERE sent = 0 ORDER BY id LIMIT 10");
  if (!rows) co_return std::unexpected(rows.error());
  for (const Letter& each : *rows) {
    auto reply = co_await services.get<client::HttpClient>().fetch(
        client::Request("POST", "http://store/inbox")
            .content(text_json(each.text), "application/json"));
    if (!reply || reply->status() / 100 != 2) continue;
    (void)co_await db.execute("UPDATE letters SET sent = 1 WHERE id = $1", each.id);
  }
  co_return Result<void>();
}
template <Bug bug>
Answer take_letter(Json<Text> text, Inject<Database> db) {
  if constexpr (bug == Bug::double_delivery) {
    co_return written(co_await db->execute("INSERT INTO inbox VALUES ($1)", text->text));
  } else {
    co_return written(co_await db->execute(
        "INSERT INTO inbox SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM inbox WHERE text = $1)",
        text->text));
  }
}
inline Answer list_inbox(Inject<Database> db) {
  auto rows = co_await db->query<Text>("SELECT text FROM inbox LIMIT 1000");
  co_return answered(rows, [](const Text& each) { return each.text; });
}

// ---- a lease, and what its holder writes

inline std::int64_t now_ms() {
  return std::chrono::floor<std::chrono::milliseconds>(current_time()).time_since_epoch().count();
}
inline Answer take_lease(Inject<Database> db) {
  auto made = co_await db->query_one<Number>(
      "INSERT INTO leases SELECT coalesce(max(token), 0) + 1, $1 FROM leases "
      "HAVING coalesce(max(until_ms), 0) <= $2 RETURNING token AS number",
      now_ms() + 300, now_ms());
  if (!made) co_return std::unexpected(made.error());
  if (!*made) co_return problem(409, "Another one has it.");
  co_return Reply::text(std::to_string((*made)->number));
}
template <Bug bug>
Answer write_with_lease(Path<std::int64_t> token, Inject<Database> db) {
  if constexpr (bug == Bug::missing_fence) {
    co_return created_or(co_await db->execute("INSERT INTO log (token) VALUES ($1)", *token));
  } else {
    co_return created_or(co_await db->execute(
        "INSERT INTO log (token) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM log WHERE token > $1)",
        *token));
  }
}
inline Answer list_log(Inject<Database> db) {
  auto rows = co_await db->query<Number>("SELECT token AS number FROM log ORDER BY id LIMIT 1000");
  co_return answered(rows, [](const Number& each) { return std::to_string(each.number); });
}

// ---- payments with a key, and transfers

template <Bug bug>
Answer pay(Path<std::string> key, Inject<Database> db) {
  if constexpr (bug == Bug::payment_checked) {
    auto found =
        co_await db->query_one<Text>("SELECT key AS text FROM payments WHERE key = $1", *key);
    if (!found) co_return std::unexpected(found.error());
    if (*found) co_return Reply::no_content();
    co_return written(co_await db->execute("INSERT INTO payments VALUES ($1)", *key));
  } else {
    co_return written(co_await db->execute(
        "INSERT INTO payments SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM payments WHERE key = $1)",
        *key));
  }
}
inline Answer list_payments(Inject<Database> db) {
  auto rows = co_await db->query<Text>("SELECT key AS text FROM payments LIMIT 1000");
  co_return answered(rows, [](const Text& each) { return each.text; });
}
template <Bug bug>
Answer transfer(Inject<Database> db) {
  if constexpr (bug == Bug::half_transfer) {
    auto taken = co_await db->execute("UPDATE accounts SET amount = amount - 1 WHERE name = 'a'");
    if (!taken) co_return std::unexpected(taken.error());
    co_return written(
        co_await db->execute("UPDATE accounts SET amount = amount + 1 WHERE name = 'b'"));
  } else {
    co_return written(co_await db->execute(
        "UPDATE accounts SET amount = amount + CASE name WHEN 'a' THEN -1 ELSE 1 END"));
  }
}
inline Answer sum_accounts(Inject<Database> db) {
  co_return numbered(co_await db->query_one<Number>("SELECT sum(amount) AS number FROM accounts"));
}

// ---- sessions

inline Answer log_in(Path<std::string> id, Inject<Database> db) {
  co_return created_or(
      co_await db->execute("INSERT INTO sessions VALUES ($1, 0) ON CONFLICT DO NOTHING", *id));
}
inline Answer log_out(Path<std::string> id, Inject<Database> db) {
  auto done = co_await db->execute("DELETE FROM sessions WHERE id = $1", *id);
  if (!done) co_return std::unexpected(done.error());
  co_return Reply::no_content();
}
template <Bug bug>
Answer use_session(Path<std::string> id, Inject<Database> db) {
  auto found =
      co_await db->query_one<Number>("SELECT uses AS number FROM sessions WHERE id = $1", *id);
  if (!found) co_return std::unexpected(found.error());
  if (!*found) co_return problem(401, "Log in.");
  const std::int64_t uses = (*found)->number + 1;
  if constexpr (bug == Bug::session_revived) {
    co_return written(co_await db->execute(
        "INSERT INTO sessions VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET uses = $2", *id,
        uses));
  } else {
    co_return written(
        co_await db->execute("UPDATE sessions SET uses = $2 WHERE id = $1", *id, uses));
  }
}

template <Bug bug>
void configure(app::Application<app::SettingsWithDatabase>& app) {
  app.services([](registry::Registry& registry) {
    registry.singleton<Counter>([] { return std::make_unique<Counter>(); });
    registry.singleton<Cache>([] { return std::make_unique<Cache>(); });
  });
  app.routes([](const registry::Services&, Router& router) {
    router.post("/seats/{seat}", book<bug>);
    router.post("/notes/{id}", add_note<bug>);
    router.put("/notes/{id}", change_note);
    router.get("/notes/{id}", read_note);
    router.get("/notes", list_notes);
    router.post("/orders", add_order<bug>);
    router.get("/cached/{id}", read_cached<bug>);
    router.put("/cached/{id}", change_cached);
    router.post("/deposits/{id}", take_deposit);
    router.post("/pass/{id}", pass_deposit<bug>);
    router.get("/deposits", list_deposits);
    router.post("/letters/{id}", write_letter);
    router.post("/inbox", take_letter<bug>);
    router.get("/inbox", list_inbox);
    router.post("/leases", take_lease);
    router.post("/log/{token}", write_with_lease<bug>);
    router.get("/log", list_log);
    router.post("/payments/{key}", pay<bug>);
    router.get("/payments", list_payments);
    router.post("/transfers", transfer<bug>);
    router.get("/accounts", sum_accounts);
    router.post("/sessions/{id}", log_in);
    router.delete_("/sessions/{id}", log_out);
    router.get("/sessions/{id}", use_session<bug>);
  });
  app.job("deliver", jobs::every(milliseconds(50)), deliver);
}

}  // namespace katana::testing::planted

// SPDX-License-Identifier: Apache-2.0
