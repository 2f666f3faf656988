// Values in their own object, {"user": …}: Enveloped<"user", T>.
//
// Links      base
#pragma once

#include "katana/base/values/enveloped.hpp"

// SPDX-License-Identifier: Apache-2.0
