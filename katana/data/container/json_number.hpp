// Numbers of JSON as JSON Schema compares them: 1 is 1.0, and 19.99 is a multiple of 0.01.
//
// Thread     any.
// Allocates  never.
// Fails      never.
// Source     JSON Schema 2020-12, Core §4.2.2, Validation §6.2.
#pragma once

#include <concepts>
#include <cstdint>

namespace katana::container {

// Holds every std::int64_t, std::uint64_t and double exactly.
using Number = long double;
static_assert(sizeof(long double) > sizeof(double));

// Without a fraction: 1.0 is one.
bool is_integer(Number number) noexcept;
// By their shortest decimal digits. REQUIRES divisor > 0.
bool is_multiple(Number number, Number divisor) noexcept;

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
