// RouteDefaults: the limits of routes that do not say otherwise (router.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <cstdint>

#include "katana/base/values/step_budget.hpp"

namespace katana {

// What routes have that do not say otherwise.
struct RouteDefaults {
  // Content that is collected for a handler; 413 beyond it.
  std::uint64_t content_bytes_max = 1024 * 1024;
  // Content that a streaming handler may read; 413 beyond it.
  std::uint64_t streamed_bytes_max = std::uint64_t{1} << 40;
  // Of a request or reply that an OpenAPI description judges, besides those that its bytes bring
  // (base/values/step_budget.hpp); 422 beyond them.
  std::uint64_t check_steps_max = StepBudget::steps_default;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
