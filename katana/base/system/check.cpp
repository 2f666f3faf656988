#include "katana/base/system/check.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "katana/base/system/misuse.hpp"
#include "katana/base/system/printing.hpp"

namespace katana::detail {

void check_failed(const char* kind, const char* condition, const char* file, int line) noexcept {
  print_error_line(fmt::format("katana: {} failed: {} at {}:{}{}", kind, condition, file, line,
                               describe_thread()),
                   last_words_max);
  std::abort();
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
