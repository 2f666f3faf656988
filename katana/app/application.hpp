// Application: a program that serves HTTP, from its command line to its exit status.
//
//   struct Settings : app::SettingsWithDatabase { std::size_t page_max = 100; };
//   KATANA_DESCRIBE_DERIVED(Settings, app::SettingsWithDatabase, page_max)
//
//   int main(int count, char** arguments) {
//     app::Application<Settings> app({.name = "users", .database = app::sqlite()});
//     app.services([](registry::Registry& registry) {
//       registry.singleton<Users>([](database::Database& database, log::Log& log) {
//         return std::make_unique<Users>(database, log.logger("users"));
//       });
//     });
//     app.routes([](const registry::Services& services, Router& router) {
//       Users& users = services.get<Users>();
//       router.get("/users/{id}", [&users](Path<std::int64_t> id) { return users.find(*id); });
//     });
//     return app.run(count, arguments);
//   }
//
// The parts: configuration → log, metrics, pools, database, systems that the program names (use(),
// part.hpp) and the bus, which is of the process unless it names another; steps of part(), side by
// side where they do not need one another → services → routes → http. /metrics, /health and /ready
// are there without being asked for; who may see more of them than a status is said by
// http/server/operations.hpp and the settings `operations` and http.hosts.
//
// In the registry: log::Log, metrics::Registry, metrics::HealthChecks, Observability, Pools,
// thread::Pool (the pool "work"), bus::Bus, redis::Client if redis.url is set, database::Database,
// queue::JobQueue and client::HttpClient if the options have them, config::Config<Settings>,
// Authentication (the settings `auth`), Caches and HttpCache (the settings `cache`),
// idempotency::Idempotency.
//
// Owns       all of it.
// Thread     one: main's. Blocks SIGINT, SIGTERM and SIGHUP from start() on, and ignores SIGPIPE.
//            From start() on nobody but the user may change a file that the process makes, and
//            nobody but the user and the group may read it (umask 027; a stricter one stays). What
//            else the process gives up, the settings `process` say: see process_rules.hpp.
// Allocates  at the start, at a reload and at the end.
// Fails      start() gives the Error of the part that failed, which names it, what it needed and
//            what to do; all that was started is stopped. run() prints that, and is then 1; 2 when
//            the command line or the configuration is wrong.
// Invariant  SIGTERM and SIGINT: /ready answers 503, after http.drain_notice nothing new is
//            accepted, what is in flight is finished before http.drain_timeout, and the program
//            says what it finished and what it cut off. A second one ends it at once. SIGHUP reads
//            the configuration again and opens the log's files anew; a configuration that is wrong
//            changes nothing, and the log says what is wrong.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/app/application_jobs.hpp"
#include "katana/app/application_queues.hpp"
#include "katana/app/authentication.hpp"
#include "katana/app/caches.hpp"
#include "katana/app/command_line.hpp"
#include "katana/app/database_driver.hpp"
#include "katana/app/embedding.hpp"
#include "katana/app/idempotency_keys.hpp"
#include "katana/app/insecure_settings.hpp"
#include "katana/app/launcher.hpp"
#include "katana/app/part.hpp"
#include "katana/app/pools.hpp"
#include "katana/app/process_rules.hpp"
#include "katana/app/service_manager.hpp"
#include "katana/app/settings.hpp"
#include "katana/app/startup.hpp"
#include "katana/app/statement_telemetry.hpp"
#include "katana/base/registry/registry.hpp"
#include "katana/base/system/result.hpp"
#include "katana/data/config/config.hpp"
#include "katana/data/config/schema.hpp"
#include "katana/http/coding/codec.hpp"
#include "katana/http/files/file_options.hpp"
#include "katana/http/forms/form.hpp"
#include "katana/http/handlers/decompression.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/concurrency_limit.hpp"
#include "katana/http/middleware/csrf.hpp"
#include "katana/http/middleware/http_cache.hpp"
#include "katana/http/middleware/load_shedding.hpp"
#include "katana/http/middleware/rate_limit.hpp"
#include "katana/http/middleware/security_headers.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/operations.hpp"
#include "katana/http/server/request_telemetry.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/observe/audit/audit_log.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/observe/metrics/health.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/openapi/document/docs_page.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/migrations.hpp"

namespace katana::app {

class DatabaseStart;
class ProgramRedis;
class Security;

// What a program is, whatever its configuration says.
struct ApplicationOptions {
  std::string name = "katana";   // in messages, and of the log's first logger
  std::string version = "0";     // for --version
  std::string about = {};        // for --help
  std::string config_file = {};  // read when --config is not given, and it is there
  // The databases that the program can use, as {app::sqlite()}; the scheme of database.url picks
  // one. Empty: no database, and none is linked. The program's Settings describe `database`, as
  // SettingsWithDatabase does.
  DatabaseDrivers database = {};
  // True: the registry has a client::HttpClient, made from the settings `client`.
  bool http_client = false;
  // Codecs with which that client decodes bodies; compression() and decompression() have their own.
  coding::Codecs http_client_codecs = {};
  // Migrations that the program carries; applied when database.migrations names no folder.
  std::vector<database::MigrationFile> migrations = {};
  // Outputs of the log that the program has itself, beside those of the settings.
  std::vector<log::SinkOptions> sinks = {};
  // Variables that begin so are configuration; empty: none are. Not taken from the name, because
  // Kubernetes sets USERS_PORT and the like for every service of a namespace.
  std::string environment_prefix = "KATANA_";
  // Variables that begin with the prefix and belong to something else.
  std::vector<std::string> environment_others = {};
  // Files and folders that the program uses and that no setting names, for process.sandbox: those
  // to read, such as the folders of static_files(), and those to write.
  std::vector<std::string> reads = {};
  std::vector<std::string> writes = {};
  // The renderer of the page that shows its OpenAPI documents where the settings `docs` say so:
  // openapi::swagger_ui(). Empty: there is no such page.
  std::optional<openapi::DocsAssets> docs = {};
  // How replies are checked by the program's OpenAPI documents where the setting
  // requests.check_replies says so: openapi::check_replies (openapi/validation/reply_checks.hpp).
  // Empty: only those of openapi::ContractRoutes are.
  void (*check_replies)(Router& router, ReplyChecks checks) = nullptr;
  // Called with every failure of a handler or a job, on its thread; see failure_log.hpp.
  server::OnError on_error = {};
  // Called with each statement of the database that is over; see statement_telemetry.hpp.
  OnStatement on_statement = {};
};

// What does not depend on the type of the settings.
class ApplicationCore {
 public:
  virtual ~ApplicationCore();
  ApplicationCore(const ApplicationCore&) = delete;
  ApplicationCore& operator=(const ApplicationCore&) = delete;

  // f(registry::Registry&): registers services. Returns nothing or Result<void>.
  template <class F>
  void services(F f) {
    add_services_ = [f = std::move(f)](registry::Registry& registry) mutable {
      return as_result([&] { return f(registry); });
    };
  }
  // f(const registry::Services&, Router&): adds routes. Returns nothing or Result<void>.
  template <class F>
  void routes(F f) {
    add_routes_ = [f = std::move(f)](const registry::Services& services, Router& router) mutable {
      return as_result([&] { return f(services, router); });
    };
  }
  // f(const registry::Services&, Group&): adds pages for operators, such as a dashboard. They have
  // the guard of /metrics (http/server/operations.hpp) and are on the operations listener, if there
  // is one. Their paths must differ from the program's own. Returns nothing or Result<void>.
  template <class F>
  void operations(F f) {
    add_operations_ = [f = std::move(f)](const registry::Services& services, Group& group) mutable {
      return as_result([&] { return f(services, group); });
    };
  }
  // f(const registry::Services&): called once connections are accepted, on the thread of start().
  // Returns nothing or Result<void>; an Error fails the start.
  template <class F>
  void on_start(F f) {
    start_hooks_.push_back([f = std::move(f)](const registry::Services& services) mutable {
      return as_result([&] { return f(services); });
    });
  }
  // f(const registry::Services&): called if the program had started, on the thread of stop(), when
  // requests are finished or cut off and before any part stops. The last one added runs first.
  // Returns nothing or Result<void>; an Error is logged, and the end goes on.
  template <class F>
  void on_stop(F f) {
    stop_hooks_.push_back([f = std::move(f)](const registry::Services& services) mutable {
      return as_result([&] { return f(services); });
    });
  }
  // f(const registry::Services&), or f(), either with a jobs::JobRun behind: a coroutine that gives
  // Task<void> or Task<Result<void>>, run by the first reactor when `schedule` says so; see
  // stores/jobs/schedule.hpp, stores/jobs/job.hpp. Settings jobs.NAME may disable it, or give it
  // another schedule. Before start().
  //
  //   app.job("purge", jobs::every(seconds(600)), [](const registry::Services& services) {
  //     return services.get<Sessions>().purge();
  //   });
  template <class F>
  void job(std::string name, jobs::Schedule schedule, F f, jobs::JobOptions options = {}) {
    jobs_.add({std::move(name), std::move(schedule), with_services(std::move(f)), options});
  }
  // f(Payload, queue::Delivery&), f(Payload), or either with a const registry::Services& in front:
  // a coroutine that gives Task<void> or Task<Result<void>>, run by the first reactor for each job
  // that any process has queued under that name; see stores/jobs/queue/job_queue.hpp. Settings
  // queue.handlers.NAME change `options`. Before start(); the program has a database.
  //
  //   app.queue<Welcome>("welcome", [](const registry::Services& services, Welcome job) {
  //     return services.get<Mail>().welcome(job.user);
  //   });
  template <Described Payload, class F>
  void queue(std::string name, F f, queue::HandlerOptions options = {}) {
    queues_.add({std::move(name), queue_handler<Payload>(std::move(f)), options});
  }
  // Likewise a coroutine, run once on the first reactor, which keeps `f` until it has ended. The
  // end of the program waits for it up to http.drain_timeout, and then cancels it. `name` is for
  // the record of its failure. An Error: the program has not started, or serves no more. Any
  // thread, from on_start() on; handlers take net::spawn(), which runs on their own reactor.
  template <class F>
  Result<void> spawn(F f, std::string name = {}) {
    return spawn_function(with_services(std::move(f)), std::move(name));
  }
  // Adds a system that the program uses, such as app::nats(); see part.hpp. Before start().
  void use(std::unique_ptr<Part> part) { parts_.add(std::move(part)); }
  // Adds a step to the start, without settings. It may need "configuration", "log", "metrics",
  // "pools", "database", "services" and other parts; routes come after all of them.
  void part(StartStep step) { steps_.push_back(std::move(step)); }

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

  // True while the program only prints its documents (--print-openapi): a part, or the factory of a
  // service, may leave out what needs a network.
  bool describes() const noexcept { return describes_; }

  // REQUIRE that start() has succeeded. The port and URL are those of the first listener.
  std::uint16_t port() const noexcept { return server_->port(); }
  std::string url() const { return server_->url(); }
  const server::HttpServer& server() const noexcept { return *server_; }
  log::Log& log() noexcept { return *log_; }
  // As given to the constructor.
  const ApplicationOptions& options() const noexcept { return options_; }
  const registry::Services& services() const noexcept { return *services_; }
  // The documents of its routes: Service::documents().
  std::vector<ServiceDocument> documents() const {
    return service_ ? service_->documents() : std::vector<ServiceDocument>();
  }
  const Startup& startup() const noexcept { return startup_; }
  const ApplicationJobs& jobs() const noexcept { return jobs_; }
  // Reads the configuration again, as SIGHUP does. Any thread. The log says what came of it.
  Result<void> reload();

 protected:
  explicit ApplicationCore(ApplicationOptions options);

  // Reads and checks the configuration, once, before anything starts. The Error names every wrong
  // key.
  virtual Result<void> load(config::Sources sources, config::Additions additions) = 0;
  // Reads the same sources again, for reload(). After an Error the old values stay.
  virtual Result<config::Reloaded> load_again() = 0;
  // The current values; a reader may keep them across a reload. Any thread.
  virtual std::shared_ptr<const ApplicationSettings> settings() const = 0;
  // The settings of a part; null: no part has this group.
  virtual std::shared_ptr<const void> settings_of_part(Bytes group) const = 0;
  virtual std::vector<std::string> setting_notes() const = 0;  // see Config::notes()
  // The texts behind --print-config, --print-defaults and --print-schema; secrets are not shown.
  virtual std::string print_settings() const = 0;
  virtual std::string print_defaults(config::Additions additions) const = 0;
  virtual std::string print_schema(config::Additions additions) const = 0;
  virtual void register_settings(registry::Registry& registry) = 0;
  virtual void tell_settings() = 0;  // tells what subscribed to reloads

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
          [this, f = std::move(f)](jobs::JobRun run) mutable { return f(*services_, run); });
    } else if constexpr (std::invocable<F&, const registry::Services&>) {
      return jobs::job_function([this, f = std::move(f)]() mutable { return f(*services_); });
    } else {
      return jobs::job_function(std::move(f));
    }
  }
  template <class Payload, class F>
  queue::Handler queue_handler(F f) {
    if constexpr (std::invocable<F&, const registry::Services&, Payload, queue::Delivery&>) {
      return queue::handler_of<Payload>(
          [this, f = std::move(f)](Payload payload, queue::Delivery& delivery) mutable {
            return f(*services_, std::move(payload), delivery);
          });
    } else if constexpr (std::invocable<F&, const registry::Services&, Payload>) {
      return queue::handler_of<Payload>([this, f = std::move(f)](Payload payload) mutable {
        return f(*services_, std::move(payload));
      });
    } else {
      return queue::handler_of<Payload>(std::move(f));
    }
  }
  Result<void> start_parts(const CommandLine& line);
  Result<void> spawn_function(jobs::JobFunction f, std::string name);
  Result<void> start_jobs();
  Result<void> start_queues();

  // Of what is loaded, without starting anything: everything that is wrong.
  Result<void> check_loaded() const;
  int check_config(const CommandLine& line);
  InsecureFacts facts_of(const CommandLine& line) const;
  int print_routes(const CommandLine& line);
  int print_openapi(const CommandLine& line);
  int check_health(const CommandLine& line);
  // Of a flag that only prints something; none: the program is to run.
  std::optional<int> answer(const CommandLine& line);
  Result<void> run_start_hooks();
  void run_stop_hooks() noexcept;
  config::Sources sources_of(const CommandLine& line) const;
  config::Additions additions();
  Result<void> load(const CommandLine& line);
  void add_step_of(Part& part);
  Result<void> begin_parts();
  void add_parts(const CommandLine& line);
  Result<void> load_and_enter(const CommandLine& line);
  Result<void> start_log();
  server::OnError failure_hook() const;
  void start_failure_log();
  Result<void> start_metrics();
  Result<void> start_pools();
  Result<void> start_database();
  void go_on_with_database();
  Result<void> observe_statements();
  Result<void> start_services();
  Result<void> start_authentication(registry::Registry& registry);
  Result<void> start_redis(registry::Registry& registry);
  Result<void> add_redis(ProgramRedis& redis, std::string name);
  Result<void> start_sessions_and_caches(registry::Registry& registry);
  Result<void> start_idempotency(registry::Registry& registry);
  // Null: the program has no Redis.
  std::unique_ptr<jobs::JobLock> make_redis_job_lock() const;
  RateLimitOptions rate_limit_options() const;
  Result<void> add_figures();
  Result<void> start_routes();
  Result<void> make_guard();
  void use_middleware(Router& router);
  void add_docs_page(Router& router);
  void check_replies(Router& router);
  void tell_operations() const;
  std::string exposed_url() const;
  Result<void> start_http();
  server::HttpServerOptions server_options(const ApplicationSettings& settings,
                                           server::EngineKind engine);
  void stop_services() noexcept;
  Result<void> tell_phases();
  void tell_process_rules() const;
  Result<void> reload_settings();
  void apply(const ApplicationSettings& settings);
  void on_reload();
  void on_drain();
  void on_certificates(const Result<std::vector<std::string>>& reloaded);
  void on_stuck(const server::ServerReport& report);
  Result<void> make_launcher();
  void prepare_restart(server::HttpServerOptions& options, const ApplicationSettings& settings);
  void on_restart(const Result<server::Replacement>& replacement);
  void give_signals_back() noexcept;
  void print_report(const server::ServerReport& report) const;
  void tell_manager(const Result<void>& told) noexcept;
  void print_ready(Duration took) const;
  int fail_with(int status, std::string_view message) const;

  const ApplicationOptions options_;
  std::function<Result<void>(registry::Registry&)> add_services_;
  std::function<Result<void>(const registry::Services&, Router&)> add_routes_;
  std::function<Result<void>(const registry::Services&, Group&)> add_operations_;
  std::vector<std::function<Result<void>(const registry::Services&)>> start_hooks_;
  std::vector<std::function<Result<void>(const registry::Services&)>> stop_hooks_;
  bool started_ = false;  // start_hooks_ have run
  bool serves_ = true;    // false: all but the server is started
  bool describes_ = false;
  ApplicationJobs jobs_;
  ApplicationQueues queues_;
  Parts parts_;
  std::vector<StartStep> steps_;
  ServiceManager manager_;
  std::unique_ptr<server::InheritedListeners> inherited_;  // null: no program before handed any
  std::unique_ptr<Launcher> launcher_;                     // null: none is wanted
  ProcessRules rules_;
  std::vector<InsecureSetting> exposed_files_;  // as they were at the start
  std::optional<Embedding> embedding_;          // none: the process is the program's

  // Each is made by its part, and ended by it in reverse.
  std::unique_ptr<log::Log> log_;
  log::Logger logger_;
  std::unique_ptr<server::FailureLog> failures_;
  std::unique_ptr<server::Observability> observability_;
  std::unique_ptr<Pools> pools_;
  std::unique_ptr<StatementTelemetry> statements_;  // null: there is no database
  std::optional<database::Database> database_;
  std::unique_ptr<DatabaseStart> database_start_;  // null: there is no database
  std::function<void()> on_ready_;                 // of run()
  std::mutex failure_mutex_;                       // of what follows
  std::optional<Error> failure_;                   // why it ends without a signal
  std::unique_ptr<Security> security_;
  std::unique_ptr<Authentication> authentication_;
  std::unique_ptr<Caches> caches_;
  std::unique_ptr<IdempotencyKeys> idempotency_keys_;
  std::unique_ptr<ProgramRedis> redis_;        // null: there is none
  std::unique_ptr<ProgramRedis> cache_redis_;  // null: caches have that one, or none
  std::unique_ptr<registry::Services> services_;
  std::unique_ptr<server::OperationsGuard> guard_;
  // What settings can change while it serves; none: not enabled.
  std::optional<RateLimit> rate_limit_;
  std::optional<ConcurrencyLimit> concurrency_;
  std::optional<LoadShedding> load_shedding_;
  std::optional<Service> service_;
  std::unique_ptr<jobs::JobLock> job_lock_;  // null: not needed, or registered
  std::unique_ptr<server::RequestTelemetry> telemetry_;
  std::mutex server_mutex_;  // of server_ for shutdown(), and of what follows
  bool told_to_end_ = false;
  std::unique_ptr<server::HttpServer> server_;
  Startup startup_;
};

template <std::derived_from<ApplicationSettings> Settings = ApplicationSettings>
class Application final : public ApplicationCore {
 public:
  // Judges the settings as a whole, at the start and at a reload; see Config.
  using Check = typename config::Config<Settings>::Check;

  explicit Application(ApplicationOptions options, Check check = nullptr)
      : ApplicationCore(std::move(options)), check_(check) {}
  ~Application() override { stop(); }

  // REQUIRES that start() has succeeded.
  const config::Config<Settings>& config() const noexcept { return *config_; }
  // f(const Settings&): called after a reload that changed something, on a thread of the pool
  // "work".
  void on_reload(std::function<void(const Settings&)> f) { listeners_.push_back(std::move(f)); }

 private:
  Result<void> load(config::Sources sources, config::Additions additions) override {
    auto loaded = config::Config<Settings>::load(std::move(sources), check_, std::move(additions));
    if (!loaded) return std::unexpected(std::move(loaded).error());
    config_.emplace(std::move(*loaded));
    return {};
  }
  Result<config::Reloaded> load_again() override { return config_->reload(); }
  std::shared_ptr<const ApplicationSettings> settings() const override { return config_->get(); }
  std::shared_ptr<const void> settings_of_part(Bytes group) const override {
    return config_->find_group(group);
  }
  std::vector<std::string> setting_notes() const override { return config_->notes(); }
  std::string print_settings() const override { return config_->print(); }
  std::string print_defaults(config::Additions additions) const override {
    return composition(std::move(additions)).print_defaults();
  }
  std::string print_schema(config::Additions additions) const override {
    return composition(std::move(additions)).json_schema("Configuration of " + options().name);
  }
  static config::Composition composition(config::Additions additions) {
    return {config::type_of<Settings>(), &config::make_value<Settings>, std::move(additions)};
  }
  void register_settings(registry::Registry& registry) override {
    registry.instance<config::Config<Settings>>(*config_);
  }
  void tell_settings() override {
    const auto settings = config_->get();
    for (const auto& listener : listeners_) listener(*settings);
  }

  const Check check_;
  std::optional<config::Config<Settings>> config_;
  std::vector<std::function<void(const Settings&)>> listeners_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
