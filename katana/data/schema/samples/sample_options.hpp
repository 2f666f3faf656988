// SampleOptions: how data is drawn from schemas.
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
  // `example`, `examples` and `default` of a schema are taken.
  bool examples = true;
  // Of 1024 optional members so many are there, at the outermost level.
  std::uint32_t optional_per_1024 = 700;
  std::size_t items_max = 4;  // of a list, unless more are wanted
  std::size_t depth_max = 6;  // of what is optional
  std::size_t tries_max = 64;
  // Of base/values/step_budget.hpp, for what is drawn without a budget.
  std::uint64_t steps_max = 100 * StepBudget::steps_default;
  // Leaves out what the other side alone sends.
  Direction direction = Direction::any;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
