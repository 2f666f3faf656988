// Refused calls: the handler of system calls that the filter refuses. The kernel sends SIGSYS to
// the thread, which must not block it. The handler counts the call and lets it fail with EPERM. It
// writes one line to standard error for each call that was never refused before.
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
// The count of refused calls of one number.
std::uint64_t refused_calls(int number) noexcept;

// The name of a call, as "execve"; empty: the call has no name here.
std::string_view name_of_call(int number) noexcept;

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
