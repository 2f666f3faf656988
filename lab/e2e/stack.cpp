#include "lab/e2e/stack.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "katana/data/config/config.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/server/http_server_options.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"
#include "lab/e2e/heap.hpp"
#include "lab/e2e/places.hpp"
#include "lab/e2e/users.hpp"

namespace e2e {

// The stack's configuration file: as many keys as that of a service.
struct HttpPart {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::uint32_t connections_max = 16384;
  katana::Duration idle_timeout = katana::seconds(75);
  katana::Duration head_timeout = katana::seconds(10);
};
KATANA_DESCRIBE(HttpPart, (address, length(1, 64)), port, (connections_max, at_least(1)),
                idle_timeout, head_timeout)
struct LogPart {
  std::string level = "info";
  std::string file;
  bool synchronous = false;
};
KATANA_DESCRIBE(LogPart, (level, reloadable), file, synchronous)
struct DatabasePart {
  std::string path;
  unsigned readers = 4;
  katana::Duration timeout = katana::seconds(30);
};
KATANA_DESCRIBE(DatabasePart, (path, length(1, 4000)), (readers, range(1, 64)), timeout)
struct StackSettings {
  HttpPart http;
  LogPart log;
  DatabasePart database;
};
KATANA_DESCRIBE(StackSettings, http, log, database)

// The reply of GET /statistics, for the benchmark of this process.
struct Statistics {
  std::uint64_t log_records = 0;
  std::uint64_t log_dropped = 0;
  std::uint64_t heap_calls = 0;
  std::uint64_t heap_bytes = 0;
  std::int64_t live_bytes = 0;
  std::uint64_t reads_here = 0;
  std::uint64_t reads_pooled = 0;
  std::uint64_t writes = 0;
  std::uint64_t commits = 0;
};
KATANA_DESCRIBE(Statistics, log_records, log_dropped, heap_calls, heap_bytes, live_bytes,
                reads_here, reads_pooled, writes, commits)

// The systems that the registry hands out, by their types.
struct Systems {
  katana::log::Log* log;
  katana::server::Observability* observability;
  katana::thread::Pool* pool;
  katana::database::Database* database;
};

namespace {

using namespace katana;

const std::map<std::string, Logging> loggings{{"off", Logging::off},
                                              {"background", Logging::background},
                                              {"binary", Logging::binary},
                                              {"synchronous", Logging::synchronous}};

// CLI11 sets them in this order, so that `systems` is the first wherever it stands.
void describe(CLI::App& app, StackOptions& options) {
  app.set_help_flag();
  app.add_option_function<int>(
         "--systems", [&options](int count) { options = with_systems(count); },
         "the first so many of the seven, before other keys are set")
      ->check(CLI::Range(1, 7));
  app.add_option("--port", options.port, "0: any that is free");
  app.add_option("--reactors", options.reactors, "threads of the network");
  app.add_option("--engine", options.engine, "as hello_world_server names them");
  app.add_option("--folder", options.folder, "for the log and the database");
  app.add_option("--configuration", options.configuration, "read a configuration file");
  app.add_option_function<std::string>(
         "--logging", [&options](const std::string& name) { options.logging = loggings.at(name); },
         "off, background, binary or synchronous")
      ->check(CLI::IsMember(loggings));
  app.add_option("--metrics", options.metrics, "metrics and GET /metrics");
  app.add_option("--pool_threads", options.pool_threads, "of a thread pool; 0: none");
  app.add_option("--database", options.database, "a table of users and their endpoints");
  app.add_option("--readers", options.readers, "connections of the database that read");
  app.add_option("--pool_reads", options.pool_reads, "no read on the reactor");
  app.add_option("--durable", options.durable, "writes are on the disk when acknowledged");
  app.add_option("--rows", options.rows, "of the table");
  app.add_option("--registry", options.registry, "a sealed registry of services");
  app.add_option("--count_heap", options.count_heap, "count allocations for GET /statistics");
}

const std::string& name_of(Logging logging) {
  return std::ranges::find(loggings, logging, [](const auto& each) { return each.second; })->first;
}

const char* on_or_off(bool value) { return value ? "on" : "off"; }

}  // namespace

StackOptions with_systems(int count) {
  StackOptions options;
  options.folder = folder_for("systems");
  if (count >= 2) options.pool_threads = 4;
  if (count >= 3) options.logging = Logging::background;
  if (count >= 4) options.database = true;
  if (count >= 5) options.metrics = true;
  if (count >= 6) options.registry = true;
  if (count >= 7) options.configuration = true;
  options.rows = 1000;
  return options;
}

const char* system_added(int count) {
  constexpr const char* names[] = {"network", "thread",   "log",          "database",
                                   "metrics", "registry", "configuration"};
  return names[count - 1];
}

Result<StackOptions> read_options(const std::vector<std::string>& settings) {
  StackOptions options;
  CLI::App app;
  describe(app, options);
  std::vector<std::string> flags;
  for (const std::string& setting : settings) flags.insert(flags.begin(), "--" + setting);
  try {
    app.parse(flags);  // the last is first
  } catch (const CLI::ParseError& error) {
    return fail(Code::invalid_argument, error.what());
  }
  return options;
}

std::string options_help() {
  StackOptions options;
  CLI::App app;
  describe(app, options);
  std::string text = "KEY=VALUE of --serve:\n";
  for (const CLI::Option* each : app.get_options()) {
    text += fmt::format("  {:<16}{}\n", each->get_lnames().front(), each->get_description());
  }
  return text;
}

std::vector<std::string> to_arguments(const StackOptions& options) {
  return {fmt::format("port={}", options.port),
          fmt::format("reactors={}", options.reactors),
          fmt::format("pool_threads={}", options.pool_threads),
          fmt::format("readers={}", options.readers),
          fmt::format("rows={}", options.rows),
          fmt::format("logging={}", name_of(options.logging)),
          fmt::format("configuration={}", on_or_off(options.configuration)),
          fmt::format("metrics={}", on_or_off(options.metrics)),
          fmt::format("database={}", on_or_off(options.database)),
          fmt::format("pool_reads={}", on_or_off(options.pool_reads)),
          fmt::format("durable={}", on_or_off(options.durable)),
          fmt::format("registry={}", on_or_off(options.registry)),
          fmt::format("count_heap={}", on_or_off(options.count_heap)),
          fmt::format("engine={}", options.engine),
          fmt::format("folder={}", options.folder)};
}

lab::ServerCommand serving(const StackOptions& options) {
  lab::ServerCommand command{{lab::own_program(), "--serve"}, server_cpus()};
  for (std::string& each : to_arguments(options)) command.arguments.push_back(std::move(each));
  return command;
}

std::string to_line(const Phase& phase) {
  return fmt::format("phase {} {:.3f}\n", phase.name, phase.ms);
}

std::vector<Phase> phases_in(const std::string& output) {
  std::vector<Phase> phases;
  std::istringstream words(output);
  for (std::string word; words >> word;) {
    Phase phase;
    if (word == "phase" && words >> phase.name >> phase.ms) phases.push_back(phase);
  }
  return phases;
}

Result<std::unique_ptr<Stack>> Stack::make(const StackOptions& options) {
  std::unique_ptr<Stack> stack(new Stack(options));
  if (options.count_heap) count_heap_of_process();
  if (auto started = stack->start(); !started) return std::unexpected(started.error());
  return stack;
}

// The log is last: objects that are being destroyed may still write into it.
Stack::~Stack() {
  server_.reset();
  service_.reset();
  services_.reset();
  database_.reset();
  pool_.reset();
  observability_.reset();
  access_.reset();
}

template <class Start>
Result<void> Stack::phase(const char* name, bool wanted, Start begin_part) {
  if (!wanted) return {};
  const auto begin = std::chrono::steady_clock::now();
  if (auto started = (this->*begin_part)(); !started) {
    return std::unexpected(started.error().within(name));
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  phases_.push_back({name, took.count()});
  return {};
}

Result<void> Stack::start() {
  if (!options_.folder.empty()) std::filesystem::create_directories(options_.folder);
  Result<void> started = phase("configuration", options_.configuration, &Stack::read_configuration);
  if (started) started = phase("log", options_.logging != Logging::off, &Stack::start_log);
  if (started) started = phase("metrics", options_.metrics, &Stack::start_metrics);
  if (started) started = phase("pool", options_.pool_threads != 0, &Stack::start_pool);
  if (started) started = phase("database", options_.database, &Stack::open_database);
  if (started) started = phase("registry", options_.registry, &Stack::seal_registry);
  if (started) started = phase("network", true, &Stack::start_server);
  return started;
}

Result<void> Stack::read_configuration() {
  const std::string path = options_.folder + "/stack.yaml";
  std::ofstream(path) << "http:\n  address: 127.0.0.1\n  port: 8080\n  idle_timeout: 75s\n"
                         "log:\n  level: info\n  file: server.log\n"
                         "database:\n  path: users.db\n  readers: 4\n  timeout: 30s\n";
  config::Sources sources;
  sources.file = path;
  const auto config = config::Config<StackSettings>::load(std::move(sources));
  if (!config) return std::unexpected(config.error());
  return config->get()->database.path == "users.db" ? Result<void>{} : fail(Code::internal);
}

Result<void> Stack::start_log() {
  log::Options options;
  options.sinks = {options_.logging == Logging::binary
                       ? log::binary_file(options_.folder + "/server.bin")
                       : log::file(options_.folder + "/server.log")};
  if (options_.logging == Logging::synchronous) options.mode = log::Mode::synchronous;
  auto started = log::Log::start(std::move(options));
  if (!started) return std::unexpected(started.error());
  log_ = std::move(*started);
  access_ = std::make_unique<server::AccessLog>(log_->logger("access"));
  return {};
}

Result<void> Stack::start_metrics() {
  auto made = server::Observability::make();
  if (!made) return std::unexpected(made.error());
  observability_ = std::move(*made);
  return {};
}

Result<void> Stack::start_pool() {
  auto made = thread::Pool::create({.name = "work", .threads_min = options_.pool_threads});
  if (!made) return std::unexpected(made.error());
  pool_ = std::move(*made);
  return {};
}

Result<void> Stack::open_database() {
  database::sqlite::Options options;
  options.path = options_.folder + "/users.db";
  options.readers = options_.readers;
  if (options_.pool_reads) options.reads_per_turn_max = 0;
  if (!options_.durable) options.durability = database::Durability::normal;
  auto opened = database::sqlite::open(std::move(options));
  if (!opened) return std::unexpected(opened.error());
  database_ = std::make_unique<database::Database>(std::move(*opened));
  return make_users(*database_, options_.rows);
}

Result<void> Stack::seal_registry() {
  registry::Registry registry;
  if (log_) registry.instance<log::Log>(*log_);
  if (observability_) registry.instance<server::Observability>(*observability_);
  if (pool_) registry.instance<thread::Pool>(*pool_);
  if (database_) registry.instance<database::Database>(*database_);
  registry.singleton<Systems>([](log::Log* of_log, server::Observability* of_metrics,
                                 thread::Pool* of_pool, database::Database* of_database) {
    return std::make_unique<Systems>(Systems{of_log, of_metrics, of_pool, of_database});
  });
  auto sealed = std::move(registry).seal();
  if (!sealed) return std::unexpected(sealed.error());
  services_ = std::move(*sealed);
  return {};
}

Result<void> Stack::start_server() {
  Router router;
  if (observability_) {
    observability_->mount(router, guard_);
  } else {
    router.get("/health", [] { return Reply::json(R"({"status":"pass"})"); });
  }
  router.get("/plaintext", [] { return Reply::text("Hello, World!"); });
  router.get("/statistics", [this] { return Reply::json(format_text("{}", statistics())); });
  if (database_) mount_users(router, *database_);
  auto built = std::move(router).build();
  if (!built) return std::unexpected(built.error());
  service_ = std::make_unique<Service>(std::move(*built));

  auto engine = server::choose_engine(options_.engine);
  if (!engine) return std::unexpected(engine.error());
  server::HttpServerOptions options;
  options.port = options_.port;
  options.reactors = options_.reactors;
  options.engine = engine->kind;
  options.observability = observability_.get();
  if (access_) options.http.observer = access_.get();
  server_ = std::make_unique<server::HttpServer>(options, *service_);
  return server_->start();
}

std::string Stack::statistics() const {
  Statistics found;
  if (log_) {
    log_->flush();
    found.log_records = log_->counts().records;
    found.log_dropped = log_->counts().dropped;
  }
  const HeapCounts heap = heap_of_process();
  found.heap_calls = heap.calls;
  found.heap_bytes = heap.bytes;
  found.live_bytes = heap.live_bytes;
  if (database_) {
    const database::Statistics statistics = database_->statistics();
    found.reads_here = statistics.reads_here;
    found.reads_pooled = statistics.reads_pooled;
    found.writes = statistics.writes;
    found.commits = statistics.commits;
  }
  std::string text;
  container::write_json(found, text);
  return text;
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
