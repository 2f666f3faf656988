// Program: the inside of an Application: the steps of its start, the objects that they make, and
// its end. The class for users is in application.hpp; this header stays out of their sources.
//
// Its sources, by what they are about:
//   program.cpp             the order of the start, the end, reload
//   program_run.cpp         run(), and the flags that only print
//   program_process.cpp     the rights that the process gives up, and its replacement
//   program_log.cpp         the log, and the records of failures
//   program_crash.cpp       crash reports
//   program_database.cpp    how the database is opened, awaited and observed
//   program_services.cpp    the registry
//   program_in_redis.cpp    the data in Redis
//   program_http.cpp        middleware, routes and listeners
//   program_operations.cpp  the guard of the pages of operations, profiles (profile_page.hpp)
//   program_live.cpp        the pages of operations that show its state
//   program_replies.cpp     the checks of replies
//   program_work.cpp        jobs, queues, tasks
//
// Owns, Thread, Allocates, Fails, Invariant: as application.hpp says.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "katana/app/application_jobs.hpp"
#include "katana/app/application_options.hpp"
#include "katana/app/application_queues.hpp"
#include "katana/app/authentication.hpp"
#include "katana/app/caches.hpp"
#include "katana/app/command_line.hpp"
#include "katana/app/embedding.hpp"
#include "katana/app/history.hpp"
#include "katana/app/idempotency_keys.hpp"
#include "katana/app/insecure_settings.hpp"
#include "katana/app/launcher.hpp"
#include "katana/app/live_actions.hpp"
#include "katana/app/live_state.hpp"
#include "katana/app/migration_telemetry.hpp"
#include "katana/app/part.hpp"
#include "katana/app/pool_spans.hpp"
#include "katana/app/pools.hpp"
#include "katana/app/process_rules.hpp"
#include "katana/app/program_settings.hpp"
#include "katana/app/service_manager.hpp"
#include "katana/app/startup.hpp"
#include "katana/app/statement_telemetry.hpp"
#include "katana/base/registry/registry.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/concurrency_limit.hpp"
#include "katana/http/middleware/http_cache.hpp"
#include "katana/http/middleware/load_shedding.hpp"
#include "katana/http/middleware/rate_limit.hpp"
#include "katana/http/server/failure_log.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/operations.hpp"
#include "katana/http/server/request_telemetry.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/observe/metrics/health.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::app {

class DatabaseStart;
class ProfilePage;
class ProgramRedis;
class Security;

class Program {
 public:
  // Functions of the user: for the services, the routes, the pages of operations, and hooks.
  using AddServices = std::function<Result<void>(registry::Registry&)>;
  using AddRoutes = std::function<Result<void>(const registry::Services&, Router&)>;
  using AddOperations = std::function<Result<void>(const registry::Services&, Group&)>;
  using Hook = std::function<Result<void>(const registry::Services&)>;

  Program(ApplicationOptions options, std::unique_ptr<ProgramSettings> settings);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The user's functions are set before start().
  void set_services(AddServices f) { add_services_ = std::move(f); }
  void set_routes(AddRoutes f, const std::source_location& where) {
    add_routes_ = std::move(f);
    routes_at_ = where;
  }
  void set_operations(AddOperations f, const std::source_location& where) {
    add_operations_ = std::move(f);
    operations_at_ = where;
  }
  void on_start(Hook f) { start_hooks_.push_back(std::move(f)); }
  void on_stop(Hook f) { stop_hooks_.push_back(std::move(f)); }
  void add_job(jobs::Job job) { jobs_.add(std::move(job)); }
  void add_queue(queue::QueueHandler handler) { queues_.add(std::move(handler)); }
  void add_part(std::unique_ptr<Part> part) { parts_.add(std::move(part)); }
  void add_step(StartStep step) { steps_.push_back(std::move(step)); }

  // These functions are those of application_core.hpp.
  int run(int count, const char* const* arguments);
  Result<void> start(const CommandLine& line);
  Result<void> start(const CommandLine& line, Embedding embedding);
  server::ServerReport serve();
  void shutdown() noexcept;
  void stop() noexcept;
  // One after another: a signal and an action may ask at the same time.
  Result<void> reload();
  Result<void> spawn(jobs::JobFunction f, std::string name);

  // Likewise; REQUIRE that start() has succeeded, but describes() and options().
  bool describes() const noexcept { return describes_; }
  std::string url() const { return server_->url(); }
  const server::HttpServer& server() const noexcept { return *server_; }
  log::Log& log() noexcept { return *log_; }
  const ApplicationOptions& options() const noexcept { return options_; }
  const registry::Services& services() const noexcept { return *services_; }
  std::vector<ServiceDocument> documents() const;
  const Startup& startup() const noexcept { return startup_; }
  const ApplicationJobs& jobs() const noexcept { return jobs_; }

 private:
  std::shared_ptr<const ApplicationSettings> settings() const { return settings_->get(); }
  Result<void> start_parts(const CommandLine& line);
  Result<void> start_jobs();
  Result<void> start_queues();

  // Checks the loaded settings, without starting anything. The Error has all mistakes.
  Result<void> check_loaded() const;
  int check_config(const CommandLine& line);
  InsecureFacts facts_of(const CommandLine& line) const;
  int print_routes(const CommandLine& line);
  int print_openapi(const CommandLine& line);
  int check_health(const CommandLine& line);
  // The exit status of a flag that only prints something; none: the program is to run.
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
  Result<void> start_crash_reports();
  void tell_crashes();
  Result<void> start_metrics();
  Result<void> start_pools();
  Result<void> start_database();
  void go_on_with_database();
  Result<void> observe_statements();
  Result<void> start_services();
  // Gives the tracer to the systems that have experimental spans alone.
  void trace_systems();
  // Whether there are metrics with OpenTelemetry's names, and for whom.
  server::StandardMetricUse standard_metrics() const;
  // Adds http.client.request.duration of OpenTelemetry, if there are such metrics.
  Result<void> measure_calls(client::HttpClientOptions& how);
  Result<void> start_authentication(registry::Registry& registry);
  // Whether the Redis of the settings cannot be reached: the program is a test's.
  bool lacks_redis() const noexcept { return embedding_ && !embedding_->has_redis; }
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
  void add_profile_page(Group& pages);
  Result<void> add_live(Group& pages, Group& shell);
  Result<void> begin_history();
  void use_middleware(Router& router);
  void add_docs_page(Router& router);
  void check_replies(Router& router);
  void tell_operations() const;
  std::string exposed_url() const;
  Result<void> start_http();
  server::HttpServerOptions server_options(const ApplicationSettings& settings,
                                           server::EngineKind engine);
  void stop_http() noexcept;
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
  void log_report(const server::ServerReport& report) const;
  void tell_manager(const Result<void>& told) noexcept;
  void tell_listening(Duration took) const;
  bool logs_to_standard_output() const;
  int fail_with(int status, std::string_view message) const;

  const ApplicationOptions options_;
  const std::unique_ptr<ProgramSettings> settings_;
  AddServices add_services_;
  AddRoutes add_routes_;
  AddOperations add_operations_;
  std::source_location routes_at_ = {};  // where they were given
  std::source_location operations_at_ = {};
  std::vector<Hook> start_hooks_;
  std::vector<Hook> stop_hooks_;
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
  std::vector<InsecureSetting> insecure_;       // likewise
  std::optional<Embedding> embedding_;          // none: the process is the program's

  // Each is made by its part, and ended by it in reverse.
  std::unique_ptr<log::Log> log_;
  log::Logger logger_;
  std::unique_ptr<server::FailureLog> failures_;
  std::string crash_folder_;  // empty: standard error, or there are no reports
  std::unique_ptr<server::Observability> observability_;
  std::unique_ptr<PoolSpans> pool_spans_;  // outlives the pools; null: no tracer
  std::unique_ptr<Pools> pools_;
  std::shared_ptr<MigrationTelemetry> migrations_;  // null: there is no database
  std::unique_ptr<StatementTelemetry> statements_;  // null: there is no database
  std::optional<database::Database> database_;
  std::unique_ptr<DatabaseStart> database_start_;  // null: there is no database
  std::function<void()> on_ready_;                 // of run()
  std::mutex reload_mutex_;                        // of reload()
  std::mutex failure_mutex_;                       // of the members below
  std::optional<Error> failure_;                   // why it ends without a signal
  std::unique_ptr<Security> security_;
  std::unique_ptr<Authentication> authentication_;
  std::unique_ptr<Caches> caches_;
  std::unique_ptr<IdempotencyKeys> idempotency_keys_;
  std::unique_ptr<ProgramRedis> redis_;        // null: there is none
  std::unique_ptr<ProgramRedis> cache_redis_;  // null: caches have that one, or none
  std::unique_ptr<registry::Services> services_;
  std::unique_ptr<server::OperationsGuard> guard_;
  std::unique_ptr<ProfilePage> profile_page_;  // null: there is none
  server::SlowestRequests slowest_;
  std::unique_ptr<History> history_;
  std::optional<thread::TimedJob> history_job_;  // none: embedded programs have no history
  std::unique_ptr<LiveState> live_;
  std::unique_ptr<LiveActions> actions_;
  // Middleware that settings can change while the program serves; none: not enabled.
  std::optional<RateLimit> rate_limit_;
  std::optional<ConcurrencyLimit> concurrency_;
  std::optional<LoadShedding> load_shedding_;
  std::optional<Service> service_;
  std::unique_ptr<jobs::JobLock> job_lock_;  // null: not needed, or registered
  std::unique_ptr<server::RequestTelemetry> telemetry_;
  std::mutex server_mutex_;  // of server_ for shutdown(), and of the members below
  bool told_to_end_ = false;
  std::unique_ptr<server::HttpServer> server_;
  Startup startup_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
