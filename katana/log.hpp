// Log: loggers, sinks and layouts.
//
// Links      observe/log
#pragma once

#include "katana/observe/log/context.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/log/output.hpp"

// SPDX-License-Identifier: Apache-2.0
