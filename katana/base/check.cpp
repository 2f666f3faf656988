#include "katana/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace katana::detail {

void check_failed(const char* kind, const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "katana: %s failed: %s at %s:%d\n", kind, condition, file, line);
  std::abort();
}

}  // namespace katana::detail
