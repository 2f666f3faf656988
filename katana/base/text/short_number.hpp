// short_number(): a number for people, with few digits and never an exponent: 0.35, 12, 1400.
//
// Thread     any.
// Allocates  the text.
// Fails      never.
#pragma once

#include <string>

namespace katana {

// Formats `value` with `digits` significant digits, and all digits before its point. A value closer
// to zero than 0.0001 is "0". REQUIRES a finite value and 1 ≤ digits ≤ 15.
std::string short_number(double value, int digits = 2);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
