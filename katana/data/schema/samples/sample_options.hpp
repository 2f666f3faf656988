// SampleOptions: options for drawing data from schemas.
//
// Owns       itself.
// Thread     a value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/values/step_budget.hpp"
#include "katana/data/schema/options.hpp"

namespace katana::schema {

struct SampleOptions {
  // Uses `example`, `examples` and `default` of a schema.
  bool examples = true;
  // The number of optional members that are present, out of 1024, at the outermost level.
  std::uint32_t optional_per_1024 = 700;
  std::size_t items_max = 4;  // items of a list, unless the schema requires more
  std::size_t depth_max = 6;  // levels down to which optional parts are drawn
  std::size_t tries_max = 64;
  // The steps (base/values/step_budget.hpp) of a draw without a budget.
  std::uint64_t steps_max = 100 * StepBudget::steps_default;
  // Leaves out members that only the other side sends.
  Direction direction = Direction::any;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
