// RouteDefaults: the limits of routes without their own options (router.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <cstdint>

#include "katana/base/values/step_budget.hpp"

namespace katana {

// The limits of routes that do not set their own.
struct RouteDefaults {
  // The body that is collected for a handler; 413 beyond it.
  std::uint64_t content_bytes_max = 1024 * 1024;
  // The body that a streaming handler may read; 413 beyond it.
  std::uint64_t streamed_bytes_max = std::uint64_t{1} << 40;
  // Steps to check a request or reply against an OpenAPI description, in addition to the steps that
  // its bytes add (base/values/step_budget.hpp); 422 beyond them.
  std::uint64_t check_steps_max = StepBudget::steps_default;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
