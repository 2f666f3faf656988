// An application that sends its requests, statements and spans to a collector by OTLP.
//
// Links      app/telemetry
#pragma once

#include "katana/app/application_core.hpp"
#include "katana/app/telemetry/telemetry.hpp"
#include "katana/observe/trace/span.hpp"

// SPDX-License-Identifier: Apache-2.0
