#include "katana/app/telemetry/otel_variables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace katana::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

EffectiveTelemetry with(std::map<std::string, std::string> variables,
                        const TelemetrySettings& settings = {}) {
  return with_otel_variables(settings, [&](const char* name) {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second.c_str() : nullptr;
  });
}

TEST(OtelVariables, without_them_the_settings_hold) {
  const auto plain = with({});
  EXPECT_EQ(plain.traces.url, "http://localhost:4318/v1/traces");
  EXPECT_TRUE(plain.settings.enabled);
  EXPECT_THAT(plain.notes, IsEmpty());
  EXPECT_EQ(with({}, {.endpoint = "https://c/otlp/"}).traces.url, "https://c/otlp/v1/traces");
}

TEST(OtelVariables, each_goes_before_its_setting) {
  const auto read = with({{"OTEL_SERVICE_NAME", "shop"},
                          {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,a=b%20c"},
                          {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/"},
                          {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%2Cb, x=y"},
                          {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
                          {"OTEL_EXPORTER_OTLP_COMPRESSION", "none"},
                          {"OTEL_TRACES_SAMPLER", "parentbased_traceidratio"},
                          {"OTEL_TRACES_SAMPLER_ARG", "0.25"},
                          {"OTEL_BSP_SCHEDULE_DELAY", "1000"},
                          {"OTEL_BSP_MAX_QUEUE_SIZE", "2048"},
                          {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "100"}},
                         {.headers = {"own=1"}, .resource = "a=1,d=2"});
  EXPECT_THAT(read.notes, IsEmpty());
  EXPECT_EQ(read.settings.service_name, "shop");
  EXPECT_EQ(read.settings.resource, "a=1,d=2,service.name=other,a=b%20c");
  EXPECT_EQ(read.traces.url, "http://collector:4318/v1/traces");
  EXPECT_THAT(read.traces.headers, ElementsAre("own=1", "api-key=a,b", " x=y"));
  EXPECT_EQ(read.traces.timeout, milliseconds(2500));
  EXPECT_EQ(read.traces.compression, TelemetryCompression::none);
  EXPECT_EQ(read.settings.sampler, "parentbased_traceidratio");
  EXPECT_EQ(read.settings.ratio, 0.25);
  EXPECT_EQ(read.settings.interval, seconds(1));
  EXPECT_EQ(read.settings.queue_spans_max, 2048u);
  EXPECT_EQ(read.settings.batch_spans_max, 100u);
}

TEST(OtelVariables, those_of_traces_go_before_those_of_all_signals) {
  const auto read = with({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318"},
                          {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces:4318/here"},
                          {"OTEL_EXPORTER_OTLP_TIMEOUT", "1"},
                          {"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "2"}});
  EXPECT_EQ(read.traces.url, "http://traces:4318/here") << "it is taken as it is";
  EXPECT_EQ(read.traces.timeout, milliseconds(2));
  EXPECT_EQ(read.metrics.url, "http://all:4318/v1/metrics");
  EXPECT_EQ(read.metrics.timeout, milliseconds(1));
  EXPECT_EQ(read.logs.url, "http://all:4318/v1/logs");
}

TEST(OtelVariables, telemetry_is_off_when_they_say_so) {
  EXPECT_FALSE(with({{"OTEL_SDK_DISABLED", "true"}}).settings.enabled);
  EXPECT_FALSE(with({{"OTEL_SDK_DISABLED", "TRUE"}}).settings.enabled);
  EXPECT_TRUE(with({{"OTEL_SDK_DISABLED", "1"}}).settings.enabled);
  EXPECT_FALSE(with({}, {.enabled = false}).settings.enabled);
}

TEST(OtelVariables, propagators_choose_what_others_are_told) {
  const TelemetrySettings own{.baggage = {"tenant"}};
  const auto both = with({{"OTEL_PROPAGATORS", "tracecontext, Baggage"}}, own).settings;
  EXPECT_TRUE(both.trace_context);
  EXPECT_EQ(both.baggage, own.baggage);
  const auto context = with({{"OTEL_PROPAGATORS", "tracecontext"}}, own).settings;
  EXPECT_TRUE(context.trace_context);
  EXPECT_THAT(context.baggage, IsEmpty());
  const auto baggage = with({{"OTEL_PROPAGATORS", "baggage"}}, own).settings;
  EXPECT_FALSE(baggage.trace_context);
  EXPECT_EQ(baggage.baggage, own.baggage);
  const auto none = with({{"OTEL_PROPAGATORS", "none"}}, own).settings;
  EXPECT_FALSE(none.trace_context);
  EXPECT_THAT(none.baggage, IsEmpty());
  const auto wrong = with({{"OTEL_PROPAGATORS", "b3,baggage"}}, own);
  EXPECT_TRUE(wrong.settings.trace_context);
  EXPECT_THAT(wrong.notes, ::testing::ElementsAre(HasSubstr("OTEL_PROPAGATORS")));
}

TEST(OtelVariables, each_signal_is_off_when_its_exporter_is_none) {
  const auto none = with({{"OTEL_TRACES_EXPORTER", "none"},
                          {"OTEL_METRICS_EXPORTER", "None"},
                          {"OTEL_LOGS_EXPORTER", "NONE"}});
  EXPECT_FALSE(none.settings.traces || none.settings.metrics.enabled || none.settings.logs.enabled);
  const auto all = with({{"OTEL_TRACES_EXPORTER", "otlp"}, {"OTEL_LOGS_EXPORTER", "otlp"}});
  EXPECT_TRUE(all.settings.traces && all.settings.metrics.enabled && all.settings.logs.enabled);
}

TEST(OtelVariables, those_of_metrics_and_logs_go_before_their_settings) {
  const auto read = with(
      {{"OTEL_METRIC_EXPORT_INTERVAL", "15000"},
       {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "Delta"},
       {"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram"},
       {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://metrics:4318/x"},
       {"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "of=metrics"},
       {"OTEL_EXPORTER_OTLP_LOGS_COMPRESSION", "none"},
       {"OTEL_BLRP_SCHEDULE_DELAY", "250"},
       {"OTEL_BLRP_MAX_QUEUE_SIZE", "100"},
       {"OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "10"}});
  EXPECT_THAT(read.notes, IsEmpty());
  EXPECT_EQ(read.settings.metrics.interval, seconds(15));
  EXPECT_EQ(read.settings.metrics.temporality, TelemetryTemporality::delta);
  EXPECT_EQ(read.settings.metrics.histograms, TelemetryHistograms::explicit_bounds);
  EXPECT_EQ(read.metrics.url, "https://metrics:4318/x");
  EXPECT_THAT(read.metrics.headers, ElementsAre("of=metrics"));
  EXPECT_THAT(read.traces.headers, IsEmpty());
  EXPECT_EQ(read.logs.compression, TelemetryCompression::none);
  EXPECT_EQ(read.traces.compression, TelemetryCompression::automatic);
  EXPECT_EQ(read.settings.logs.interval, milliseconds(250));
  EXPECT_EQ(read.settings.logs.queue_records_max, 100u);
  EXPECT_EQ(read.settings.logs.batch_records_max, 10u);
}

TEST(OtelVariables, exemplars_are_those_of_traces_or_none) {
  EXPECT_TRUE(with({}).settings.metrics.exemplars);
  EXPECT_FALSE(with({{"OTEL_METRICS_EXEMPLAR_FILTER", "ALWAYS_OFF"}}).settings.metrics.exemplars);
  const TelemetrySettings off{.metrics = {.exemplars = false}};
  EXPECT_FALSE(with({}, off).settings.metrics.exemplars);
  EXPECT_TRUE(
      with({{"OTEL_METRICS_EXEMPLAR_FILTER", "trace_based"}}, off).settings.metrics.exemplars);
}

TEST(OtelVariables, a_wrong_value_is_noted_and_the_setting_stays) {
  const std::map<std::string, std::string> wrong = {
      {"OTEL_RESOURCE_ATTRIBUTES", "novalue"},
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "collector"},
      {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
      {"OTEL_EXPORTER_OTLP_HEADERS", "secret-without-value"},
      {"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"},
      {"OTEL_EXPORTER_OTLP_COMPRESSION", "zip"},
      {"OTEL_TRACES_EXPORTER", "zipkin"},
      {"OTEL_METRICS_EXPORTER", "prometheus"},
      {"OTEL_LOGS_EXPORTER", "console"},
      {"OTEL_METRIC_EXPORT_INTERVAL", "1m"},
      {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "lowest"},
      {"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "sum"},
      {"OTEL_METRICS_EXEMPLAR_FILTER", "always_on"},
      {"OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "0"},
      {"OTEL_BLRP_MAX_QUEUE_SIZE", "none"},
      {"OTEL_TRACES_SAMPLER", "jaeger_remote"},
      {"OTEL_TRACES_SAMPLER_ARG", "2"},
      {"OTEL_BSP_SCHEDULE_DELAY", "-1"},
      {"OTEL_BSP_MAX_QUEUE_SIZE", "0"}};
  for (const auto& [name, value] : wrong) {
    const auto read = with({{name, value}});
    ASSERT_EQ(read.notes.size(), 1u) << name;
    EXPECT_THAT(read.notes[0], HasSubstr(name));
    EXPECT_EQ(read.notes[0].find("secret"), std::string::npos);
    EXPECT_EQ(read.traces.url, "http://localhost:4318/v1/traces");
    EXPECT_EQ(read.traces.timeout, seconds(10));
    EXPECT_EQ(read.logs.timeout, seconds(10));
    EXPECT_EQ(read.settings.metrics.interval, seconds(60));
    EXPECT_EQ(read.settings.metrics.temporality, TelemetryTemporality::cumulative);
    EXPECT_EQ(read.settings.metrics.histograms, TelemetryHistograms::exponential);
    EXPECT_TRUE(read.settings.metrics.enabled && read.settings.logs.enabled);
    EXPECT_EQ(read.settings.sampler, "parentbased_traceidratio");
    EXPECT_EQ(read.settings.ratio, 1);
    EXPECT_EQ(read.settings.queue_spans_max, 8192u);
    EXPECT_TRUE(read.settings.enabled);
    EXPECT_THAT(read.traces.headers, IsEmpty());
  }
  EXPECT_THAT(with({{"OTEL_SERVICE_NAME", ""}}, {.service_name = "own"}).settings.service_name,
              "own")
      << "an empty variable is none";
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
