// StartStep: a step of a program's start, which Startup runs after the steps that it needs.
//
// Owns       values and functions.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"

namespace katana::app {

// One part of a program, and how it starts and stops.
struct StartStep {
  std::string name;                     // unique; other steps name it in `needs`
  std::vector<std::string> needs = {};  // names of other parts
  std::function<Result<void>()> start;  // may block; an Error stops the steps that have started
  std::function<void()> stop = {};  // called if start() succeeded; none: there is nothing to stop
  std::string remedy = {};          // the remedy when it fails, as a sentence; may be empty
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
