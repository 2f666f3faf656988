#include "katana/app/telemetry/otel_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "katana/http/client/url.hpp"
#include "katana/observe/otlp/resource.hpp"
#include "katana/observe/trace/sampler.hpp"

namespace katana::app {
namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_true(std::string_view text) {
  return text.size() == 4 && (text[0] | 0x20) == 't' && (text[1] | 0x20) == 'r' &&
         (text[2] | 0x20) == 'u' && (text[3] | 0x20) == 'e';
}

// "NONE" and "None" are "none": the specification says that names ignore case.
std::string in_lowercase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

class Reader {
 public:
  Reader(EffectiveTelemetry& to, const Variables& variables) : to_(to), variables_(variables) {}

  void read() {
    TelemetrySettings& settings = to_.settings;
    if (is_true(text("OTEL_SDK_DISABLED"))) settings.enabled = false;
    read_exporter("OTEL_TRACES_EXPORTER", settings.traces);
    read_exporter("OTEL_METRICS_EXPORTER", settings.metrics.enabled);
    read_exporter("OTEL_LOGS_EXPORTER", settings.logs.enabled);
    read_resource();
    to_.traces = target_of("TRACES", "/v1/traces");
    to_.metrics = target_of("METRICS", "/v1/metrics");
    to_.logs = target_of("LOGS", "/v1/logs");
    read_ms("OTEL_BSP_SCHEDULE_DELAY", settings.interval);
    read_count("OTEL_BSP_MAX_QUEUE_SIZE", settings.queue_spans_max, 1 << 22);
    read_count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", settings.batch_spans_max, 65'536);
    read_ms("OTEL_METRIC_EXPORT_INTERVAL", settings.metrics.interval);
    read_ms("OTEL_BLRP_SCHEDULE_DELAY", settings.logs.interval);
    read_count("OTEL_BLRP_MAX_QUEUE_SIZE", settings.logs.queue_records_max, 1 << 22);
    read_count("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", settings.logs.batch_records_max, 65'536);
    read_metrics();
    read_sampler();
    read_propagators();
  }

 private:
  std::string_view text(const std::string& name) const {
    const char* const value = variables_(name.c_str());
    return value != nullptr ? std::string_view(value) : std::string_view();
  }
  bool is_set(const std::string& name) const { return !text(name).empty(); }
  // The variable of the exporter that holds: that of the signal, or that of all signals.
  std::optional<std::string> of_exporter(const std::string& signal, const char* what) const {
    for (const std::string& prefix :
         {"OTEL_EXPORTER_OTLP_" + signal + "_", std::string("OTEL_EXPORTER_OTLP_")}) {
      if (std::string name = prefix + what; is_set(name)) return name;
    }
    return std::nullopt;
  }
  // The value is not repeated: it may be a secret. A variable of all signals is noted once.
  void note(const std::string& name, std::string_view remedy) {
    std::string text = fmt::format("{} is ignored: {}", name, remedy);
    if (std::ranges::find(to_.notes, text) == to_.notes.end()) to_.notes.push_back(std::move(text));
  }

  void read_exporter(const char* name, bool& enabled) {
    const std::string wanted = in_lowercase(text(name));
    if (wanted == "none") {
      enabled = false;
    } else if (!wanted.empty() && wanted != "otlp") {
      note(name, "set otlp or none");
    }
  }
  void read_resource() {
    if (const auto list = text("OTEL_RESOURCE_ATTRIBUTES"); !list.empty()) {
      otlp::Resource read;
      if (const auto result = read.read(list); !result) {
        note("OTEL_RESOURCE_ATTRIBUTES", result.error().describe());
      } else {
        // Behind those of the settings: the last value holds.
        to_.settings.resource += "," + std::string(list);
        if (const Bytes name = read.find("service.name"); !name.empty()) {
          to_.settings.service_name = name;
        }
      }
    }
    if (is_set("OTEL_SERVICE_NAME")) to_.settings.service_name = text("OTEL_SERVICE_NAME");
  }
  SignalTarget target_of(const std::string& signal, const char* path) {
    const TelemetrySettings& settings = to_.settings;
    SignalTarget target{.url = url_of(signal, path),
                        .headers = settings.headers,
                        .timeout = settings.timeout,
                        .compression = settings.compression};
    read_headers("OTEL_EXPORTER_OTLP_HEADERS", target.headers);
    read_headers("OTEL_EXPORTER_OTLP_" + signal + "_HEADERS", target.headers);
    if (const auto name = of_exporter(signal, "TIMEOUT")) read_ms(*name, target.timeout);
    if (const auto name = of_exporter(signal, "COMPRESSION")) {
      read_compression(*name, target.compression);
    }
    const auto protocol = of_exporter(signal, "PROTOCOL");
    if (protocol && text(*protocol) != "http/protobuf") {
      note(*protocol, "http/protobuf is what is sent");
    }
    return target;
  }
  std::string url_of(const std::string& signal, const char* path) {
    std::string url = to_.settings.endpoint;
    if (const auto name = of_exporter(signal, "ENDPOINT")) {
      const std::string wanted(text(*name));
      const auto parsed = client::parse_url(wanted);
      if (!parsed) {
        note(*name, parsed.error().describe());
      } else if (*name != "OTEL_EXPORTER_OTLP_ENDPOINT") {
        return wanted;
      } else {
        url = wanted;
      }
    }
    while (url.ends_with('/')) url.pop_back();
    return url + path;
  }
  void read_headers(const std::string& name, std::vector<std::string>& to) {
    std::string_view list = text(name);
    std::vector<std::string> headers;
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      const std::string_view member = list.substr(0, end);
      list.remove_prefix(std::min(end + 1, list.size()));
      if (member.find_first_not_of(' ') == std::string_view::npos) continue;
      auto decoded = otlp::percent_decoded(member);
      if (!decoded || member.find('=') == std::string_view::npos) {
        return note(name, "set name=value,…, in percent-encoding");
      }
      headers.push_back(*std::move(decoded));
    }
    to.insert(to.end(), headers.begin(), headers.end());
  }
  void read_compression(const std::string& name, TelemetryCompression& to) {
    if (text(name) == "gzip") {
      to = TelemetryCompression::gzip;
    } else if (text(name) == "none") {
      to = TelemetryCompression::none;
    } else {
      note(name, "set gzip or none");
    }
  }
  void read_ms(const std::string& name, Duration& to) {
    if (!is_set(name)) return;
    const auto ms = number_in<std::int64_t>(text(name));
    if (!ms || *ms < 1 || *ms > 24 * 3'600'000) {
      return note(name, "set milliseconds, from 1 to a day");
    }
    to = milliseconds(*ms);
  }
  void read_count(const char* name, std::uint32_t& to, std::uint32_t most) {
    if (!is_set(name)) return;
    const auto count = number_in<std::uint32_t>(text(name));
    if (!count || *count < 1 || *count > most) return note(name, fmt::format("set 1 to {}", most));
    to = *count;
  }
  void read_metrics() {
    TelemetryMetricsSettings& metrics = to_.settings.metrics;
    constexpr const char* temporality = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
    const std::string wanted = in_lowercase(text(temporality));
    if (wanted == "cumulative") {
      metrics.temporality = TelemetryTemporality::cumulative;
    } else if (wanted == "delta") {
      metrics.temporality = TelemetryTemporality::delta;
    } else if (wanted == "lowmemory") {
      metrics.temporality = TelemetryTemporality::lowmemory;
    } else if (!wanted.empty()) {
      note(temporality, "set cumulative, delta or lowmemory");
    }
    constexpr const char* histograms = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION";
    const std::string form = in_lowercase(text(histograms));
    if (form == "base2_exponential_bucket_histogram") {
      metrics.histograms = TelemetryHistograms::exponential;
    } else if (form == "explicit_bucket_histogram") {
      metrics.histograms = TelemetryHistograms::explicit_bounds;
    } else if (!form.empty()) {
      note(histograms, "set explicit_bucket_histogram or base2_exponential_bucket_histogram");
    }
    // always_on means observations without a recorded trace, too: there is no trace to refer to.
    constexpr const char* filter = "OTEL_METRICS_EXEMPLAR_FILTER";
    const std::string filtered = in_lowercase(text(filter));
    if (filtered == "always_off") {
      metrics.exemplars = false;
    } else if (filtered == "trace_based") {
      metrics.exemplars = true;
    } else if (!filtered.empty()) {
      note(filter, "set trace_based or always_off");
    }
  }
  void read_sampler() {
    if (is_set("OTEL_TRACES_SAMPLER")) {
      const std::string name(text("OTEL_TRACES_SAMPLER"));
      if (const auto made = trace::Sampler::make(name); !made) {
        note("OTEL_TRACES_SAMPLER", made.error().describe());
      } else {
        to_.settings.sampler = name;
        to_.settings.ratio = 1;  // the default of the specification
      }
    }
    if (!is_set("OTEL_TRACES_SAMPLER_ARG")) return;
    const auto ratio = number_in<double>(text("OTEL_TRACES_SAMPLER_ARG"));
    if (!ratio || !(*ratio >= 0 && *ratio <= 1)) {
      return note("OTEL_TRACES_SAMPLER_ARG", "set 0 to 1");
    }
    to_.settings.ratio = *ratio;
  }

  void read_propagators() {
    constexpr const char* variable = "OTEL_PROPAGATORS";
    if (!is_set(variable)) return;
    bool has_context = false, has_baggage = false;
    std::string_view list = text(variable);
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      std::string name = in_lowercase(list.substr(0, end));
      list.remove_prefix(std::min(end + 1, list.size()));
      std::erase(name, ' ');
      if (name == "tracecontext") {
        has_context = true;
      } else if (name == "baggage") {
        has_baggage = true;
      } else if (!name.empty() && name != "none") {
        return note(variable, "set tracecontext, baggage or none");
      }
    }
    if (!has_context) to_.settings.trace_context = false;
    if (!has_baggage) to_.settings.baggage.clear();
  }

  EffectiveTelemetry& to_;
  const Variables& variables_;
};

}  // namespace

EffectiveTelemetry with_otel_variables(const TelemetrySettings& settings,
                                       const Variables& variables) {
  EffectiveTelemetry effective{.settings = settings};
  Reader(effective, variables).read();
  effective.plain_proxy = proxy_of(false, variables, effective.notes);
  effective.secure_proxy = proxy_of(true, variables, effective.notes);
  return effective;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
