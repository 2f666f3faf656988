// Log: loggers, sinks and layouts.
//
// Links      log
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/log/context.hpp"
#include "katana/log/log.hpp"
#include "katana/log/logger.hpp"

// SPDX-License-Identifier: Apache-2.0
