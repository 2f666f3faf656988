#include "katana/base/system/last_words.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "katana/base/system/printing.hpp"

namespace katana {
namespace {

constinit std::array<char, last_words_bytes_max> last_line{};
constinit std::size_t last_line_bytes = 0;
constinit std::atomic<bool> last_line_taken{false};
constinit std::atomic<std::int32_t> last_line_thread{0};  // 0: the line is not complete

}  // namespace

void say_last_words(Bytes line) noexcept {
  if (!last_line_taken.exchange(true, std::memory_order_relaxed)) {
    last_line_bytes = std::min(line.size(), last_line.size());
    std::memcpy(last_line.data(), line.data(), last_line_bytes);
    // release: a reader that sees the thread sees its line.
    last_line_thread.store(::gettid(), std::memory_order_release);
  }
  print_error_line(line, last_words_max);
}

Bytes last_words_of(std::int32_t thread_id) noexcept {
  if (last_line_thread.load(std::memory_order_acquire) != thread_id) return {};
  return {last_line.data(), last_line_bytes};
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
