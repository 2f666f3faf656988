#include "katana/app/telemetry/otel_variables.hpp"

#include <fmt/format.h>

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

class Reader {
 public:
  Reader(EffectiveTelemetry& to, const Variables& variables) : to_(to), variables_(variables) {}

  void read() {
    TelemetrySettings& settings = to_.settings;
    if (is_true(text("OTEL_SDK_DISABLED"))) settings.enabled = false;
    read_exporter_names();
    read_resource();
    read_endpoint();
    for (const char* name : {"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"}) {
      read_headers(name);
    }
    read_compression();
    if (const auto ms = of_exporter("TIMEOUT")) read_ms(*ms, settings.timeout);
    if (is_set("OTEL_BSP_SCHEDULE_DELAY")) read_ms("OTEL_BSP_SCHEDULE_DELAY", settings.interval);
    read_count("OTEL_BSP_MAX_QUEUE_SIZE", settings.queue_spans_max, 1 << 22);
    read_count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", settings.batch_spans_max, 65'536);
    read_sampler();
  }

 private:
  std::string_view text(const std::string& name) const {
    const char* const value = variables_(name.c_str());
    return value != nullptr ? std::string_view(value) : std::string_view();
  }
  bool is_set(const std::string& name) const { return !text(name).empty(); }
  // The variable of the exporter that holds: that of traces, or that of all signals.
  std::optional<std::string> of_exporter(const char* what) const {
    for (const char* prefix : {"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"}) {
      if (std::string name = std::string(prefix) + what; is_set(name)) return name;
    }
    return std::nullopt;
  }
  // The value is not repeated: it may be a secret.
  void note(const std::string& name, std::string_view remedy) {
    to_.notes.push_back(fmt::format("{} is ignored: {}", name, remedy));
  }

  void read_exporter_names() {
    if (text("OTEL_TRACES_EXPORTER") == "none") {
      to_.settings.enabled = false;
    } else if (is_set("OTEL_TRACES_EXPORTER") && text("OTEL_TRACES_EXPORTER") != "otlp") {
      note("OTEL_TRACES_EXPORTER", "otlp and none are there");
    }
    const auto protocol = of_exporter("PROTOCOL");
    if (protocol && text(*protocol) != "http/protobuf") {
      note(*protocol, "http/protobuf is what is sent");
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
  void read_endpoint() {
    const auto name = of_exporter("ENDPOINT");
    if (!name) return;
    const std::string url(text(*name));
    if (const auto parsed = client::parse_url(url); !parsed) {
      return note(*name, parsed.error().describe());
    }
    to_.settings.endpoint = url;
    is_traces_endpoint_ = *name == "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  }
  void read_headers(const char* name) {
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
    auto& all = to_.settings.headers;
    all.insert(all.end(), headers.begin(), headers.end());
  }
  void read_compression() {
    const auto name = of_exporter("COMPRESSION");
    if (!name) return;
    if (text(*name) == "gzip") {
      to_.settings.compression = TelemetryCompression::gzip;
    } else if (text(*name) == "none") {
      to_.settings.compression = TelemetryCompression::none;
    } else {
      note(*name, "set gzip or none");
    }
  }
  void read_ms(const std::string& name, Duration& to) {
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
  void read_sampler() {
    if (is_set("OTEL_TRACES_SAMPLER")) {
      const std::string name(text("OTEL_TRACES_SAMPLER"));
      if (const auto made = trace::Sampler::make(name); !made) {
        note("OTEL_TRACES_SAMPLER", made.error().describe());
      } else {
        to_.settings.sampler = name;
        to_.settings.ratio = 1;  // what the specification has without an argument
      }
    }
    if (!is_set("OTEL_TRACES_SAMPLER_ARG")) return;
    const auto ratio = number_in<double>(text("OTEL_TRACES_SAMPLER_ARG"));
    if (!ratio || !(*ratio >= 0 && *ratio <= 1)) {
      return note("OTEL_TRACES_SAMPLER_ARG", "set 0 to 1");
    }
    to_.settings.ratio = *ratio;
  }

  EffectiveTelemetry& to_;
  const Variables& variables_;

 public:
  bool is_traces_endpoint_ = false;
};

}  // namespace

EffectiveTelemetry with_otel_variables(const TelemetrySettings& settings,
                                       const Variables& variables) {
  EffectiveTelemetry effective{.settings = settings, .traces_url = {}};
  Reader reader(effective, variables);
  reader.read();
  std::string url = effective.settings.endpoint;
  if (!reader.is_traces_endpoint_) {
    while (url.ends_with('/')) url.pop_back();
    url += "/v1/traces";
  }
  effective.traces_url = std::move(url);
  return effective;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
