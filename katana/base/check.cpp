#include "katana/base/check.hpp"

#include <cstdio>
#include <cstdlib>

#include "katana/base/misuse.hpp"

namespace katana::detail {

void check_failed(const char* kind, const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "katana: %s failed: %s at %s:%d%s\n", kind, condition, file, line,
               describe_thread().c_str());
  std::abort();
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
