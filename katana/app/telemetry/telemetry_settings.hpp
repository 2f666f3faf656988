// Telemetry settings: which traces are recorded, and the collector that they are sent to.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; what contradicts itself is said by the part's check().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/data/config/compiled_group.hpp"
#include "katana/net/tls/client_options.hpp"

namespace katana::app {

// Of what is sent to the collector.
enum class TelemetryCompression : std::uint8_t {
  none,  // as it is
  gzip,  // level 1
};
KATANA_DESCRIBE_ENUM(TelemetryCompression, none, gzip)

// `telemetry`. Variables OTEL_… go before it: see otel_variables.hpp.
struct TelemetrySettings {
  bool enabled = true;
  std::string endpoint = "http://localhost:4318";  // /v1/traces is added
  std::vector<std::string> headers = {};           // "name=value"; not shown
  Duration timeout = seconds(10);
  TelemetryCompression compression = TelemetryCompression::gzip;
  tls::ClientTlsOptions tls = {};
  std::string sampler = "parentbased_traceidratio";
  double ratio = 1;
  Duration keep_slow = {};
  bool keep_failed = false;
  std::string service_name = {};  // empty: the program's
  std::string resource = {};      // "key=value,…"
  Duration interval = seconds(5);
  std::uint32_t batch_spans_max = 512;
  std::uint32_t queue_spans_max = 8192;
  std::uint32_t thread_spans_max = 1024;
  Duration flush_timeout = seconds(5);
};

}  // namespace katana::app

KATANA_CONFIG_DECLARE_GROUP(katana::app::TelemetrySettings)

// SPDX-License-Identifier: Apache-2.0
