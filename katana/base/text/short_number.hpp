// short_number(): a number for people, with few digits and never an exponent: 0.35, 12, 1400.
//
// Thread     any.
// Allocates  what it returns.
// Fails      never.
#pragma once

#include <string>

namespace katana {

// `value` with that many significant digits, and all digits before its point. REQUIRES a finite
// value and 1 ≤ digits ≤ 15. A value closer to zero than 0.0001 is "0".
std::string short_number(double value, int digits = 2);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
