// Comparison of JSON numbers by JSON Schema: 1 equals 1.0, and 19.99 is a multiple of 0.01.
//
// Thread     any.
// Allocates  never.
// Fails      never.
// Source     JSON Schema 2020-12, Core §4.2.2, Validation §6.2.
#pragma once

#include <concepts>
#include <cstdint>

namespace katana::container {

// A type that holds every std::int64_t, std::uint64_t and double exactly.
using Number = long double;
static_assert(sizeof(long double) > sizeof(double));

// True if the number has no fraction: 1.0 is an integer.
bool is_integer(Number number) noexcept;
// True if `number` is a multiple, by the shortest decimal digits of both. REQUIRES divisor > 0.
bool is_multiple(Number number, Number divisor) noexcept;

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
