#include "katana/base/text/short_number.hpp"

#include <fmt/format.h>

#include <cmath>

#include "katana/base/system/check.hpp"

namespace katana {

std::string short_number(double value, int digits) {
  KATANA_REQUIRE(std::isfinite(value) && digits >= 1 && digits <= 15);
  const double size = std::abs(value);
  if (size < 0.0001) return "0";
  // Rounding may add a digit before the point: 99.6 becomes 100.
  if (size >= std::pow(10, digits) - 0.5) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}g}", value, digits);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
