// The server of an application: its middleware, routes and listeners, and its records in the log.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <ranges>
#include <source_location>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "katana/app/profile_page.hpp"
#include "katana/app/program.hpp"
#include "katana/app/security.hpp"
#include "katana/app/server_options.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/base/text/short_number.hpp"
#include "katana/http/forms/form.hpp"
#include "katana/http/handlers/built_service.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/observe/trace/tracer.hpp"
#include "katana/openapi/document/docs_page.hpp"

namespace katana::app {
namespace {

std::string gibibytes_of(std::size_t bytes) {
  return short_number(static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0)) + " GiB";
}

// Says how far a function that adds routes came before it threw.
class StartRouter final : public Router {
 public:
  std::size_t route_count() const noexcept { return parts_->routes.size(); }
  const session::RouteMark& last_route() const { return parts_->routes.back().mark; }
};

template <class Add>
Result<void> add_to(const StartRouter& router, Bytes function, const std::source_location& where,
                    Add add) {
  const std::size_t count = router.route_count();
  try {
    return add();
  } catch (const std::exception& thrown) {
    const Bytes file = where.file_name();
    std::string place = "before its first route";
    if (router.route_count() > count) {
      place = fmt::format("after {} {}", router.last_route().method, router.last_route().pattern);
    }
    return fail(Code::internal,
                fmt::format("{}() at {}:{}, {}: {}", function, file.substr(file.rfind('/') + 1),
                            where.line(), place, thrown.what()));
  }
}

}  // namespace

// Load is shed first, because that costs least; who waits for a place has passed the rest.
void Program::use_middleware(Router& router) {
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

Result<void> Program::start_routes() {
  if (auto made = make_guard(); !made) return made;
  StartRouter router;
  router.services(*services_)
      .development(settings()->development)
      .defaults(settings()->http.routes);
  observability_->mount(router, *guard_);
  Group pages = router.group("");
  pages.use(guard_->pages());
  if (auto added = queues_.add_pages(pages); !added) return added;
  add_profile_page(pages);
  Group shell = router.group("");
  shell.use(guard_->shell());
  if (auto added = add_live(pages, shell); !added) return added;
  if (add_operations_) {
    auto added = add_to(router, "operations", operations_at_,
                        [&] { return add_operations_(*services_, pages); });
    if (!added) return added;
  }
  // Routes that are added from here on are the program's own.
  if (guard_->guards_application()) router.use(guard_->application());
  use_middleware(router);
  check_replies(router);
  if (add_routes_) {
    auto added =
        add_to(router, "routes", routes_at_, [&] { return add_routes_(*services_, router); });
    if (!added) return added;
  }
  if (auto checked = caches_->check_names(); !checked) return checked;
  add_docs_page(router);
  auto built = std::move(router).build();
  if (!built) return std::unexpected(built.error());
  service_.emplace(std::move(*built));
  return {};
}

// Open to all, as the documents are that it shows.
void Program::add_docs_page(Router& router) {
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

// The options of the server, with the callbacks and objects of the running program.
server::HttpServerOptions Program::server_options(const ApplicationSettings& settings,
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
    // Four times as often: a reactor that is late once is then no reason for a restart.
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

Result<void> Program::start_http() {
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
      .standard = standard_metrics(),
      .tracer = services_->find<trace::Tracer>(),
      .slowest = &slowest_,
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
  if (!server->placement().empty()) logger_.info("reactors on CPUs {}", server->placement());
  const std::lock_guard lock(server_mutex_);
  server_ = std::move(server);
  if (told_to_end_) server_->shutdown();
  return {};
}

// Reports the duration of the start, part by part: in a record, and in a metric.
Result<void> Program::tell_phases() {
  auto family = observability_->registry().gauges(
      {.name = "katana_startup_seconds",
       .help = "Duration of each part of the start; parts that do not need one another overlap.",
       .labels = {"part"},
       .unit = "seconds"});
  if (!family) return std::unexpected(family.error());
  Duration whole;
  for (const PartReport& report : startup_.reports()) {
    family->with(report.name).set(static_cast<double>(report.took.ns) / 1e9);
    whole = std::max(whole, Duration{report.began.ns + report.took.ns});
    logger_.info("started", log::field("part", report.name),
                 log::field("after_ms", short_ms(report.began)),
                 log::field("took_ms", short_ms(report.took)));
  }
  const net::MemoryBudget budget = server_->memory_budget();
  logger_.info("all parts started in {} ms", short_ms(whole));
  logger_.info("address space reserved: {} per reactor (memory is used only under load)",
               gibibytes_of(budget.total()), log::field("connections_bytes", budget.connections),
               log::field("input_bytes", budget.carry), log::field("output_bytes", budget.output),
               log::field("engine_bytes", budget.engine), log::field("held_bytes", budget.held),
               log::field("shared_bytes", budget.shared));
  return {};
}

// Called on the first reactor's thread, or on that of the watch.
void Program::on_certificates(const Result<std::vector<std::string>>& reloaded) {
  if (!reloaded) {
    logger_.error("certificates are not read again, the present ones stay: {}",
                  reloaded.error().describe());
    return;
  }
  for (const std::string& note : *reloaded) logger_.warn("certificates: {}", note);
  logger_.info("certificates: read again");
}

void Program::on_drain() {
  const std::string seconds =
      short_number(static_cast<double>(settings()->http.drain_timeout.ns) / 1e9, 3);
  switch (server_ ? server_->ended_by() : 0) {
    case SIGTERM: logger_.info("SIGTERM received: draining for up to {} s", seconds); break;
    case SIGINT: logger_.info("SIGINT received: draining for up to {} s", seconds); break;
    default: logger_.info("shutdown requested: draining for up to {} s", seconds);
  }
  if (profile_page_) profile_page_->drain();
  for (const auto& part : parts_.all() | std::views::reverse) part->drain();
  tell_manager(manager_.stopping("finishing what is in flight"));
}

// Called on the thread that waits for signals. The process ends when this returns, and does not
// wait long for the disk.
void Program::on_stuck(const server::ServerReport& report) {
  constexpr std::chrono::seconds flush_max(2);
  logger_.error("{}: the process ends without it", report.stuck);
  log_report(report);
  auto flushed = std::make_shared<std::promise<void>>();
  std::thread([log = log_.get(), flushed] {
    log->flush();
    flushed->set_value();
  }).detach();
  if (flushed->get_future().wait_for(flush_max) == std::future_status::ready) return;
  // The log cannot say it: its file or its reader takes nothing.
  print_error_line(fmt::format("{}: {}", options_.name, report.describe()), last_words_max);
}

void Program::log_report(const server::ServerReport& report) const {
  logger_.info(
      "stopped after {} {}", report.requests, report.requests == 1 ? "request" : "requests",
      log::field("requests", report.requests), log::field("connections", report.connections),
      log::field("cut_off", report.cut_off), log::field("failures", report.failures),
      log::field("tasks_cancelled", report.tasks_cancelled));
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
