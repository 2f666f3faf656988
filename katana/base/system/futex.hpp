// futex_wait() and futex_wake(): a thread sleeps until a word of memory changes.
//
// Thread     any; both are safe in a signal handler.
// Allocates  never.
// Fails      never; futex_wait() may return early, and its caller must check the word again.
// Invariant  a waker that changed the word before futex_wake() is not missed by a sleeper that
//            expected the old value.
#pragma once

#include <atomic>
#include <cstdint>

#include "katana/base/values/instant.hpp"

namespace katana {

using FutexWord = std::atomic<std::uint32_t>;  // the word that futex_wait() compares and sleeps on

// Returns when it is woken, or when `timeout` has passed (a negative one never passes). It returns
// at once when the word is not `expected`.
void futex_wait(const FutexWord& word, std::uint32_t expected, Duration timeout = {-1}) noexcept;

// Wakes at most `count` sleepers. It does not read the word, which may be destroyed already. At
// worst it wakes a thread that sleeps on a new word at this address, and that thread checks again.
void futex_wake(const FutexWord* word, int count) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
