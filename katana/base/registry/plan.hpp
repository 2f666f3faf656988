// plan(): is what was registered complete and free of circles, and in which order is it made?
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      with one Error that lists every problem, up to problems_max of them, each with the
//            place of the registration and what to do.
// Invariant  in the order that it returns every service comes after those that it needs; what is
//            free of that stays in the order of registration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/registry/entry.hpp"
#include "katana/base/registry/singletons.hpp"
#include "katana/base/system/result.hpp"

namespace katana::registry::detail {

inline constexpr std::size_t problems_max = 16;

// Indices of `entries`. Settles the lifetime of aliases on the way.
Result<std::vector<std::uint32_t>> plan(std::vector<Entry>& entries,
                                        std::span<const AbsentService> absent);

// " (needs 'A' and 'B')"; empty if it needs nothing.
std::string needs_text(const Entry& entry);

}  // namespace katana::registry::detail

// SPDX-License-Identifier: Apache-2.0
