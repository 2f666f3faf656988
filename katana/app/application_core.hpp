// Application: a program that serves HTTP, from its command line to its exit status.
//
//   struct Settings : app::SettingsWithDatabase { std::size_t page_max = 100; };
//   KATANA_DESCRIBE_DERIVED(Settings, app::SettingsWithDatabase, page_max)
//
//   int main(int count, char** arguments) {
//     app::Application<Settings> app({.name = "users", .database = app::sqlite()});
//
//     app.services([](registry::Registry& registry) {
//       registry.singleton<Users>([](database::Database& database, log::Log& log) {
//         return std::make_unique<Users>(database, log.logger("users"));
//       });
//     });
//
//     app.routes([](const registry::Services& services, Router& router) {
//       Users& users = services.get<Users>();
//       router.get("/users/{id}", [&users](Path<std::int64_t> id) { return users.find(*id); });
//     });
//     return app.run(count, arguments);
//   }
//
// The parts start in this order:
//
//   1. configuration
//   2. log, metrics, pools, database, the systems of use() (part.hpp), and the bus, which is that
//      of the process unless the program names another
//   3. steps of part(), side by side where they do not need one another
//   4. services, then routes, then http
//
// Every program has /metrics, /health and /ready. The settings `operations` and http.hosts decide
// which clients see more of them than a status; see http/server/operations.hpp.
//
// The registry has these services:
//
//   - log::Log, metrics::Registry, metrics::HealthChecks, Observability, Pools
//   - thread::Pool (the pool "work"), bus::Bus, config::Config<Settings>
//   - redis::Client if redis.url is set
//   - database::Database, queue::JobQueue and client::HttpClient if the options have them
//   - Authentication (the settings `auth`), Caches and HttpCache (the settings `cache`),
//     idempotency::Idempotency
//
// Owns       all of it.
// Thread     one: main's. Blocks SIGINT, SIGTERM and SIGHUP from start() on, and ignores SIGPIPE.
//            From start() on only the user may change a file that the process makes. Only the user
//            and the group may read it (umask 027; a stricter one stays). The settings `process`
//            decide which other rights the process gives up: see process_rules.hpp.
// Allocates  at the start, at a reload and at the end.
// Fails      start() gives the Error of the part that failed, and stops all that was started. The
//            Error names the part, its need and the remedy. Then run() prints the Error and returns
//            1, or 2 when the command line or the configuration is wrong.
// Invariant  SIGTERM and SIGINT begin a graceful shutdown: /ready answers 503, and after
//            http.drain_notice no new connection is accepted. Requests in flight may finish until
//            http.drain_timeout, and the program logs which were finished and which cut off. A
//            second signal ends it at once. SIGHUP reads the configuration again and opens the
//            log's files anew. A wrong configuration changes nothing, and the log has its mistakes.
#pragma once

#include <concepts>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/app/application_options.hpp"
#include "katana/app/command_line.hpp"
#include "katana/app/part.hpp"
#include "katana/app/program_settings.hpp"
#include "katana/app/settings.hpp"
#include "katana/app/start_step.hpp"
#include "katana/base/registry/registry.hpp"
#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/data/config/config.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/jobs/job.hpp"
#include "katana/stores/jobs/queue/queue_handler.hpp"

namespace katana::app {

class ApplicationJobs;
struct Embedding;
class Program;
class Startup;

// The part of an Application that does not depend on the type of the settings.
class ApplicationCore {
 public:
  virtual ~ApplicationCore();
  ApplicationCore(const ApplicationCore&) = delete;
  ApplicationCore& operator=(const ApplicationCore&) = delete;

  // f(registry::Registry&): registers services. Returns nothing or Result<void>.
  template <class F>
  void services(F f) {
    set_services([f = std::move(f)](registry::Registry& registry) mutable {
      return as_result([&] { return f(registry); });
    });
  }
  // f(const registry::Services&, Router&): adds routes. Returns nothing or Result<void>. If it
  // throws, the start fails with its place, `where`, and the route that it added last.
  template <class F>
  void routes(F f, std::source_location where = std::source_location::current()) {
    set_routes(
        [f = std::move(f)](const registry::Services& services, Router& router) mutable {
          return as_result([&] { return f(services, router); });
        },
        where);
  }
  // f(const registry::Services&, Group&): adds pages for operators, such as a dashboard. They have
  // the guard of /metrics (http/server/operations.hpp) and are on the operations listener, if there
  // is one. Their paths must differ from the program's own. Returns nothing or Result<void>.
  template <class F>
  void operations(F f, std::source_location where = std::source_location::current()) {
    set_operations(
        [f = std::move(f)](const registry::Services& services, Group& group) mutable {
          return as_result([&] { return f(services, group); });
        },
        where);
  }
  // f(const registry::Services&): called once connections are accepted, on the thread of start().
  // Returns nothing or Result<void>; an Error fails the start.
  template <class F>
  void on_start(F f) {
    add_start_hook([f = std::move(f)](const registry::Services& services) mutable {
      return as_result([&] { return f(services); });
    });
  }
  // f(const registry::Services&): called on the thread of stop(), if the program had started.
  // Requests are then finished or cut off, and no part has stopped yet. The last one added runs
  // first. Returns nothing or Result<void>; an Error is logged, and the end goes on.
  template <class F>
  void on_stop(F f) {
    add_stop_hook([f = std::move(f)](const registry::Services& services) mutable {
      return as_result([&] { return f(services); });
    });
  }
  // f(const registry::Services&), or f(), either with a jobs::JobRun behind: a coroutine that gives
  // Task<void> or Task<Result<void>>. The first reactor runs it by `schedule`; see
  // stores/jobs/schedule.hpp and stores/jobs/job.hpp. Settings jobs.NAME may disable it, or give it
  // another schedule. Before start().
  //
  //   app.job("purge", jobs::every(seconds(600)), [](const registry::Services& services) {
  //     return services.get<Sessions>().purge();
  //   });
  template <class F>
  void job(std::string name, jobs::Schedule schedule, F f, jobs::JobOptions options = {}) {
    add_job(std::move(name), std::move(schedule), with_services(std::move(f)), options);
  }
  // f(Payload, queue::Delivery&), f(Payload), or either with a const registry::Services& in front:
  // a coroutine that gives Task<void> or Task<Result<void>>. The first reactor runs it for each job
  // that any process has queued under that name; see stores/jobs/queue/job_queue.hpp. Settings
  // queue.handlers.NAME change `options`. Before start(); the program has a database.
  //
  //   app.queue<Welcome>("welcome", [](const registry::Services& services, Welcome job) {
  //     return services.get<Mail>().welcome(job.user);
  //   });
  template <Described Payload, class F>
  void queue(std::string name, F f, queue::HandlerOptions options = {}) {
    add_queue({std::move(name), queue_handler<Payload>(std::move(f)), options});
  }
  // Runs a coroutine once on the first reactor, which keeps `f` until it has ended. The end of the
  // program waits for it up to http.drain_timeout, and then cancels it. `name` is for the record of
  // its failure. An Error: the program has not started, or serves no more. Any thread, from
  // on_start() on. Handlers use net::spawn() instead, which runs on their own reactor.
  template <class F>
  Result<void> spawn(F f, std::string name = {}) {
    return spawn_function(with_services(std::move(f)), std::move(name));
  }
  // Adds a system that the program uses, such as app::nats(); see part.hpp. Before start().
  void use(std::unique_ptr<Part> part);
  // Adds a step to the start, without settings. It may need "configuration", "log", "metrics",
  // "pools", "database", "services" and other parts; routes come after all of them.
  void part(StartStep step);

  // For main(): reads the command line, starts, serves and stops. Returns the exit status.
  int run(int count, const char* const* arguments);

  Result<void> start(const CommandLine& line = {});
  // Inside of a process that is not the program's: see embedding.hpp. serve() then only reports, of
  // a reactor that has stopped; shutdown() has it drain.
  Result<void> start(const CommandLine& line, Embedding embedding);
  // Returns after a signal or shutdown().
  server::ServerReport serve();
  // Ends serve() as SIGTERM does, of this application alone. At any time, also before start(): then
  // nothing is served. Called again, it does nothing. Any thread.
  void shutdown() noexcept;
  // Stops in the reverse order of the start. The destructor calls it.
  void stop() noexcept;

  // True while the program only prints its documents (--print-openapi). A part, or the factory of a
  // service, may then leave out objects that need a network.
  bool describes() const noexcept;

  // REQUIRE that start() has succeeded. The port and URL are those of the first listener.
  std::uint16_t port() const noexcept;
  std::string url() const;
  const server::HttpServer& server() const noexcept;
  log::Log& log() noexcept;
  // The options that were given to the constructor.
  const ApplicationOptions& options() const noexcept;
  const registry::Services& services() const noexcept;
  // The documents of its routes: Service::documents().
  std::vector<ServiceDocument> documents() const;
  const Startup& startup() const noexcept;
  const ApplicationJobs& jobs() const noexcept;
  // Reads the configuration again, as SIGHUP does. Any thread. The log has the result.
  Result<void> reload();

 protected:
  ApplicationCore(ApplicationOptions options, std::unique_ptr<ProgramSettings> settings);

 private:
  template <class Call>
  static Result<void> as_result(Call&& call) {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return {};
    } else {
      return call();
    }
  }

  template <class F>
  jobs::JobFunction with_services(F f) {
    if constexpr (std::invocable<F&, const registry::Services&, jobs::JobRun>) {
      return jobs::job_function(
          [this, f = std::move(f)](jobs::JobRun run) mutable { return f(services(), run); });
    } else if constexpr (std::invocable<F&, const registry::Services&>) {
      return jobs::job_function([this, f = std::move(f)]() mutable { return f(services()); });
    } else {
      return jobs::job_function(std::move(f));
    }
  }
  template <class Payload, class F>
  queue::Handler queue_handler(F f) {
    if constexpr (std::invocable<F&, const registry::Services&, Payload, queue::Delivery&>) {
      return queue::handler_of<Payload>(
          [this, f = std::move(f)](Payload payload, queue::Delivery& delivery) mutable {
            return f(services(), std::move(payload), delivery);
          });
    } else if constexpr (std::invocable<F&, const registry::Services&, Payload>) {
      return queue::handler_of<Payload>([this, f = std::move(f)](Payload payload) mutable {
        return f(services(), std::move(payload));
      });
    } else {
      return queue::handler_of<Payload>(std::move(f));
    }
  }
  void set_services(std::function<Result<void>(registry::Registry&)> f);
  void set_routes(std::function<Result<void>(const registry::Services&, Router&)> f,
                  const std::source_location& where);
  void set_operations(std::function<Result<void>(const registry::Services&, Group&)> f,
                      const std::source_location& where);
  void add_start_hook(std::function<Result<void>(const registry::Services&)> f);
  void add_stop_hook(std::function<Result<void>(const registry::Services&)> f);
  void add_job(std::string name, jobs::Schedule schedule, jobs::JobFunction f,
               jobs::JobOptions options);
  void add_queue(queue::QueueHandler handler);
  Result<void> spawn_function(jobs::JobFunction f, std::string name);

  const std::unique_ptr<Program> program_;
};

template <std::derived_from<ApplicationSettings> Settings = ApplicationSettings>
class Application final : public ApplicationCore {
 public:
  // Judges the settings as a whole, at the start and at a reload; see Config.
  using Check = typename config::Config<Settings>::Check;

  explicit Application(ApplicationOptions options, Check check = nullptr)
      : Application(std::move(options), std::make_unique<SettingsOf<Settings>>(check)) {}

  // REQUIRES that start() has succeeded.
  const config::Config<Settings>& config() const noexcept { return settings_.config(); }
  // f(const Settings&): called after a reload that changed something, on a thread of the pool
  // "work".
  void on_reload(std::function<void(const Settings&)> f) { settings_.on_reload(std::move(f)); }

 private:
  Application(ApplicationOptions options, std::unique_ptr<SettingsOf<Settings>> settings)
      : Application(std::move(options), *settings, std::move(settings)) {}
  Application(ApplicationOptions options, SettingsOf<Settings>& kept,
              std::unique_ptr<ProgramSettings> settings)
      : ApplicationCore(std::move(options), std::move(settings)), settings_(kept) {}

  SettingsOf<Settings>& settings_;  // the program owns them
};

// For main(): makes the program, gives it to `configure`, and runs it. Returns the exit status.
template <class Settings>
int run(ApplicationOptions options, void (*configure)(Application<Settings>&), int count,
        const char* const* arguments) {
  Application<Settings> app(std::move(options));
  configure(app);
  return app.run(count, arguments);
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
