// The services of an application: those in its registry, the verification of tokens, the bus, and
// the figures of all of them.
#include <memory>
#include <stop_token>
#include <utility>

#include "katana/app/program.hpp"
#include "katana/app/program_redis.hpp"
#include "katana/app/security.hpp"
#include "katana/app/system_metrics.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/observe/metrics/standard_names.hpp"
#include "katana/observe/trace/tracer.hpp"
#include "katana/stores/bus/fan_out.hpp"

namespace katana::app {

Result<void> Program::start_services() {
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
  } else {
    const char* const remedy = "the program has no database: set 'database.url'";
    registry.absent<database::Database>(remedy);
    registry.absent<queue::JobQueue>(remedy);
  }
  if (!options_.http_client) {
    registry.absent<client::HttpClient>(
        "the program has none: set ApplicationOptions::http_client");
  }
  if (options_.http_client) {
    client::HttpClientOptions how = settings()->client;
    how.codecs = options_.http_client_codecs;
    if (embedding_) how.tls.system_authorities = false;  // there is no network to trust
    if (auto measured = measure_calls(how); !measured) return measured;
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
  settings_->register_in(registry);
  if (auto started = start_authentication(registry); !started) return started;
  for (const auto& part : parts_.all()) part->provide(registry);
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
  trace_systems();
  return {};
}

Result<void> Program::measure_calls(client::HttpClientOptions& how) {
  const server::StandardMetricUse use = standard_metrics();
  if (use == server::StandardMetricUse::off) return {};
  auto family = observability_->registry().log_histograms(
      metrics::description_of(metrics::http_client_request_duration(),
                              use == server::StandardMetricUse::exposed),
      metrics::standard_shape());
  if (!family) return std::unexpected(family.error());
  how.on_attempt = [family = *family](const client::AttemptReport& report) {
    const auto text = [](unsigned number) {
      return number == 0 ? std::string() : std::to_string(number);
    };
    family
        .with(report.method, report.host, text(report.port), text(report.status), report.version,
              report.error)
        .observe(report.duration);
  };
  return {};
}

server::StandardMetricUse Program::standard_metrics() const {
  if (settings()->metrics.names == MetricNames::opentelemetry) {
    return server::StandardMetricUse::exposed;
  }
  for (const auto& part : parts_.all()) {
    if (part->exports_metrics()) return server::StandardMetricUse::exported;
  }
  return server::StandardMetricUse::off;
}

void Program::trace_systems() {
  trace::Tracer* const tracer = services_->find<trace::Tracer>();
  if (tracer == nullptr) return;
  if (migrations_) migrations_->trace_with(tracer);
  if (!tracer->options().experimental) return;
  if (auto* const bus = services_->find<bus::Bus>()) bus->fan_out().trace_with(*tracer);
  pool_spans_ = std::make_unique<PoolSpans>(*tracer);
  pool_spans_->begin(*pools_);
}

Result<void> Program::start_authentication(registry::Registry& registry) {
  client::HttpClientOptions how = settings()->client;
  if (embedding_) how.tls.system_authorities = false;
  auto made = Authentication::make(settings()->auth, how, log_->logger("auth"));
  if (!made) return std::unexpected(made.error());
  authentication_ = *std::move(made);
  if (describes_) authentication_->describe_only();
  registry.instance<Authentication>(*authentication_);
  if (embedding_ || !authentication_->is_remote()) return {};
  on_start([this](const registry::Services&) {
    return spawn(jobs::job_function([this] { return authentication_->load(); }), "fetch keys");
  });
  return observability_->checks().add(
      {.name = "auth keys",
       .run = [this](std::stop_token) { return authentication_->health(); },
       .may_block = false});
}

// Adds the figures and health checks of the systems: for /metrics and /ready.
Result<void> Program::add_figures() {
  metrics::Registry& registry = observability_->registry();
  metrics::HealthChecks& checks = observability_->checks();
  if (auto added = add_log_metrics(registry, *log_); !added) return added;
  if (auto added = add_sandbox_metrics(registry); !added) return added;
  if (auto added = add_crash_metrics(registry, crash_folder_, options_.name); !added) return added;
  if (auto added = add_pool_metrics(registry, *pools_); !added) return added;
  if (auto added = security_->add_metrics(registry); !added) return added;
  if (auto added = add_log_check(checks, *log_); !added) return added;
  if (auto added = security_->add_checks(checks); !added) return added;
  if (auto added = add_pool_checks(checks, *pools_); !added) return added;
  for (const auto& part : parts_.all()) {
    auto added = part->observe(registry, checks);
    if (!added) return std::unexpected(added.error().within(std::string(part->name())));
  }
  if (!embedding_) {
    if (auto added = add_upstream_checks(checks, *settings()); !added) return added;
  }
  if (!database_) return {};
  if (auto added = add_database_metrics(registry, *database_); !added) return added;
  return add_database_check(checks, *database_);
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
