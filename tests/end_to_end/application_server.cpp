// application_server: the program of the application guide, for the tests that signal it.
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "katana/app/application.hpp"
#include "katana/app/nats/nats.hpp"
#include "katana/app/sqlite/sqlite.hpp"
#include "katana/http/events/events.hpp"
#include "katana/http/forms/form.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/websocket.hpp"
#include "katana/http/middleware/rate_limit.hpp"
#include "katana/http/topics/topics.hpp"
#include "katana/identity/sessions/sessions.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/observe/audit/audit_log.hpp"
#include "katana/stores/cache/cache.hpp"

using namespace katana;

namespace {

struct Settings : app::SettingsWithDatabase {
  std::string greeting = "Hello";
};
KATANA_DESCRIBE_DERIVED(Settings, app::SettingsWithDatabase, (greeting, reloadable))

struct User {
  std::int64_t id = 0;
  std::string name;
};
KATANA_DESCRIBE(User, id, name)

Task<void> count_parts(Request request, ContentReader content, ReplyWriter reply) {
  FormResult form = co_await read_form(request, content);
  Reply answer =
      form ? Reply::text(format_text("{} parts", form->parts.size())) : std::move(form.error());
  co_await send(reply, std::move(answer));
}

void add_routes(const registry::Services& services, Router& router) {
  auto& config = services.get<config::Config<Settings>>();
  auto& database = services.get<database::Database>();
  auto& pool = services.get<thread::Pool>();
  const log::Logger logger = services.get<log::Log>().logger("handlers");
  router.get("/greeting", [&config] { return Reply::text(Text(config.get()->greeting)); });
  router.get("/users/{id}", [&database](Path<std::int64_t> id) -> Task<Result<Reply>> {
    const auto user =
        co_await database.query_one<User>("SELECT id, name FROM users WHERE id = $1", *id);
    if (!user) co_return std::unexpected(user.error());
    if (!*user) co_return problem(404, "There is no such user.");
    co_return Reply::text(Text((*user)->name));
  });
  router.get("/work", [&pool, logger]() -> Task<Reply> {
    const Result<int> answer = co_await pool.run([] { return 42; });
    logger.info("worked");
    co_return Reply::text(format_text("{}", answer.value_or(0)));
  });
  router.get("/sleep/{ms}", [](Path<std::int64_t> ms) -> Task<Reply> {
    co_await net::sleep_for(milliseconds(*ms));
    co_return Reply::text("slept");
  });
  // Hardly ever filled again, so that a test counts what one client gets.
  router.group("/limited").use(rate_limit({.per_second = 0.001, .burst = 5})).get("/", [] {
    return Reply::text("served");
  });
  router.post("/form", count_parts);
}

// Routes that fail, and routes that do a forbidden thing. Each reports it, and the program goes on.
void add_failures(const registry::Services& services, Router& router) {
  auto& pool = services.get<thread::Pool>();
  auto& database = services.get<database::Database>();
  router.get("/fail/throw", []() -> Reply {
    try {
      throw std::out_of_range("no row 7");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("cannot load the user"));
    }
  });
  router.get("/fail/statement", [&database]() -> Task<Result<Reply>> {
    const auto user =
        co_await database.query_one<User>("SELECT id, name FROM nowhere WHERE id = $1", 4711);
    if (!user) co_return std::unexpected(user.error());
    co_return Reply(204);
  });
  router.get("/fail/taken", [&database]() -> Task<Result<Reply>> {
    const auto made = co_await database.execute("INSERT INTO users VALUES (7, 'secret')");
    if (!made) co_return std::unexpected(made.error());
    co_return Reply(204);
  });
  router.get("/fail/field", [] { return Reply(200).with("X-Note", "a\nb"); });
  router.get("/fail/job", [&pool] {
    (void)pool.post([] { throw std::runtime_error("the job broke"); });
    return Reply(202);
  });
  router.get("/misuse/pool", [&pool, &database]() -> Task<Reply> {
    (void)co_await pool.run([&database] {
      auto task = [](database::Database& of) -> Task<void> {
        (void)co_await of.query_one<User>("SELECT id, name FROM users WHERE id = $1", 7);
      }(database);
      if (task.start()) task.result();
    });
    co_return Reply(204);
  });
  router.get("/misuse/wait", [&pool] {
    pool.submit([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }).wait();
    return Reply(204);
  });
}

// "subscribe NAME", or "publish NAME", which is a message of 100,000 bytes.
class TopicSocket final : public WebSocketHandler {
 public:
  explicit TopicSocket(Topics& topics) noexcept : topics_(topics) {}
  void on_message(WebSocket& socket, Bytes text, MessageKind) override {
    const Bytes name = text.substr(text.find(' ') + 1);
    if (text.starts_with("subscribe ")) {
      (void)topics_.subscribe(socket, name);
    } else {
      (void)topics_.publish(name, std::string(100'000, 't'), MessageKind::binary);
    }
    (void)socket.send_text("done");
  }

 private:
  Topics& topics_;
};

void add_topics(Router& router) {
  const auto topics = std::make_shared<Topics>();
  router.websocket("/topics",
                   [topics](const RequestView&) { return std::make_unique<TopicSocket>(*topics); });
}

// News between instances over the bus, where the settings name one. POST /news/{text} is an event
// of GET /news and a message to WebSocket on /news/socket, of every instance.
struct News {
  explicit News(bus::Bus& bus)
      : events({.heartbeat = seconds(1), .bus = &bus, .name = "news"}), topics({.bus = &bus}) {}
  EventTopic events;
  Topics topics;
};

class NewsSocket final : public WebSocketHandler {
 public:
  explicit NewsSocket(Topics& topics) noexcept : topics_(topics) {}
  void on_open(WebSocket& socket) override { (void)topics_.subscribe(socket, "news"); }
  void on_message(WebSocket&, Bytes, MessageKind) override {}

 private:
  Topics& topics_;
};

Result<Reply> tell_news(News& news, const std::string& text) {
  (void)news.topics.publish("news", text, MessageKind::text);
  if (auto told = news.events.publish({.data = text, .name = {}}); !told) {
    return std::unexpected(told.error());
  }
  return Reply(202);
}

void add_news(News& news, Router& router) {
  router.get("/news",
             [&news](const RequestView& request) { return news.events.subscribe(request); });
  router.post("/news/{text}", [&news](Path<std::string> text) { return tell_news(news, *text); });
  router.websocket("/news/socket", [&news](const RequestView&) {
    return std::make_unique<NewsSocket>(news.topics);
  });
}

// State that instances share, where the settings say so.
struct Visits {
  std::int64_t count = 0;
};
KATANA_DESCRIBE(Visits, count)

Task<Reply> count_visit(FromContext<sessions::UserSession> session) {
  const Result<std::optional<Visits>> before = co_await session->get<Visits>();
  if (!before) co_return problem(before.error());
  const Visits now{before->value_or(Visits{}).count + 1};
  const Result<void> kept = co_await session->set(now);
  if (!kept) co_return problem(kept.error());
  co_return Reply::text(format_text("{}", now.count));
}

using Names = cache::Cache<std::int64_t, std::string>;

Task<Result<Reply>> cached_name(Names names, database::Database& database, std::int64_t id) {
  auto load = [&database](std::int64_t key) -> Task<Result<std::optional<std::string>>> {
    const auto user =
        co_await database.query_one<User>("SELECT id, name FROM users WHERE id = $1", key);
    if (!user) co_return std::unexpected(user.error());
    co_return *user ? std::optional((*user)->name) : std::nullopt;
  };
  const Result<cache::Cached<std::string>> name = co_await names.get_or_load(id, load);
  if (!name) co_return std::unexpected(name.error());
  if (!*name) co_return problem(404, "There is no such user.");
  co_return Reply::text(Text(**name));
}

Result<void> add_shared(const registry::Services& services, Router& router) {
  if (services.find<sessions::Sessions>() != nullptr) router.get("/visits", count_visit);
  auto names = services.get<app::Caches>().make_shared<std::int64_t, std::string>(
      {.name = "names", .ttl = seconds(600)});
  if (!names) return std::unexpected(names.error());
  auto& database = services.get<database::Database>();
  router.get("/cached/{id}", [names = *names, &database](Path<std::int64_t> id) {
    return cached_name(names, database, *id);
  });
  router.get("/forget/{id}", [names = *names](Path<std::int64_t> id) -> Task<Result<Reply>> {
    const Result<void> gone = co_await names.remove_everywhere(*id);
    if (!gone) co_return std::unexpected(gone.error());
    co_return Reply(204);
  });
  return {};
}

// POST /recorded/{object}, where there is an audit log.
void add_records(audit::AuditLog& log, Router& router) {
  router.post("/recorded/{object}", [&log](Path<std::string> object) -> Task<Result<Reply>> {
    const audit::AuditEvent event{.action = "thing.change", .actor = "ann", .object = *object};
    const Result<void> kept = co_await log.record(event);
    if (!kept) co_return std::unexpected(kept.error());
    co_return Reply(204);
  });
}

// Mistakes of handlers: each keeps its reactor busy, for ever or for a given time.
void add_traps(const registry::Services& services, Router& router) {
  auto& pool = services.get<thread::Pool>();
  const auto spin = [](std::int64_t ms) {
    const auto began = std::chrono::steady_clock::now();
    const std::atomic<bool> stop = false;
    while (!stop && std::chrono::steady_clock::now() - began < std::chrono::milliseconds(ms)) {
    }
  };
  router.get("/spin/{ms}", [spin](Path<std::int64_t> ms) {
    spin(*ms);
    return Reply::text("spun");
  });
  router.get("/job/{ms}", [&pool, spin](Path<std::int64_t> ms) -> Task<Reply> {
    (void)co_await pool.run([spin, ms = *ms] { spin(ms); });
    co_return Reply::text("spun");
  });
}

}  // namespace

int main(int count, char** arguments) {
  app::Application<Settings> app(
      {.name = "application_server",
       .version = "1.0",
       .about =
           "Answers GET /greeting, /users/{id}, /work, /sleep/{ms}, /spin/{ms}, /job/{ms}, "
           "/limited/, /cached/{id}, /forget/{id}, /visits, /news, /fail/… and /misuse/…, POST "
           "/form, /news/{text} and /recorded/{object}, and WebSocket on /topics and "
           "/news/socket.",
       .database = app::sqlite(),
       .migrations = {{"0001_users.sql",
                       "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;"
                       "INSERT INTO users VALUES (7, 'ada');"}}});
  app.use(app::nats());
  app.services([](registry::Registry& registry) {
    registry.singleton<News>([](bus::Bus& bus) { return std::make_unique<News>(bus); });
  });
  app.on_start([&app](const registry::Services& services) -> Result<void> {
    const auto bus = services.get<config::Config<Settings>>().group<app::BusSettings>("bus");
    if (!bus->is_remote()) return {};
    return app.spawn([&news = services.get<News>()] { return news.events.follow(); }, "news");
  });
  app.routes([](const registry::Services& services, Router& router) -> Result<void> {
    add_news(services.get<News>(), router);
    add_routes(services, router);
    add_failures(services, router);
    add_topics(router);
    add_traps(services, router);
    if (auto* audit = services.find<audit::AuditLog>()) add_records(*audit, router);
    return add_shared(services, router);
  });
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
