// KATANA_CHECK and KATANA_REQUIRE: conditions that stay on in release builds.
//
// KATANA_CHECK    a false condition is a defect of KATANA. KATANA_REQUIRE  a false condition is a
// defect of the caller.
// Fails      prints the condition and its place on standard error, then aborts.
// Invariant  never used for a condition that a client, a disk, a clock or a database can cause.
//            Such an error is a value (Result).
#pragma once

namespace katana::detail {

[[noreturn, gnu::cold]] void check_failed(const char* kind, const char* condition, const char* file,
                                          int line) noexcept;

}  // namespace katana::detail

#define KATANA_CHECK(condition) \
  (static_cast<bool>(condition) \
       ? void(0)                \
       : ::katana::detail::check_failed("CHECK", #condition, __FILE__, __LINE__))
#define KATANA_REQUIRE(condition) \
  (static_cast<bool>(condition)   \
       ? void(0)                  \
       : ::katana::detail::check_failed("REQUIRE", #condition, __FILE__, __LINE__))

// SPDX-License-Identifier: Apache-2.0
