#include "katana/app/application.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <ranges>
#include <system_error>
#include <thread>

#include "katana/app/database_start.hpp"
#include "katana/app/program_bus.hpp"
#include "katana/app/program_redis.hpp"
#include "katana/app/security.hpp"
#include "katana/app/server_options.hpp"
#include "katana/app/system_metrics.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/http/forms/form.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/net/engine/sockets.hpp"

namespace katana::app {
namespace {

// Before the first thread: whoever is made later inherits it.
void block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a peer, or a pipe that takes the log, may be gone
}

// What the program writes names users: their data, its log. A stricter mask than this stays. Before
// the first thread, because a process has one mask.
void keep_files_private() { ::umask(::umask(077) | 027); }

// Ignored when it fails: whoever opens the file says why that cannot be done.
void make_folder_of(const std::string& file) {
  std::error_code failure;
  const auto folder = std::filesystem::path(file).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, failure);
}

double mebibytes_of(std::size_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

log::Options log_options(const LogSettings& settings) {
  log::Options options;
  const log::Rotation rotation{.bytes_max = settings.file_bytes_max.bytes,
                               .keep = settings.files_kept};
  if (settings.console) options.sinks.push_back(log::console());
  if (!settings.file.empty()) {
    make_folder_of(settings.file);
    options.sinks.push_back(log::file(settings.file, rotation));
  }
  if (!settings.json_file.empty()) {
    make_folder_of(settings.json_file);
    options.sinks.push_back(log::json_file(settings.json_file, rotation));
  }
  if (!settings.binary_file.empty()) {
    make_folder_of(settings.binary_file);
    options.sinks.push_back(log::binary_file(settings.binary_file, rotation));
  }
  for (log::SinkOptions& sink : options.sinks) {
    sink.queue_bytes_max = settings.output_bytes_max.bytes;
  }
  options.mode = settings.synchronous ? log::Mode::synchronous : log::Mode::background;
  options.when_full = settings.when_full;
  return options;
}

// Of the project's own tools and tests, which share the prefix.
const std::vector<std::string> variables_of_tools = {
    "KATANA_BUILD", "KATANA_SEEDS", "KATANA_UPDATE", "KATANA_SHARD", "KATANA_SHARDS"};

}  // namespace

ApplicationCore::ApplicationCore(ApplicationOptions options) : options_(std::move(options)) {}

ApplicationCore::~ApplicationCore() { stop(); }

config::Sources ApplicationCore::sources_of(const CommandLine& line) const {
  config::Sources sources;
  sources.sets = line.sets;
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

void ApplicationCore::add_parts(const CommandLine& line) {
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
          database_.reset();
          database_start_.reset();
        },
        "Check database.url and database.migrations");
    of_services.emplace_back("database");
  }
  add(
      "services", std::move(of_services), [this] { return start_services(); },
      [this] { stop_services(); });
  std::vector<std::string> of_routes = {"services"};
  for (Part& part : parts_) {
    if (part.needs.empty()) part.needs.emplace_back("configuration");  // and what follows from it
    of_routes.push_back(part.name);
    startup_.add(std::move(part));
  }
  parts_.clear();
  add(
      "routes", std::move(of_routes), [this] { return start_routes(); },
      [this] {
        service_.reset();
        guard_.reset();
      });
  if (!serves_) return;
  add(
      "http", {"routes"}, [this] { return start_http(); },
      [this] {
        const std::lock_guard lock(server_mutex_);
        server_.reset();
      });
  // Also without any: the settings may name one.
  add(
      "jobs", {"http"}, [this] { return start_jobs(); },
      [this] {
        queues_.stop();
        jobs_.stop();
        job_lock_.reset();
      });
}

Result<void> ApplicationCore::start(const CommandLine& line) {
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

Result<void> ApplicationCore::start(const CommandLine& line, Embedding embedding) {
  KATANA_REQUIRE(embedding.make_reactor != nullptr);
  embedding_ = std::move(embedding);
  startup_.start_one_by_one();
  return start_parts(line);
}

Result<void> ApplicationCore::start_parts(const CommandLine& line) {
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

Result<void> ApplicationCore::start_log() {
  const auto present = settings();
  log::Options log_settings;
  if (embedding_) {
    log_settings.sinks = embedding_->sinks;
    log_settings.mode = log::Mode::synchronous;
  } else {
    log_settings = log_options(present->log);
    log_settings.sinks.insert(log_settings.sinks.end(), options_.sinks.begin(),
                              options_.sinks.end());
  }
  auto log = log::Log::start(std::move(log_settings));
  if (!log) return std::unexpected(log.error());
  if (auto set = (*log)->set_levels(present->log.levels); !set) {
    return std::unexpected(set.error().within("log.levels"));
  }
  log_ = std::move(*log);
  logger_ = log_->logger(options_.name);
  start_failure_log();
  return {};
}

server::OnError ApplicationCore::failure_hook() const {
  if (!embedding_ || !embedding_->on_failure) return options_.on_error;
  return [first = embedding_->on_failure, second = options_.on_error](const Failure& failure) {
    first(failure);
    if (second) second(failure);
  };
}

void ApplicationCore::start_failure_log() {
  const RequestSettings requests = settings()->requests;
  failures_ = std::make_unique<server::FailureLog>(
      server::FailureLogOptions{.logger = log_->logger("failures"),
                                .on_error = failure_hook(),
                                .records_max = requests.failure_records_max,
                                .period = requests.failure_period});
}

Result<void> ApplicationCore::start_metrics() {
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

Result<void> ApplicationCore::start_pools() {
  auto made = Pools::make(settings()->pools, failures_.get(), describes_);
  if (!made) return std::unexpected(made.error());
  pools_ = std::move(*made);
  return {};
}

Result<void> ApplicationCore::start_services() {
  if (database_) {
    if (auto observed = observe_statements(); !observed) return observed;
  }
  registry::Registry registry;
  registry.instance<log::Log>(*log_);
  registry.instance<server::Observability>(*observability_);
  registry.instance<metrics::Registry>(observability_->registry());
  registry.instance<metrics::HealthChecks>(observability_->checks());
  registry.instance<Pools>(*pools_);
  registry.instance<thread::Pool>(pools_->work());
  if (database_) {
    registry.instance<database::Database>(*database_);
    queues_.open(*database_, settings()->queue);
    registry.instance<queue::JobQueue>(queues_.queue());
  }
  if (options_.http_client) {
    client::HttpClientOptions how = settings()->client;
    how.codecs = options_.http_client_codecs;
    if (embedding_) how.tls.system_authorities = false;  // there is no network to trust
    registry.singleton<client::HttpClient>(
        [how = std::move(how)]() -> Result<std::unique_ptr<client::HttpClient>> {
          auto made = client::HttpClient::make(how);
          if (!made) return std::unexpected(made.error().within("client"));
          return std::make_unique<client::HttpClient>(*std::move(made));
        });
  }
  if (auto started = start_redis(registry); !started) return started;
  if (auto started = start_sessions_and_caches(registry); !started) return started;
  if (auto started = start_idempotency(registry); !started) return started;
  register_settings(registry);
  if (auto started = start_authentication(registry); !started) return started;
  if (auto started = start_bus(registry); !started) return started;
  if (add_services_) {
    if (auto added = add_services_(registry); !added) return added;
  }
  if (embedding_ && embedding_->add_services) {
    if (auto added = embedding_->add_services(registry); !added) return added;
  }
  if (auto added = add_figures(); !added) return added;
  auto sealed = std::move(registry).seal();
  if (!sealed) return std::unexpected(sealed.error());
  services_ = std::move(*sealed);
  return {};
}

Result<void> ApplicationCore::start_authentication(registry::Registry& registry) {
  client::HttpClientOptions how = settings()->client;
  if (embedding_) how.tls.system_authorities = false;
  auto made = Authentication::make(settings()->auth, how, log_->logger("auth"));
  if (!made) return std::unexpected(made.error());
  authentication_ = *std::move(made);
  if (describes_) authentication_->describe_only();
  registry.instance<Authentication>(*authentication_);
  if (embedding_ || !authentication_->is_remote()) return {};
  on_start([this](const registry::Services&) {
    return spawn([this] { return authentication_->load(); }, "fetch keys");
  });
  return observability_->checks().add(
      {.name = "auth keys",
       .run = [this](std::stop_token) { return authentication_->health(); },
       .may_block = false});
}

Result<void> ApplicationCore::start_bus(registry::Registry& registry) {
  auto made = ProgramBus::make(settings()->bus, embedding_.has_value(), log_->logger("bus"));
  if (!made) return std::unexpected(made.error());
  bus_ = *std::move(made);
  registry.instance<bus::Bus>(bus_->get());
  if (auto added = add_bus_metrics(observability_->registry(), bus_->get()); !added) return added;
  if (!bus_->is_remote()) return {};
  on_start([this](const registry::Services&) {
    return spawn(
        [this]() -> Task<void> {
          bus_->start();
          co_return;
        },
        "connect the bus");
  });
  return observability_->checks().add({.name = "bus",
                                       .run = [this](std::stop_token) { return bus_->health(); },
                                       .required = settings()->bus.required,
                                       .may_block = false});
}

// What the systems know of themselves: for /metrics and /ready.
Result<void> ApplicationCore::add_figures() {
  metrics::Registry& registry = observability_->registry();
  metrics::HealthChecks& checks = observability_->checks();
  if (auto added = add_log_metrics(registry, *log_); !added) return added;
  if (auto added = add_sandbox_metrics(registry); !added) return added;
  if (auto added = add_pool_metrics(registry, *pools_); !added) return added;
  if (auto added = security_->add_metrics(registry); !added) return added;
  if (auto added = add_log_check(checks, *log_); !added) return added;
  if (auto added = security_->add_checks(checks); !added) return added;
  if (auto added = add_pool_checks(checks, *pools_); !added) return added;
  if (!embedding_) {
    if (auto added = add_upstream_checks(checks, *settings()); !added) return added;
  }
  if (!database_) return {};
  if (auto added = add_database_metrics(registry, *database_); !added) return added;
  return add_database_check(checks, *database_);
}

// What was given to a pool may use services, and what checks look at is about to go: both are done
// before.
void ApplicationCore::stop_services() noexcept {
  while (!observability_->checks().all_finished(metrics::CheckKind::readiness)) {
    std::this_thread::yield();
  }
  pools_->stop();
  services_.reset();
  if (database_) database_->backend().observe_statements(nullptr);
  statements_.reset();
  security_.reset();
  authentication_.reset();
  caches_.reset();
  idempotency_keys_.reset();
  cache_redis_.reset();
  redis_.reset();
  bus_.reset();
}

// Load is shed first, because that costs least; who waits for a place has passed the rest.
void ApplicationCore::use_middleware(Router& router) {
  const auto present = settings();
  const HttpSettings& http = present->http;
  security_->use_first(router);
  if (http.load_shedding.enabled) {
    router.use(load_shedding_.emplace(http.load_shedding).middleware());
  }
  if (http.rate_limit.enabled) {
    router.use(rate_limit_.emplace(rate_limit_options()).middleware());
  }
  if (http.concurrency.enabled) router.use(concurrency_.emplace(http.concurrency));
  security_->use_last(router);
}

Result<void> ApplicationCore::start_routes() {
  if (auto made = make_guard(); !made) return made;
  Router router;
  router.services(*services_)
      .development(settings()->development)
      .defaults(settings()->http.routes);
  observability_->mount(router, *guard_);
  Group pages = router.group("");
  pages.use(guard_->pages());
  if (auto added = queues_.add_pages(pages); !added) return added;
  if (add_operations_) {
    if (auto added = add_operations_(*services_, pages); !added) return added;
  }
  // What is added from here on is the program's own.
  if (guard_->guards_application()) router.use(guard_->application());
  use_middleware(router);
  check_replies(router);
  if (add_routes_) {
    if (auto added = add_routes_(*services_, router); !added) return added;
  }
  if (auto checked = caches_->check_names(); !checked) return checked;
  add_docs_page(router);
  auto built = std::move(router).build();
  if (!built) return std::unexpected(built.error());
  service_.emplace(std::move(*built));
  return {};
}

// Open to all, as the documents are that it shows.
void ApplicationCore::add_docs_page(Router& router) {
  const auto present = settings();
  const bool is_on = present->docs.enabled == DocsUse::on ||
                     (present->docs.enabled == DocsUse::development && present->development);
  if (!is_on || !options_.docs || !router.has_document()) return;
  if (options_.docs->files.empty()) {
    const std::string remedy(options_.docs->remedy);
    logger_.warn("docs: {} has no renderer: {}", present->docs.path, remedy);
  }
  openapi::docs_page(
      router.anonymous(), *options_.docs,
      {.path = present->docs.path, .title = options_.name, .origins = present->docs.origins});
}

// What it borrows of the running program.
server::HttpServerOptions ApplicationCore::server_options(const ApplicationSettings& settings,
                                                          server::EngineKind engine) {
  server::HttpServerOptions options = server_options_of(settings);
  options.engine = engine;
  options.on_reload = [this] { on_reload(); };
  options.on_drain = [this] { on_drain(); };
  options.on_stuck = [this](const server::ServerReport& report) { on_stuck(report); };
  options.on_certificates = [this](const auto& reloaded) { on_certificates(reloaded); };
  options.http.observer = telemetry_.get();
  options.http.failures = failures_.get();
  options.sockets = manager_.listeners();
  options.stall_threshold = settings.monitor.stall;
  options.stall_logger = log_->logger("monitor");
  if (manager_.watchdog() > Duration{}) {
    // Four times as often, so that a reactor that is late once is no reason to be restarted.
    options.heartbeat_interval = {manager_.watchdog().ns / 4};
    options.on_heartbeat = [this] { tell_manager(manager_.alive()); };
  }
  options.observability = observability_.get();
  if (embedding_) {
    embed(options, *embedding_);
  } else {
    prepare_restart(options, settings);
  }
  return options;
}

Result<void> ApplicationCore::start_http() {
  const auto present = settings();
  const auto engine = server::choose_engine(enumerator_name(present->http.engine));
  if (!engine) return std::unexpected(engine.error());
  if (!engine->note.empty()) logger_.warn("{}", engine->note);
  if (!embedding_) server::raise_descriptor_limit();
  const RequestSettings& requests = present->requests;
  SpillFile::set_files_max(present->http.form_files_max);
  FormLimits::set_defaults(present->http.forms);
  telemetry_ = std::make_unique<server::RequestTelemetry>(server::RequestTelemetryOptions{
      .ids = requests.ids,
      .trust_ids = present->http.trust_request_ids,
      .access = requests.access_log ? log_->logger("access") : log::Logger(),
      .slow = log_->logger("slow"),
      .slow_after = requests.slow,
      .targets = {requests.queries, requests.secret_parameters},
      .metrics = requests.metrics ? &observability_->registry() : nullptr,
      .duration_buckets = requests.duration_buckets.empty()
                              ? server::RequestTelemetryOptions::default_duration_buckets()
                              : requests.duration_buckets});
  if (auto prepared = telemetry_->prepare(*service_); !prepared) return prepared;
  auto server =
      std::make_unique<server::HttpServer>(server_options(*present, engine->kind), *service_);
  if (auto started = server->start(); !started) return started;
  for (const std::string& note : server->certificate_notes()) {
    logger_.warn("certificates: {}", note);
  }
  for (const std::string& other : server->other_urls()) logger_.info("also serving on {}", other);
  if (!server->placement().empty()) logger_.info("reactors on CPUs {}", server->placement());
  const std::lock_guard lock(server_mutex_);
  server_ = std::move(server);
  if (told_to_end_) server_->shutdown();
  return {};
}

// What the start took, part by part: a record, and a metric.
Result<void> ApplicationCore::tell_phases() {
  auto family = observability_->registry().gauges(
      {.name = "katana_startup_seconds",
       .help = "What each part of the start took; parts that do not need one another overlap.",
       .labels = {"part"},
       .unit = "seconds"});
  if (!family) return std::unexpected(family.error());
  Duration whole;
  for (const PartReport& report : startup_.reports()) {
    family->with(report.name).set(static_cast<double>(report.took.ns) / 1e9);
    whole = std::max(whole, Duration{report.began.ns + report.took.ns});
    logger_.info("started", log::field("part", report.name),
                 log::field("after_ms", milliseconds_of(report.began)),
                 log::field("took_ms", milliseconds_of(report.took)));
  }
  const net::MemoryBudget budget = server_->memory_budget();
  logger_.info(
      "all parts started in {} ms; memory of each reactor, at most: {} MiB (connections {}, input "
      "{}, output {}, engine {}, held {}, shared {})",
      milliseconds_of(whole), mebibytes_of(budget.total()), mebibytes_of(budget.connections),
      mebibytes_of(budget.carry), mebibytes_of(budget.output), mebibytes_of(budget.engine),
      mebibytes_of(budget.held), mebibytes_of(budget.shared));
  return {};
}

Result<void> ApplicationCore::run_start_hooks() {
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

void ApplicationCore::run_stop_hooks() noexcept {
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

server::ServerReport ApplicationCore::serve() {
  server::ServerReport report = server_->run();
  if (report.tasks_cancelled > 0) {
    logger_.warn(
        "{} background tasks had not ended when the time to drain was over, and were "
        "cancelled",
        report.tasks_cancelled);
  }
  return report;
}

void ApplicationCore::shutdown() noexcept {
  const std::lock_guard lock(server_mutex_);
  told_to_end_ = true;
  if (server_) server_->shutdown();
}

void ApplicationCore::stop() noexcept {
  if (database_start_) database_start_->stop();
  run_stop_hooks();
  startup_.stop();
}

// On the first reactor's thread, or on that of the watch.
void ApplicationCore::on_certificates(const Result<std::vector<std::string>>& reloaded) {
  if (!reloaded) {
    logger_.error("certificates are not read again, the present ones stay: {}",
                  reloaded.error().describe());
    return;
  }
  for (const std::string& note : *reloaded) logger_.warn("certificates: {}", note);
  logger_.info("certificates: read again");
}

void ApplicationCore::on_drain() {
  logger_.info("told to end: not ready any more");
  tell_manager(manager_.stopping("finishing what is in flight"));
}

// On the thread that waits for signals; the process ends when this returns, whatever the disk does.
void ApplicationCore::on_stuck(const server::ServerReport& report) {
  constexpr std::chrono::seconds flush_max(2);
  logger_.error("{}: the process ends without it", report.stuck);
  auto flushed = std::make_shared<std::promise<void>>();
  std::thread([log = log_.get(), flushed] {
    log->flush();
    flushed->set_value();
  }).detach();
  (void)flushed->get_future().wait_for(flush_max);
  print_report(report);
}

void ApplicationCore::print_report(const server::ServerReport& report) const {
  print_error_line(fmt::format("{}: {}", options_.name, report.describe()), last_words_max);
}

// Serving is over and its signals with it: from here on one ends the process as it would any other,
// also when a job on a pool or a part does not end.
void ApplicationCore::give_signals_back() noexcept {
  // An output that hangs is waited for once a signal ends that.
  log_->flush(milliseconds(50));
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

// It may have gone, and the program has its own work to do.
void ApplicationCore::tell_manager(const Result<void>& told) noexcept {
  if (told) return;
  const std::string why = told.error().describe();
  logger_.warn(KATANA_AT_MOST(1, seconds(60)), "{}", why);
}

// On the first reactor's thread, which must not wait for a disk.
void ApplicationCore::on_reload() {
  const auto admission = pools_->work().post([this] { (void)reload(); });
  if (admission > thread::Admission::ran_here) {
    logger_.error("SIGHUP: the configuration is not read again, because the pool 'work' is full");
  }
}

Result<void> ApplicationCore::reload() {
  tell_manager(manager_.reloading(monotonic_now()));
  const auto reloaded = reload_settings();
  tell_manager(manager_.ready(reloaded ? "serving" : reloaded.error().describe()));
  return reloaded;
}

Result<void> ApplicationCore::reload_settings() {
  log_->reopen();
  auto reloaded = load_again();
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
  logger_.info("configuration: read again, {} changed", reloaded->applied.size());
  if (!reloaded->applied.empty()) {
    apply(*settings());
    tell_settings();
  }
  return {};
}

void ApplicationCore::apply(const ApplicationSettings& settings) {
  telemetry_->set_slow_after(settings.requests.slow);
  if (statements_) statements_->set_slow_after(settings.database.slow_statement);
  const HttpSettings& http = settings.http;
  if (rate_limit_) rate_limit_->set_rate(http.rate_limit.per_second, http.rate_limit.burst);
  if (concurrency_) concurrency_->set(http.concurrency);
  if (load_shedding_) load_shedding_->set_utilisation_max(http.load_shedding.utilisation_max);
  if (auto set = log_->set_levels(settings.log.levels); !set) {
    const std::string why = set.error().describe();
    logger_.error("{}", why);
  }
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
