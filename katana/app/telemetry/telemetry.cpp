#include "katana/app/telemetry/telemetry.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include "katana/app/telemetry/exporter_thread.hpp"
#include "katana/app/telemetry/otel_variables.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/http/client/url.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::app {
namespace {

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
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) resource.set("host.name", host.data());
  resource.set("process.pid", std::to_string(::getpid()));
  resource.set("process.executable.name", program_invocation_short_name);
  if (auto read = resource.read(settings.resource); !read) {
    return std::unexpected(read.error().within("telemetry.resource"));
  }
  if (!settings.service_name.empty()) resource.set("service.name", settings.service_name);
  return resource;
}

class TelemetryPart final : public PartWith<TelemetrySettings> {
 public:
  TelemetryPart() : PartWith("telemetry", "traces, and the collector that gets them by OTLP") {}

  Result<void> check() const override;
  void add_needs(PartNeeds& needs) const override;
  void judge(std::vector<InsecureSetting>& findings) const override;
  Result<void> start(const PartContext& context) override;
  void provide(registry::Registry& registry) override {
    if (tracer_) registry.instance<trace::Tracer>(*tracer_);
  }
  Result<void> observe(metrics::Registry& metrics, metrics::HealthChecks& checks) override;
  void stop() noexcept override;

 private:
  Result<void> start_exporter(const PartContext& context, const EffectiveTelemetry& effective);
  Result<void> add_exporter_metrics(metrics::Registry& metrics);

  Duration flush_timeout_ = {};
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
  const bool is_local = url.find("//127.") != std::string::npos ||
                        url.find("//localhost") != std::string::npos ||
                        url.find("//[::1]") != std::string::npos;
  if (url.starts_with("http:") && !is_local) {
    findings.push_back({"telemetry.endpoint", "http://…",
                        "paths, addresses of clients and the headers go to the collector without "
                        "TLS",
                        "write https://, or run a collector on this machine"});
  }
  if (settings().tls.dangerously_accept_any_certificate) {
    findings.push_back({"telemetry.tls.dangerously_accept_any_certificate", "true",
                        "an attacker on the way can be the collector",
                        "set telemetry.tls.authorities_file"});
  }
}

Result<void> TelemetryPart::start(const PartContext& context) {
  const log::Logger logger = context.log.logger("telemetry");
  const EffectiveTelemetry effective =
      with_otel_variables(settings(), [embedded = context.embedded](const char* name) {
        return embedded ? nullptr : std::getenv(name);
      });
  for (const std::string& note : effective.notes) logger.warn("{}", note);
  const TelemetrySettings& wanted = effective.settings;
  if (!wanted.enabled) return {};
  flush_timeout_ = wanted.flush_timeout;
  auto sampler = trace::Sampler::make(wanted.sampler, wanted.ratio);
  if (!sampler) return std::unexpected(sampler.error());
  tracer_.emplace(trace::TracerOptions{.sampler = *sampler,
                                       .spans_max = wanted.thread_spans_max,
                                       .keep_slow = wanted.keep_slow,
                                       .keep_failed = wanted.keep_failed,
                                       .clock = context.clock,
                                       .on_filling =
                                           [this] {
                                             // acquire: with the exporter
                                             auto* const to =
                                                 to_wake_.load(std::memory_order_acquire);
                                             if (to != nullptr) to->wake();
                                           },
                                       .seed = context.embedded ? 1u : 0u});
  if (context.embedded) return {};
  return start_exporter(context, effective);
}

Result<void> TelemetryPart::start_exporter(const PartContext& context,
                                           const EffectiveTelemetry& effective) {
  const TelemetrySettings& wanted = effective.settings;
  auto resource = resource_of(wanted, context.program, context.version);
  if (!resource) return std::unexpected(resource.error());
  SpanExporterOptions options{.url = effective.traces_url,
                              .timeout = wanted.timeout,
                              .interval = wanted.interval,
                              .gzip = wanted.compression == TelemetryCompression::gzip,
                              .batch_spans_max = wanted.batch_spans_max,
                              .queue_spans_max = wanted.queue_spans_max,
                              .resource = *std::move(resource),
                              .scope = {"katana", context.version},
                              .wall_offset = &wall_offset_now,
                              .seed = static_cast<std::uint64_t>(monotonic_now().ns)};
  for (const std::string& each : wanted.headers) {
    auto header = header_of(each);
    if (!header) return std::unexpected(header.error());
    options.headers.push_back(*std::move(header));
  }
  client::HttpClientOptions of_client;
  of_client.connections_max = 1;
  of_client.retries_max = 0;  // the exporter's own rules say what is sent again
  of_client.content_bytes_max = 4 * 1024 * 1024;
  of_client.user_agent = "OTel-OTLP-Exporter-katana";
  of_client.tls = wanted.tls;
  // They take time to read, and plaintext does not need them.
  if (!effective.traces_url.starts_with("https:")) of_client.tls.system_authorities = false;
  auto http = client::HttpClient::make(std::move(of_client));
  if (!http) return std::unexpected(http.error().within("telemetry"));
  auto started = ExporterThread::start(*tracer_, *std::move(http), std::move(options),
                                       context.log.logger("telemetry"));
  if (!started) return std::unexpected(started.error().within("telemetry"));
  exporter_ = *std::move(started);
  to_wake_.store(exporter_.get(), std::memory_order_release);
  return {};
}

Result<void> TelemetryPart::observe(metrics::Registry& metrics, metrics::HealthChecks&) {
  if (!tracer_) return {};
  auto dropped = metrics.observed_counters({.name = "katana_telemetry_spans_unrecorded",
                                            .help = "Spans that were not recorded, by reason.",
                                            .labels = {"reason"}});
  if (!dropped) return std::unexpected(dropped.error());
  auto ignored = metrics.observed_counters(
      {.name = "katana_telemetry_context_ignored",
       .help = "Fields traceparent and tracestate of requests that were malformed or too long.",
       .labels = {"field"}});
  if (!ignored) return std::unexpected(ignored.error());
  auto cut = metrics.observed_counters({.name = "katana_telemetry_texts_cut",
                                        .help = "Texts of spans that were cut for want of room."});
  if (!cut) return std::unexpected(cut.error());
  metrics.before_scrape([this, cut = cut->with(), full = dropped->with("buffer_full"),
                         held = dropped->with("held_full"), parent = ignored->with("traceparent"),
                         state = ignored->with("tracestate")] {
    if (!tracer_) return;
    cut.observe(static_cast<double>(tracer_->cut_texts()));
    full.observe(static_cast<double>(tracer_->counted(trace::Drop::buffer_full)));
    held.observe(static_cast<double>(tracer_->counted(trace::Drop::held_full)));
    parent.observe(static_cast<double>(tracer_->counted(trace::Ignored::trace_parent)));
    state.observe(static_cast<double>(tracer_->counted(trace::Ignored::trace_state)));
  });
  return exporter_ ? add_exporter_metrics(metrics) : Result<void>();
}

Result<void> TelemetryPart::add_exporter_metrics(metrics::Registry& metrics) {
  auto spans = metrics.observed_counters({.name = "katana_telemetry_spans",
                                          .help = "Recorded spans by what became of them.",
                                          .labels = {"outcome"}});
  if (!spans) return std::unexpected(spans.error());
  auto exports = metrics.observed_counters({.name = "katana_telemetry_exports",
                                            .help = "Attempts to export spans.",
                                            .labels = {"outcome"}});
  if (!exports) return std::unexpected(exports.error());
  auto queued = metrics.gauge("katana_telemetry_queue_spans", "Spans that wait for the collector.");
  if (!queued) return std::unexpected(queued.error());
  std::vector<metrics::ObservedCounter> fates;
  for (std::size_t fate = 0; fate < static_cast<std::size_t>(SpanFate::count); ++fate) {
    fates.push_back(spans->with(fate_name(static_cast<SpanFate>(fate))));
  }
  metrics.before_scrape([this, fates = std::move(fates), succeeded = exports->with("ok"),
                         failed = exports->with("error"), queued = *queued] {
    if (!exporter_) return;
    const SpanExporter& exporter = exporter_->exporter();
    for (std::size_t fate = 0; fate < fates.size(); ++fate) {
      fates[fate].observe(static_cast<double>(exporter.counted(static_cast<SpanFate>(fate))));
    }
    succeeded.observe(static_cast<double>(exporter.exports(true)));
    failed.observe(static_cast<double>(exporter.exports(false)));
    queued.set(static_cast<double>(exporter.queued()));
  });
  return {};
}

void TelemetryPart::stop() noexcept {
  // A thread that wakes it now has taken its pointer before: threads of requests have ended.
  to_wake_.store(nullptr, std::memory_order_release);
  if (exporter_) exporter_->stop(flush_timeout_);
  exporter_.reset();  // before the log that it writes to
}

}  // namespace

std::unique_ptr<Part> telemetry() { return std::make_unique<TelemetryPart>(); }

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
