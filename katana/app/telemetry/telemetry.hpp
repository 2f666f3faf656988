// Telemetry of a program: its traces, its metrics and its log go to a collector by OTLP. Each
// request is a span. Statements and spans of the program are below it. The guide telemetry.md has
// more.
//
//   app.use(app::telemetry());
//
// Thread     any.
// Allocates  the part.
// Fails      never; the part names the setting that it cannot use.
#pragma once

#include <memory>

#include "katana/app/part.hpp"
#include "katana/app/telemetry/telemetry_settings.hpp"

namespace katana::app {

// Its name is "telemetry", as that of the group of its settings, TelemetrySettings. A trace::Tracer
// is in the registry unless telemetry.enabled is false.
std::unique_ptr<Part> telemetry();

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
