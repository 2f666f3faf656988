// LoadSheddingOptions: the limits of load_shedding() (load_shedding.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"

namespace katana {
class RequestView;
}  // namespace katana

namespace katana {

// The utilisation at which requests are refused, and requests that never are.
struct LoadSheddingOptions {
  double utilisation_max = 0.95;       // of a reactor's time; above 0, below 1
  Duration window = milliseconds(50);  // the period of measurement and adjustment
  // Requests that are always served: health checks, and those of operators.
  std::function<bool(const RequestView&)> spares = {};
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
