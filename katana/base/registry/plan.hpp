// plan(): checks that the registrations are complete and free of circles, and orders them.
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      with one Error that lists all problems, up to problems_max, each with the place of the
//            registration and the remedy.
// Invariant  in the returned order every service comes after its needs. Otherwise the order of
//            registration is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/registry/entry.hpp"
#include "katana/base/registry/singletons.hpp"
#include "katana/base/system/result.hpp"

namespace katana::registry::detail {

inline constexpr std::size_t problems_max = 16;

// Returns indices of `entries` in their order. It also sets the lifetime of aliases.
Result<std::vector<std::uint32_t>> plan(std::vector<Entry>& entries,
                                        std::span<const AbsentService> absent);

// The needs for a message: " (needs 'A' and 'B')"; empty if it needs nothing.
std::string needs_text(const Entry& entry);

}  // namespace katana::registry::detail

// SPDX-License-Identifier: Apache-2.0
