#include "katana/app/program.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <thread>

#include "katana/app/bus_part.hpp"
#include "katana/app/database_start.hpp"
#include "katana/app/profile_page.hpp"
#include "katana/app/program_redis.hpp"
#include "katana/app/security.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/http/server/inherited_listeners.hpp"
#include "katana/net/engine/sockets.hpp"

namespace katana::app {
namespace {

// Before the first thread: later threads inherit it.
void block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a client, or a pipe that takes the log, may be gone
}

// Files of the program name users: their data, its log. A stricter mask than this stays. This runs
// before the first thread, because a process has one mask.
void keep_files_private() { ::umask(::umask(077) | 027); }

// KATANA's tools and tests read these; they share the prefix.
const std::vector<std::string> variables_of_tools = {
    "KATANA_BUILD", "KATANA_SEEDS", "KATANA_UPDATE", "KATANA_SHARD", "KATANA_SHARDS"};

}  // namespace

Program::Program(ApplicationOptions options, std::unique_ptr<ProgramSettings> settings)
    : options_(std::move(options)), settings_(std::move(settings)) {}

Program::~Program() { stop(); }

config::Sources Program::sources_of(const CommandLine& line) const {
  config::Sources sources;
  sources.sets = line.sets;
  sources.set_flags = line.set_flags;
  if (embedding_) {
    sources.file = line.config.value_or("");
    return sources;
  }
  sources.file = line.config.value_or(options_.config_file);
  sources.file_optional = !line.config;
  sources.environment = config::process_environment();
  sources.environment_prefix = options_.environment_prefix;
  if (!sources.environment_prefix.empty()) {
    sources.environment_names = {{sources.environment_prefix + "PORT", "http.port"}};
  }
  sources.environment_others = variables_of_tools;
  sources.environment_others.insert(sources.environment_others.end(),
                                    options_.environment_others.begin(),
                                    options_.environment_others.end());
  return sources;
}

// Every program has a bus: of its process, where no part brings another.
config::Additions Program::additions() {
  if (!parts_.has("bus")) parts_.add(memory_bus());
  return parts_.additions();
}

Result<void> Program::load(const CommandLine& line) {
  if (auto loaded = settings_->load(sources_of(line), additions()); !loaded) return loaded;
  for (const auto& part : parts_.all()) {
    if (const auto group = part->settings_group()) {
      part->take_settings(settings_->settings_of_part(group->name));
    }
  }
  return {};
}

void Program::add_step_of(Part& part) {
  std::vector<std::string> needs = part.needs();
  for (const char* each : {"log", "metrics", "pools"}) needs.emplace_back(each);
  if (!options_.database.empty()) needs.emplace_back("database");
  startup_.add({.name = std::string(part.name()),
                .needs = std::move(needs),
                .start =
                    [this, &part] {
                      return part.start({.log = *log_,
                                         .pools = *pools_,
                                         .database = database_ ? &*database_ : nullptr,
                                         .embedded = embedding_.has_value(),
                                         .has_bus = embedding_ && embedding_->has_bus,
                                         .clock = embedding_ ? embedding_->clock : nullptr,
                                         .program = options_.name,
                                         .version = options_.version});
                    },
                .stop = [&part] { part.stop(); },
                .remedy = part.remedy()});
}

void Program::add_parts(const CommandLine& line) {
  (void)additions();
  const auto add = [this](std::string name, std::vector<std::string> needs, auto start, auto stop,
                          std::string remedy = {}) {
    startup_.add(
        {std::move(name), std::move(needs), std::move(start), std::move(stop), std::move(remedy)});
  };
  add("configuration", {}, [this, line] { return load_and_enter(line); }, nullptr);
  add(
      "log", {"configuration"}, [this] { return start_log(); },
      [this] {
        failures_.reset();
        logger_ = log::Logger();
        log_.reset();
      });
  add(
      "metrics", {"configuration"}, [this] { return start_metrics(); },
      [this] { observability_.reset(); });
  add(
      "pools", {"configuration", "log"}, [this] { return start_pools(); },
      [this] { pools_.reset(); }, "Give it fewer threads, or raise the limit of threads");
  std::vector<std::string> of_services = {"log", "metrics", "pools"};
  if (!options_.database.empty()) {
    add(
        "database", {"configuration", "log"}, [this] { return start_database(); },
        [this] {
          queues_.close();
          database_start_.reset();  // its thread refers to the database
          database_.reset();
        },
        "Check database.url and database.migrations");
    of_services.emplace_back("database");
  }
  for (const auto& part : parts_.all()) {
    of_services.emplace_back(part->name());
    add_step_of(*part);
  }
  add(
      "services", std::move(of_services), [this] { return start_services(); },
      [this] { stop_services(); });
  std::vector<std::string> of_routes = {"services"};
  for (StartStep& step : steps_) {
    if (step.needs.empty()) step.needs.emplace_back("configuration");  // no step starts before it
    of_routes.push_back(step.name);
    startup_.add(std::move(step));
  }
  steps_.clear();
  add(
      "routes", std::move(of_routes), [this] { return start_routes(); },
      [this] {
        service_.reset();
        live_.reset();
        guard_.reset();
      });
  if (!serves_) return;
  add("http", {"routes"}, [this] { return start_http(); }, [this] { stop_http(); });
  // Also without any: the settings may name one.
  add(
      "jobs", {"http"}, [this] { return start_jobs(); },
      [this] {
        queues_.stop();
        jobs_.stop();
        job_lock_.reset();
      });
}

Result<void> Program::start(const CommandLine& line) {
  keep_standard_descriptors();
  block_signals();
  keep_files_private();
  if (auto installed = log::flush_on_crash(); !installed) return installed;
  auto inherited = server::InheritedListeners::of_this_process();
  if (!inherited) return std::unexpected(inherited.error());
  inherited_ = *std::move(inherited);
  auto manager = ServiceManager::of_this_process();
  if (!manager) return std::unexpected(manager.error());
  manager_ = std::move(*manager);
  if (inherited_) manager_.add_listeners(inherited_->take_given());
  return start_parts(line);
}

Result<void> Program::start(const CommandLine& line, Embedding embedding) {
  KATANA_REQUIRE(embedding.make_reactor != nullptr);
  embedding_ = std::move(embedding);
  startup_.start_one_by_one();
  return start_parts(line);
}

Result<void> Program::start_parts(const CommandLine& line) {
  add_parts(line);
  if (auto started = startup_.start(); !started) return started;
  if (auto told = tell_phases(); !told) return told;
  tell_operations();
  tell_process_rules();
  auto ran = run_start_hooks();
  if (ran && !embedding_) ran = rules_.finish_start();
  if (!ran) {
    startup_.stop();
    return ran;
  }
  const auto awaited = database_start_ ? database_start_->awaits() : std::nullopt;
  const std::string status =
      awaited ? "waiting for the database: " + *awaited : "serving on " + url();
  tell_manager(settings()->restart.enabled ? manager_.ready_and_replaceable(status)
                                           : manager_.ready(status));
  if (!awaited && on_ready_) on_ready_();
  if (database_start_) go_on_with_database();
  return {};
}

std::vector<ServiceDocument> Program::documents() const {
  return service_ ? service_->documents() : std::vector<ServiceDocument>();
}

Result<void> Program::start_metrics() {
  server::ObservabilityOptions options;
  if (embedding_) {
    options.health = {.clock = embedding_->clock, .threads = false};
    options.lag_interval = seconds(3600);  // of a reactor that is never late
  }
  auto made = server::Observability::make(std::move(options));
  if (!made) return std::unexpected(made.error());
  observability_ = std::move(*made);
  return {};
}

Result<void> Program::start_pools() {
  auto made = Pools::make(settings()->pools, failures_.get(), describes_);
  if (!made) return std::unexpected(made.error());
  pools_ = std::move(*made);
  return {};
}

// An exporter may read the registry at any time, and its functions ask the server.
void Program::stop_http() noexcept {
  observability_->registry().stop_refreshing();
  const std::lock_guard lock(server_mutex_);
  server_.reset();
}

// Work in a pool may use services, and health checks read objects that are about to go: both end
// before the services.
void Program::stop_services() noexcept {
  observability_->registry().stop_refreshing();
  while (!observability_->checks().all_finished(metrics::CheckKind::readiness)) {
    std::this_thread::yield();
  }
  history_job_.reset();
  pools_->stop();
  history_.reset();
  actions_.reset();  // a thread of the pool may have been in it
  if (migrations_) migrations_->trace_with(nullptr);
  services_.reset();
  if (database_) database_->backend().observe_statements(nullptr);
  statements_.reset();
  security_.reset();
  authentication_.reset();
  caches_.reset();
  idempotency_keys_.reset();
  cache_redis_.reset();
  redis_.reset();
}

Result<void> Program::begin_parts() {
  if (embedding_) return {};
  for (const auto& part : parts_.all()) {
    const std::string name(part->name());
    auto spawned =
        spawn(jobs::job_function([&part = *part] { return part.begin(); }), "begin " + name);
    if (!spawned) return std::unexpected(spawned.error().within(name));
  }
  return {};
}

Result<void> Program::run_start_hooks() {
  if (auto begun = begin_parts(); !begun) return begun;
  for (const auto& hook : start_hooks_) {
    try {
      if (auto ran = hook(*services_); !ran) return std::unexpected(ran.error().within("on_start"));
    } catch (const std::exception& error) {
      return fail(Code::internal, fmt::format("on_start: {}", error.what()));
    }
  }
  started_ = true;
  return {};
}

void Program::run_stop_hooks() noexcept {
  if (!std::exchange(started_, false)) return;
  for (const auto& hook : stop_hooks_ | std::views::reverse) {
    try {
      if (auto ran = hook(*services_); !ran) {
        logger_.error("on_stop: {}", ran.error().describe());
      }
    } catch (const std::exception& error) {
      logger_.error("on_stop: {}", error.what());
    }
  }
}

server::ServerReport Program::serve() {
  server::ServerReport report = server_->run();
  if (report.tasks_cancelled > 0) {
    logger_.warn(
        "{} background tasks had not ended when the time to drain was over, and were "
        "cancelled",
        report.tasks_cancelled);
  }
  log_report(report);
  return report;
}

void Program::shutdown() noexcept {
  const std::lock_guard lock(server_mutex_);
  told_to_end_ = true;
  if (server_) server_->shutdown();
}

void Program::stop() noexcept {
  if (database_start_) database_start_->stop();
  run_stop_hooks();
  startup_.stop();
}

// Serving is over, and so is its handling of signals. From here on a signal ends the process as it
// would any other. This holds also when a job on a pool or a part does not end.
void Program::give_signals_back() noexcept {
  // Waits at most 50 ms: after that, a signal can end the wait for an output that hangs.
  log_->flush(milliseconds(50));
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

// It may have gone, and the program has its own work to do.
void Program::tell_manager(const Result<void>& told) noexcept {
  if (told) return;
  const std::string why = told.error().describe();
  logger_.warn(KATANA_AT_MOST(1, seconds(60)), "{}", why);
}

// Called on the first reactor's thread, which must not wait for a disk.
void Program::on_reload() {
  const auto admission = pools_->work().post([this] { (void)reload(); });
  if (admission > thread::Admission::ran_here) {
    logger_.error("SIGHUP: the configuration is not read again, because the pool 'work' is full");
  }
}

Result<void> Program::reload() {
  const std::lock_guard lock(reload_mutex_);
  tell_manager(manager_.reloading(monotonic_now()));
  const auto reloaded = reload_settings();
  tell_manager(manager_.ready(reloaded ? "serving" : reloaded.error().describe()));
  return reloaded;
}

Result<void> Program::reload_settings() {
  log_->reopen();
  auto reloaded = settings_->load_again();
  if (!reloaded) {
    const std::string why = reloaded.error().describe();
    logger_.error("{}", why);
    return std::unexpected(reloaded.error());
  }
  for (const std::string& line : reloaded->applied) logger_.info("configuration: {}", line);
  for (const std::string& line : reloaded->needs_restart) {
    logger_.warn("configuration: needs a restart: {}", line);
  }
  if (auto keys = authentication_->reload(); !keys) {
    logger_.error("auth.bearer: the present keys stay: {}", keys.error().describe());
  }
  for (ProgramRedis* const redis : {redis_.get(), cache_redis_.get()}) {
    if (redis == nullptr) continue;
    if (auto read = redis->reload(); !read) {
      logger_.error("the present password stays: {}", read.error().describe());
    }
  }
  for (const auto& part : parts_.all()) {
    const auto group = part->settings_group();
    const auto read = part->reload(group ? settings_->settings_of_part(group->name) : nullptr);
    if (!read) logger_.error("{}: {}", part->name(), read.error().describe());
  }
  logger_.info("configuration: read again, {} changed", reloaded->applied.size());
  if (!reloaded->applied.empty()) {
    apply(*settings());
    settings_->tell_listeners();
  }
  return {};
}

void Program::apply(const ApplicationSettings& settings) {
  telemetry_->set_slow_after(settings.requests.slow);
  if (statements_) statements_->set_slow_after(settings.database.slow_statement);
  const HttpSettings& http = settings.http;
  if (rate_limit_) rate_limit_->set_rate(http.rate_limit.per_second, http.rate_limit.burst);
  if (concurrency_) concurrency_->set(http.concurrency);
  if (load_shedding_) load_shedding_->set_utilisation_max(http.load_shedding.utilisation_max);
  if (auto set = log_->reset_levels(settings.log.levels); !set) {
    const std::string why = set.error().describe();
    logger_.error("{}", why);
  }
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
