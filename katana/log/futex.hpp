// Futex: sleeping until a number changes, with a time limit. What std::atomic::wait lacks.
//
// Thread     any. Both are safe in a signal handler.
// Allocates  never.
// Fails      never: a wait may end early, so look again.
#pragma once

#include <atomic>
#include <cstdint>

#include "katana/base/instant.hpp"

namespace katana::log {

// Sleeps while `word` is `expected`, at most for `limit`.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Duration limit) noexcept;
void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace katana::log
