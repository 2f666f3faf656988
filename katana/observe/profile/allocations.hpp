// Allocations: samples what the program allocates by `new`. One sample stands for about as many
// bytes as the options say, whichever sizes the allocations have.
//
//   if (auto begun = allocations::begin({.interval_bytes = 512 * 1024}); !begun) …
//   …
//   Profile profile = allocations::end();
//
// allocation_hooks.cpp replaces the operators new and delete of the program. Outside of a profile
// they read one flag. Memory of malloc() is not seen. Memory of the recycler and of pools is seen
// when these take it by `new`.
//
// Owns       the samples of the present profile.
// Thread     begin() and end() one at a time; the hooks any.
// Allocates  about collector_bytes_max during a profile.
// Fails      begin(): already_exists. Where another operator new is in use, as that of a sanitizer,
//            a profile is empty: see are_hooked(). Samples beyond the memory of the collector are
//            counted as lost.
// Invariant  a hook never enters a hook. Kind::growth has only what is not freed when it ends.
#pragma once

#include <atomic>
#include <cstddef>

#include "katana/base/system/result.hpp"
#include "katana/observe/profile/profile.hpp"

namespace katana::profile::allocations {

// Bytes that a sample stands for, unless the options say another number.
inline constexpr std::size_t interval_bytes_unsaid = std::size_t{512} * 1024;
// The most sampled allocations that are watched until they are freed; further ones are lost.
inline constexpr std::size_t watched_max = 65'536;

// The kind and the precision of a profile.
struct AllocationOptions {
  Kind kind = Kind::allocations;                       // or growth
  std::size_t interval_bytes = interval_bytes_unsaid;  // that a sample stands for; above 0
};

// Whether the program's operator new is the one that is sampled.
bool are_hooked() noexcept;

Result<void> begin(const AllocationOptions& options);
// The profile since begin(), without its times and the name of the program.
Profile end();

namespace detail {

inline constexpr unsigned watch_allocations = 1, watch_frees = 2, watch_probe = 4;
inline constinit std::atomic<unsigned> watch{0};

// The operators ask these before they call the functions below. Inline, because every allocation of
// a program asks.
inline bool watches_allocations() noexcept {
  return (watch.load(std::memory_order_relaxed) & (watch_allocations | watch_probe)) != 0;
}
inline bool watches_frees() noexcept {
  return (watch.load(std::memory_order_relaxed) & watch_frees) != 0;
}
// After memory was allocated. `caller`: the return address of the operator; the frames above it are
// left out. Null: none are.
void on_allocation(void* memory, std::size_t bytes, const void* caller) noexcept;
// Before memory is given back.
void on_free(void* memory) noexcept;

}  // namespace detail

}  // namespace katana::profile::allocations

// SPDX-License-Identifier: Apache-2.0
