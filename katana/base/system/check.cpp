#include "katana/base/system/check.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "katana/base/system/last_words.hpp"
#include "katana/base/system/misuse.hpp"

namespace katana::detail {

void check_failed(const char* kind, const char* condition, const char* file, int line) noexcept {
  say_last_words(fmt::format("katana: {} failed: {} at {}:{}{}", kind, condition, file, line,
                             describe_thread()));
  std::abort();
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
