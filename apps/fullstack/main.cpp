// fullstack: a small service with everything around it. Users and documents over SQLite or
// PostgreSQL, an OpenAPI description, a dashboard, metrics, health, logs, configuration, an orderly
// end.
//
// Read in this order: this file (what there is), users.cpp (a resource), live.cpp (the dashboard).
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fullstack/data.hpp"
#include "fullstack/live.hpp"
#include "fullstack/log_tail.hpp"
#include "fullstack/login.hpp"
#include "fullstack/pages.hpp"
#include "fullstack/users.hpp"
#include "fullstack_files.hpp"
#include "katana/application_nats.hpp"
#include "katana/application_postgres.hpp"
#include "katana/application_sqlite.hpp"
#include "katana/error_documents.hpp"
#include "katana/http.hpp"
#include "katana/openapi.hpp"
#include "katana/openapi_validation.hpp"
#include "migrations.hpp"  // made from migrations/ by the build

namespace katana::fullstack {
namespace {

struct Settings : app::ApplicationSettings {
  Settings() { log.file = "var/log/fullstack.log"; }
  LoginSettings login;
};
KATANA_DESCRIBE(Settings, development, http, operations, log, crash, profile, requests, monitor,
                pools, process, database, sessions, audit, cache, docs, restart, login)

// A login without a session would be forgotten, and one that other sites can use is no protection.
Result<void> check(const Settings& settings) {
  if (!settings.login.enabled) return {};
  if (settings.sessions.store == app::SessionPlace::off) {
    return fail(Code::invalid_argument,
                "login.enabled needs sessions: set sessions.store, for example to database");
  }
  if (!settings.http.csrf.enabled) {
    return fail(Code::invalid_argument, "login.enabled needs http.csrf.enabled: true");
  }
  return {};
}

app::ApplicationOptions options(std::shared_ptr<LogTail> tail) {
  app::ApplicationOptions options;
  options.name = "fullstack";
  options.version = KATANA_VERSION;
  options.about =
      "Users and documents over SQLite or PostgreSQL: GET /openapi.json describes what is served, "
      "GET / is a dashboard.";
  options.database = {app::sqlite(), app::postgres()};
  options.migrations = embedded::migrations();
  options.docs = openapi::swagger_ui();
  options.check_replies = openapi::check_replies;
  options.sinks = {{.output = std::move(tail)}};
  return options;
}

std::optional<Reply> require_json(const RequestView& request) {
  if (accepts(request.field("accept"), "application/json")) return std::nullopt;
  return problem(406, "This is served as application/json, which Accept does not take.");
}

openapi::Info info(std::string description) {
  return {.title = "KATANA full stack",
          .version = KATANA_VERSION,
          .description = std::move(description),
          .contact = {.name = "The operator of this service"},
          .license = {.name = "Apache-2.0", .identifier = "Apache-2.0"}};
}

const openapi::Tag users_tag{.name = "users",
                             .description = "People with a name and an e-mail address."};

openapi::Document described() {
  openapi::Document document(
      info("Users and documents. The paths under /api/users are under /users, too: see "
           "/openapi-root.json."));
  document.tag(users_tag)
      .tag({.name = "data", .description = "JSON documents of any shape, kept as they came."})
      .tag({.name = "operation", .description = "For those who run the program."})
      .problem_types(problem_types());
  return document;
}

// Its own document: a client that follows links would take one user for two.
openapi::Document described_at_root() {
  openapi::Document document(info("The users of /api/users under /users: the same users, with "
                                  "Location and Link as they were asked for."),
                             "root");
  document.tag(users_tag).problem_types(problem_types());
  return document;
}

// The reply of /health and /ready.
struct Check {
  std::string name;
  std::string kind;
  std::string status;
  double duration_ms = 0;
  double age_ms = 0;
  std::optional<std::string> detail;
};
KATANA_DESCRIBE(Check, name, kind, status, duration_ms, age_ms, (detail, help("Why it failed.")))
struct Health {
  std::string status;
  std::vector<Check> checks;
};
KATANA_DESCRIBE(Health, (status, pattern("[a-z]+"), help("pass or fail")), checks)

// Describes the routes that are served in addition to the API, for readers of the document.
void describe_operations(openapi::Document& document) {
  const auto add = [&document](std::string_view path, std::string id, std::string summary,
                               std::string description, std::vector<openapi::ReplyWords> replies) {
    openapi::Operation operation;
    operation.id = std::move(id);
    operation.summary = std::move(summary);
    operation.description = std::move(description);
    operation.tag = "operation";
    operation.replies = std::move(replies);
    document.add(http::Method::get, path, {}, operation);
  };
  const std::vector<openapi::ReplyWords> health = {
      openapi::json_reply<Health>(200, "Every check passed."),
      openapi::json_reply<Health>(503, "Some check did not pass.")};
  add("/health", "health", "Whether the program is alive",
      "A status for everybody; each check for those who may see the operations pages.", health);
  add("/ready", "ready", "Whether it may be sent requests",
      "As /health, with what the program needs: its database, its pools.", health);
  add("/metrics", "metrics", "Figures for Prometheus",
      "Every figure of the program, in the text format of Prometheus.",
      {openapi::text_reply(200, "Every figure.", "text/plain")});
}

Result<void> add_routes(const registry::Services& services, Router& router) {
  const auto settings = services.get<config::Config<Settings>>().get();
  const bool guarded = settings->login.enabled;
  router.error_documents(html_error_pages());
  if (guarded) {
    auto added = add_login(router, services, settings->login, settings->client);
    if (!added) return added;
  }
  openapi::Document document = described();
  Users& users = services.get<Users>();
  const HttpCache& pages = services.get<HttpCache>();

  Group api = router.group("/api");
  if (guarded) require_login(api, services.get<sessions::Sessions>());
  api.use({.before = require_json});
  if (settings->cache.http.enabled) api.use(pages.middleware());
  openapi::Routes routes = document.describe(api);
  users.add_to(routes, "/api");
  services.get<Data>().add_to(routes, "/api");

  Group bare = router.group("");
  if (guarded) require_login(bare, services.get<sessions::Sessions>());
  bare.use({.before = require_json});
  if (settings->cache.http.enabled) bare.use(pages.middleware());
  openapi::Document document_at_root = described_at_root();
  openapi::Routes at_root = document_at_root.describe(bare);
  users.add_to(at_root, "");

  describe_operations(document);
  document.serve(router);
  document_at_root.serve(router, "/openapi-root.json");
  problem_types().serve(router);
  return {};
}

// The dashboard shows the program's work, down to its log, to its operators.
void add_operations(const registry::Services& services, Group& pages) {
  add_pages(pages);
  services.get<Live>().add_to(pages);
}

}  // namespace
}  // namespace katana::fullstack

int main(int count, char** arguments) {
  using namespace katana;
  const auto tail = std::make_shared<fullstack::LogTail>();
  app::Application<fullstack::Settings> app(fullstack::options(tail), fullstack::check);
  app.use(app::nats());
  app.services([&tail](registry::Registry& registry) {
    using database::Database;
    registry.singleton<fullstack::Users>([](Database& database, HttpCache& pages) {
      return std::make_unique<fullstack::Users>(database, pages);
    });
    registry.singleton<fullstack::Data>(
        [](Database& database) { return std::make_unique<fullstack::Data>(database); });
    registry.singleton<fullstack::Live>(
        [&tail](Database& database, log::Log& log, server::Observability& observability) {
          return std::make_unique<fullstack::Live>(database, log, observability, tail);
        });
  });
  app.routes(fullstack::add_routes);
  app.operations(fullstack::add_operations);
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
