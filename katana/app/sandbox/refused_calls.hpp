// Refused calls: what becomes of a system call that the filter refuses. The kernel sends SIGSYS to
// the thread, in which it must not be blocked; the handler counts the call, has it fail with EPERM,
// and writes one line to standard error for each call that was never refused before.
//
// Owns       the handler of SIGSYS, for the rest of the process; one counter for each number.
// Thread     any.
// Allocates  never.
// Fails      watch_refused_calls() with the system's reason.
// Invariant  the handler makes only calls that every filter here allows.
#pragma once

#include <cstdint>
#include <string_view>

#include "katana/base/system/result.hpp"

namespace katana::sandbox {

// Sets the handler of SIGSYS, before the filter that refuses.
Result<void> watch_refused_calls();

// Since the process began.
std::uint64_t refused_calls() noexcept;
// For one number.
std::uint64_t refused_calls(int number) noexcept;

// "execve"; empty: not one of those that are worth a name here.
std::string_view name_of_call(int number) noexcept;

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
