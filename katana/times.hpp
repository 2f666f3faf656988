// Arithmetic of Timestamp, Instant and Duration with each other and with std::chrono.
//
// Links      base
#pragma once

#include "katana/base/values/time_arithmetic.hpp"

// SPDX-License-Identifier: Apache-2.0
