#include "katana/app/telemetry/telemetry.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include "katana/app/telemetry/exporter_thread.hpp"
#include "katana/app/telemetry/log_exporter.hpp"
#include "katana/app/telemetry/metric_exporter.hpp"
#include "katana/app/telemetry/otel_variables.hpp"
#include "katana/app/telemetry/process_context.hpp"
#include "katana/app/telemetry/process_resource.hpp"
#include "katana/app/telemetry/span_exporter.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/http/client/url.hpp"
#include "katana/observe/trace/baggage.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::app {
namespace {

std::uint64_t wall_ns_now() noexcept {
  return static_cast<std::uint64_t>(clock_time(CLOCK_REALTIME).ns);
}
Duration wall_offset_now() noexcept { return {clock_time(CLOCK_REALTIME).ns - monotonic_now().ns}; }

// "name=value", as headers of the settings are.
Result<std::pair<std::string, std::string>> header_of(const std::string& text) {
  const std::size_t sign = text.find('=');
  const auto trimmed = [](std::string part) {
    while (part.ends_with(' ')) part.pop_back();
    part.erase(0, part.find_first_not_of(' '));
    return part;
  };
  if (sign == std::string::npos || trimmed(text.substr(0, sign)).empty()) {
    return fail(Code::invalid_argument, "telemetry.headers: an element is no name=value");
  }
  return std::pair(trimmed(text.substr(0, sign)), trimmed(text.substr(sign + 1)));
}

Result<otlp::Resource> resource_of(const TelemetrySettings& settings, std::string_view program,
                                   std::string_view version) {
  otlp::Resource resource;
  resource.set("telemetry.sdk.name", "katana");
  resource.set("telemetry.sdk.language", "cpp");
  resource.set("service.name", program.empty() ? Bytes("unknown_service") : Bytes(program));
  resource.set("service.version", version);
  resource.set("service.instance.id", Uuid::random().to_text());
  add_process_attributes(resource, process_sources());
  if (auto read = resource.read(settings.resource); !read) {
    return std::unexpected(read.error().within("telemetry.resource"));
  }
  if (!settings.service_name.empty()) resource.set("service.name", settings.service_name);
  return resource;
}

bool is_on_this_machine(const std::string& url) {
  const auto parsed = client::parse_url(url);
  return parsed && client::is_this_machine(parsed->origin);
}

bool is_compressed(const SignalTarget& target) {
  if (target.compression != TelemetryCompression::automatic) {
    return target.compression == TelemetryCompression::gzip;
  }
  return !is_on_this_machine(target.url);
}

otlp::MetricsEncoderOptions encoder_of(const TelemetryMetricsSettings& settings) {
  using enum TelemetryTemporality;
  otlp::MetricsEncoderOptions options{.started_ns = wall_ns_now()};
  options.temporality = settings.temporality == delta       ? otlp::Temporality::delta
                        : settings.temporality == lowmemory ? otlp::Temporality::low_memory
                                                            : otlp::Temporality::cumulative;
  if (settings.histograms == TelemetryHistograms::explicit_bounds) {
    options.histograms = otlp::HistogramForm::explicit_bounds;
  }
  return options;
}

class TelemetryPart final : public PartWith<TelemetrySettings> {
 public:
  TelemetryPart()
      : PartWith("telemetry",
                 "traces, metrics and logs, and the collector that gets them by OTLP") {}

  Result<void> check() const override;
  void add_needs(PartNeeds& needs) const override;
  void judge(std::vector<InsecureSetting>& findings) const override;
  bool exports_metrics() const override {
    return start_ && start_->effective.settings.metrics.enabled;
  }
  void add_outputs(std::vector<log::SinkOptions>& outputs) override;
  Result<void> start(const PartContext& context) override;
  void provide(registry::Registry& registry) override {
    if (tracer_) registry.instance<trace::Tracer>(*tracer_);
  }
  Result<void> observe(metrics::Registry& metrics, metrics::HealthChecks& checks) override;
  void drain() noexcept override {
    if (exporter_) exporter_->drain();
  }
  void stop() noexcept override;

 private:
  // Arguments of the exporters, kept until the registry is there.
  struct Start {
    EffectiveTelemetry effective;
    otlp::Resource resource;
    otlp::Scope scope;
    log::Logger logger;
  };

  const EffectiveTelemetry& effective();
  void start_tracer(const PartContext& context, const TelemetrySettings& wanted,
                    trace::Sampler sampler);
  Result<void> start_exporters(metrics::Registry& metrics);
  Result<client::HttpClient> client_of(const SignalTarget& target);
  Result<OtlpSenderOptions> sender_of(const char* signal, const SignalTarget& target) const;
  Result<void> add_tracer_metrics(metrics::Registry& metrics);
  Result<void> add_exporter_metrics(metrics::Registry& metrics);

  std::optional<EffectiveTelemetry> effective_;
  std::optional<Start> start_;                        // none: off, or in a test
  std::optional<ProcessContext> shown_;               // none: off, or the kernel refused
  std::optional<client::HttpClient> plain_, secure_;  // for http:// and https://, once used
  log::Log* log_ = nullptr;
  std::shared_ptr<LogQueue> log_queue_;       // null: records are not sent
  const SpanExporter* spans_ = nullptr;       // of exporter_; null: spans are not sent
  std::optional<trace::Tracer> tracer_;       // none: it is off
  std::unique_ptr<ExporterThread> exporter_;  // null: off, or in a test
  std::atomic<ExporterThread*> to_wake_{nullptr};
};

Result<void> TelemetryPart::check() const {
  if (auto made = trace::Sampler::make(settings().sampler, settings().ratio); !made) {
    return std::unexpected(made.error().within("telemetry.sampler"));
  }
  if (auto url = client::parse_url(settings().endpoint); !url) {
    return std::unexpected(url.error().within("telemetry.endpoint"));
  }
  for (const std::string& each : settings().headers) {
    if (auto header = header_of(each); !header) return std::unexpected(header.error());
  }
  for (const std::string& each : settings().baggage) {
    if (!trace::is_baggage_key(each)) {
      return fail(Code::invalid_argument,
                  fmt::format("telemetry.baggage: '{}' is no key: use letters, digits, '.', '_' "
                              "and '-'",
                              each));
    }
  }
  if (auto level = log::parse_level(settings().logs.level); !level) {
    return std::unexpected(level.error().within("telemetry.logs.level"));
  }
  otlp::Resource resource;
  if (auto read = resource.read(settings().resource); !read) {
    return std::unexpected(read.error().within("telemetry.resource"));
  }
  return {};
}

void TelemetryPart::add_needs(PartNeeds& needs) const {
  if (!settings().enabled) return;
  needs.connections = true;
  needs.files.push_back(settings().tls.authorities_file);
  needs.files.push_back(settings().tls.certificate.chain_file);
  needs.files.push_back(settings().tls.certificate.key_file);
  needs.secrets.push_back({"telemetry.tls.certificate.key", settings().tls.certificate.key_file});
}

void TelemetryPart::judge(std::vector<InsecureSetting>& findings) const {
  const std::string& url = settings().endpoint;
  if (!settings().enabled) return;
  if (url.starts_with("http:") && !is_on_this_machine(url)) {
    findings.push_back({"telemetry.endpoint", "http://…",
                        "paths, addresses of clients, the log and the headers go to the collector "
                        "without TLS",
                        "write https://, or run a collector on this machine"});
  }
  if (settings().tls.dangerously_accept_any_certificate) {
    findings.push_back({"telemetry.tls.dangerously_accept_any_certificate", "true",
                        "an attacker on the way can be the collector",
                        "set telemetry.tls.authorities_file"});
  }
}

const EffectiveTelemetry& TelemetryPart::effective() {
  if (!effective_) {
    effective_ =
        with_otel_variables(settings(), [](const char* name) { return std::getenv(name); });
  }
  return *effective_;
}

// Before the log begins; not in a test.
void TelemetryPart::add_outputs(std::vector<log::SinkOptions>& outputs) {
  const TelemetrySettings& wanted = effective().settings;
  if (!wanted.enabled || !wanted.logs.enabled) return;
  log_queue_ = std::make_shared<LogQueue>(wanted.logs.queue_records_max);
  outputs.push_back(otlp_output(log_queue_, *log::parse_level(wanted.logs.level)));
}

Result<void> TelemetryPart::start(const PartContext& context) {
  if (context.embedded) effective_ = {.settings = settings()};  // no variables
  const log::Logger logger = context.log.logger("telemetry");
  for (const std::string& note : effective().notes) logger.warn("{}", note);
  const TelemetrySettings& wanted = effective().settings;
  if (!wanted.enabled) return {};
  log_ = &context.log;
  if (wanted.traces) {
    auto sampler = trace::Sampler::make(wanted.sampler, wanted.ratio);
    if (!sampler) return std::unexpected(sampler.error());
    start_tracer(context, wanted, *sampler);
  }
  if (context.embedded) return {};
  auto resource = resource_of(wanted, context.program, context.version);
  if (!resource) return std::unexpected(resource.error());
  if (wanted.process_context) {
    auto shown = ProcessContext::make(*resource);
    if (shown) {
      shown_.emplace(*std::move(shown));
    } else {
      logger.info("profilers do not see which service this is: {}", shown.error().describe());
    }
  }
  start_.emplace(Start{effective(), *std::move(resource), {"katana", context.version}, logger});
  return {};
}

void TelemetryPart::start_tracer(const PartContext& context, const TelemetrySettings& wanted,
                                 trace::Sampler sampler) {
  tracer_.emplace(trace::TracerOptions{.sampler = std::move(sampler),
                                       .spans_max = wanted.thread_spans_max,
                                       .keep_slow = wanted.keep_slow,
                                       .keep_failed = wanted.keep_failed,
                                       .experimental = wanted.experimental,
                                       .exemplars = wanted.metrics.exemplars,
                                       .propagates = wanted.trace_context,
                                       .baggage = wanted.baggage,
                                       .clock = context.clock,
                                       .on_filling =
                                           [this] {
                                             // acquire: with the exporter
                                             auto* const to =
                                                 to_wake_.load(std::memory_order_acquire);
                                             if (to != nullptr) to->wake();
                                           },
                                       .seed = context.embedded ? 1u : 0u});
}

// Signals with the same scheme share a client.
Result<client::HttpClient> TelemetryPart::client_of(const SignalTarget& target) {
  const EffectiveTelemetry& effective = start_->effective;
  const bool is_secure = target.url.starts_with("https:");
  std::optional<client::HttpClient>& kept = is_secure ? secure_ : plain_;
  if (kept) return *kept;
  client::HttpClientOptions options;
  options.connections_max = 3;  // one for each signal
  options.retries_max = 0;      // OtlpSender decides on retries
  options.content_bytes_max = 4 * 1024 * 1024;
  options.user_agent = "OTel-OTLP-Exporter-katana";
  options.tokens_in_plaintext = true;  // the operator gave the headers; judge() tells of plaintext
  options.tls = effective.settings.tls;
  // They take time to read, and plaintext does not need them.
  if (!is_secure) options.tls.system_authorities = false;
  options.proxy = is_secure ? effective.secure_proxy : effective.plain_proxy;
  auto made = client::HttpClient::make(std::move(options));
  if (made) kept = *made;
  return made;
}

Result<OtlpSenderOptions> TelemetryPart::sender_of(const char* signal,
                                                   const SignalTarget& target) const {
  OtlpSenderOptions options{.signal = signal,
                            .url = target.url,
                            .timeout = target.timeout,
                            .gzip = is_compressed(target),
                            .resource = start_->resource,
                            .scope = start_->scope,
                            .seed = static_cast<std::uint64_t>(monotonic_now().ns)};
  for (const std::string& each : target.headers) {
    auto header = header_of(each);
    if (!header) return std::unexpected(header.error());
    options.headers.push_back(*std::move(header));
  }
  return options;
}

Result<void> TelemetryPart::start_exporters(metrics::Registry& metrics) {
  const TelemetrySettings& wanted = start_->effective.settings;
  auto spans_http = client_of(start_->effective.traces);
  auto metrics_http = client_of(start_->effective.metrics);
  auto logs_http = client_of(start_->effective.logs);
  for (const auto* each : {&spans_http, &metrics_http, &logs_http}) {
    if (!*each) return std::unexpected(each->error());
  }
  auto of_spans = sender_of("spans", start_->effective.traces);
  auto of_metrics = sender_of("metrics", start_->effective.metrics);
  auto of_logs = sender_of("log records", start_->effective.logs);
  for (const auto* each : {&of_spans, &of_metrics, &of_logs}) {
    if (!*each) return std::unexpected(each->error());
  }
  ExporterThread::Exporters exporters;
  if (tracer_) {
    auto spans = std::make_unique<SpanExporter>(
        *tracer_, *spans_http,
        SpanExporterOptions{.sender = *std::move(of_spans),
                            .interval = wanted.interval,
                            .batch_spans_max = wanted.batch_spans_max,
                            .queue_spans_max = wanted.queue_spans_max,
                            .wall_offset = &wall_offset_now},
        start_->logger);
    spans_ = spans.get();
    exporters.push_back(std::move(spans));
  }
  if (wanted.metrics.enabled) {
    exporters.push_back(std::make_unique<MetricExporter>(
        metrics, *metrics_http,
        MetricExporterOptions{.sender = *std::move(of_metrics),
                              .encoder = encoder_of(wanted.metrics),
                              .interval = wanted.metrics.interval,
                              .wall_ns = &wall_ns_now},
        start_->logger));
  }
  if (log_queue_) {
    exporters.push_back(std::make_unique<LogExporter>(
        log_queue_, *logs_http,
        LogExporterOptions{.sender = *std::move(of_logs),
                           .interval = wanted.logs.interval,
                           .batch_records_max = wanted.logs.batch_records_max},
        start_->logger));
  }
  if (exporters.empty()) return {};
  auto started = ExporterThread::start(std::move(exporters));
  if (!started) return std::unexpected(started.error());
  exporter_ = *std::move(started);
  to_wake_.store(exporter_.get(), std::memory_order_release);
  exporter_->wake();  // spans may have ended before it could be woken
  if (log_queue_) log_queue_->set_wake([exporter = exporter_.get()] { exporter->wake(); });
  return add_exporter_metrics(metrics);
}

Result<void> TelemetryPart::observe(metrics::Registry& metrics, metrics::HealthChecks&) {
  if (tracer_) {
    if (auto added = add_tracer_metrics(metrics); !added) return added;
  }
  return start_ ? start_exporters(metrics) : Result<void>();
}

Result<void> TelemetryPart::add_tracer_metrics(metrics::Registry& metrics) {
  auto dropped = metrics.observed_counters({.name = "katana_telemetry_spans_unrecorded",
                                            .help = "Spans that were not recorded, by reason.",
                                            .labels = {"reason"}});
  if (!dropped) return std::unexpected(dropped.error());
  auto ignored = metrics.observed_counters(
      {.name = "katana_telemetry_context_ignored",
       .help = "Fields traceparent, tracestate and baggage that were malformed or too long.",
       .labels = {"field"}});
  if (!ignored) return std::unexpected(ignored.error());
  auto cut = metrics.observed_counters({.name = "katana_telemetry_texts_cut",
                                        .help = "Texts of spans that were cut for want of room."});
  if (!cut) return std::unexpected(cut.error());
  metrics.before_scrape([this, cut = cut->with(), full = dropped->with("buffer_full"),
                         held = dropped->with("held_full"), parent = ignored->with("traceparent"),
                         state = ignored->with("tracestate"), baggage = ignored->with("baggage")] {
    if (!tracer_) return;
    cut.observe(static_cast<double>(tracer_->cut_texts()));
    full.observe(static_cast<double>(tracer_->counted(trace::Drop::buffer_full)));
    held.observe(static_cast<double>(tracer_->counted(trace::Drop::held_full)));
    parent.observe(static_cast<double>(tracer_->counted(trace::Ignored::trace_parent)));
    state.observe(static_cast<double>(tracer_->counted(trace::Ignored::trace_state)));
    baggage.observe(static_cast<double>(tracer_->counted(trace::Ignored::baggage)));
  });
  return {};
}

// "katana_telemetry_spans", "katana_telemetry_metrics", "katana_telemetry_log_records".
metrics::Description fates_of(const OtlpSender& sender) {
  std::string name = "katana_telemetry_" + sender.signal();
  std::ranges::replace(name, ' ', '_');
  const char* const help =
      sender.signal() == "metrics" ? "Points of metrics by what became of them."
      : sender.signal() == "spans" ? "Recorded spans by what became of them."
                                   : "Records of the log by what became of them at the collector.";
  return {.name = std::move(name), .help = help, .labels = {"outcome"}};
}

Result<void> TelemetryPart::add_exporter_metrics(metrics::Registry& metrics) {
  auto exports = metrics.observed_counters({.name = "katana_telemetry_exports",
                                            .help = "Attempts to export, by signal.",
                                            .labels = {"signal", "outcome"}});
  if (!exports) return std::unexpected(exports.error());
  for (const auto& exporter : exporter_->exporters()) {
    const OtlpSender& sender = exporter->sender();
    auto family = metrics.observed_counters(fates_of(sender));
    if (!family) return std::unexpected(family.error());
    std::vector<metrics::ObservedCounter> fates;
    for (std::size_t fate = 0; fate < static_cast<std::size_t>(OtlpFate::count); ++fate) {
      fates.push_back(family->with(fate_name(static_cast<OtlpFate>(fate))));
    }
    metrics.before_scrape([this, &sender, fates = std::move(fates),
                           succeeded = exports->with(sender.signal(), "ok"),
                           failed = exports->with(sender.signal(), "error")] {
      if (!exporter_) return;
      for (std::size_t fate = 0; fate < fates.size(); ++fate) {
        fates[fate].observe(static_cast<double>(sender.counted(static_cast<OtlpFate>(fate))));
      }
      succeeded.observe(static_cast<double>(sender.exports(true)));
      failed.observe(static_cast<double>(sender.exports(false)));
    });
  }
  if (spans_ == nullptr) return {};
  auto queued = metrics.gauge("katana_telemetry_queue_spans", "Spans that wait for the collector.");
  if (!queued) return std::unexpected(queued.error());
  metrics.before_scrape([this, queued = *queued] {
    if (exporter_) queued.set(static_cast<double>(spans_->queued()));
  });
  return {};
}

void TelemetryPart::stop() noexcept {
  // A thread that wakes it now has taken its pointer before: threads of requests have ended.
  to_wake_.store(nullptr, std::memory_order_release);
  if (log_queue_) log_queue_->set_wake(nullptr);
  if (!exporter_) return;
  if (log_queue_) log_->flush(milliseconds(50));  // records up to here are sent, too
  exporter_->stop(start_->effective.settings.flush_timeout);
  exporter_.reset();  // before the log that it writes to
}

}  // namespace

std::unique_ptr<Part> telemetry() { return std::make_unique<TelemetryPart>(); }

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
