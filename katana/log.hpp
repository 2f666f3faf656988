// Log: loggers, sinks and layouts.
//
// Links      observe/log
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/observe/log/context.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/observe/log/logger.hpp"

// SPDX-License-Identifier: Apache-2.0
