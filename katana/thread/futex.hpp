// sleep_on() and wake(): a thread sleeps until a word of memory changes.
//
// Thread     any.
// Allocates  never.
// Fails      never; sleep_on() may return early, so its caller looks at the word again.
// Invariant  a waker that changed the word before wake() is not missed by a sleeper that expected
//            the old value.
#pragma once

#include <atomic>
#include <cstdint>

#include "katana/base/instant.hpp"

namespace katana::thread {

using FutexWord = std::atomic<std::uint32_t>;

// Returns when woken, when `timeout` has passed (a negative one never does), or at once when the
// word is not `expected`.
void sleep_on(const FutexWord& word, std::uint32_t expected, Duration timeout = {-1}) noexcept;

// Wakes at most `count` sleepers. Reads nothing at the address, so the word may be gone already: at
// worst a stranger who sleeps on what is there now looks again.
void wake(const FutexWord* word, int count) noexcept;

}  // namespace katana::thread
