// Metrics: instruments, the registry, exposition, health checks and figures of the process.
//
// Links      metrics
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/metrics/exposition.hpp"
#include "katana/metrics/health.hpp"
#include "katana/metrics/process.hpp"
#include "katana/metrics/registry.hpp"

// SPDX-License-Identifier: Apache-2.0
