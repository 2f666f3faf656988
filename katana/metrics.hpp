// Metrics: instruments, the registry, exposition, health checks and figures of the process.
//
// Links      observe/metrics
#pragma once

#include "katana/observe/metrics/exposition.hpp"
#include "katana/observe/metrics/health.hpp"
#include "katana/observe/metrics/process.hpp"
#include "katana/observe/metrics/registry.hpp"

// SPDX-License-Identifier: Apache-2.0
