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
  EXPECT_EQ(plain.traces_url, "http://localhost:4318/v1/traces");
  EXPECT_TRUE(plain.settings.enabled);
  EXPECT_THAT(plain.notes, IsEmpty());
  EXPECT_EQ(with({}, {.endpoint = "https://c/otlp/"}).traces_url, "https://c/otlp/v1/traces");
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
  EXPECT_EQ(read.traces_url, "http://collector:4318/v1/traces");
  EXPECT_THAT(read.settings.headers, ElementsAre("own=1", "api-key=a,b", " x=y"));
  EXPECT_EQ(read.settings.timeout, milliseconds(2500));
  EXPECT_EQ(read.settings.compression, TelemetryCompression::none);
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
  EXPECT_EQ(read.traces_url, "http://traces:4318/here") << "it is taken as it is";
  EXPECT_EQ(read.settings.timeout, milliseconds(2));
}

TEST(OtelVariables, telemetry_is_off_when_they_say_so) {
  EXPECT_FALSE(with({{"OTEL_SDK_DISABLED", "true"}}).settings.enabled);
  EXPECT_FALSE(with({{"OTEL_SDK_DISABLED", "TRUE"}}).settings.enabled);
  EXPECT_TRUE(with({{"OTEL_SDK_DISABLED", "1"}}).settings.enabled);
  EXPECT_FALSE(with({{"OTEL_TRACES_EXPORTER", "none"}}).settings.enabled);
  EXPECT_FALSE(with({}, {.enabled = false}).settings.enabled);
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
      {"OTEL_TRACES_SAMPLER", "jaeger_remote"},
      {"OTEL_TRACES_SAMPLER_ARG", "2"},
      {"OTEL_BSP_SCHEDULE_DELAY", "-1"},
      {"OTEL_BSP_MAX_QUEUE_SIZE", "0"}};
  for (const auto& [name, value] : wrong) {
    const auto read = with({{name, value}});
    ASSERT_EQ(read.notes.size(), 1u) << name;
    EXPECT_THAT(read.notes[0], HasSubstr(name));
    EXPECT_EQ(read.notes[0].find("secret"), std::string::npos);
    EXPECT_EQ(read.traces_url, "http://localhost:4318/v1/traces");
    EXPECT_EQ(read.settings.timeout, seconds(10));
    EXPECT_EQ(read.settings.sampler, "parentbased_traceidratio");
    EXPECT_EQ(read.settings.ratio, 1);
    EXPECT_EQ(read.settings.queue_spans_max, 8192u);
    EXPECT_TRUE(read.settings.enabled);
    EXPECT_THAT(read.settings.headers, IsEmpty());
  }
  EXPECT_THAT(with({{"OTEL_SERVICE_NAME", ""}}, {.service_name = "own"}).settings.service_name,
              "own")
      << "an empty variable is none";
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
