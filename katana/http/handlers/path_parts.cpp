#include "katana/http/handlers/path_parts.hpp"

#include <fmt/format.h>

namespace katana::detail {

bool cut_parts(Bytes segment, Bytes pattern, std::span<Bytes> parts) noexcept {
  constexpr std::size_t mark_bytes = 2;  // "{}"
  for (std::size_t at = parts.size(); at-- > 1;) {
    pattern.remove_suffix(mark_bytes);
    const std::size_t mark = pattern.rfind("{}");
    const Bytes between = pattern.substr(mark + mark_bytes);
    pattern.remove_suffix(between.size());
    if (segment.size() <= between.size()) return false;
    // One byte at least stays behind it.
    const std::size_t found = segment.rfind(between, segment.size() - between.size() - 1);
    if (found == Bytes::npos || found == 0) return false;
    parts[at] = segment.substr(found + between.size());
    segment = segment.substr(0, found);
  }
  parts[0] = segment;
  return !segment.empty();
}

Error no_parts(Bytes pattern, Bytes segment) {
  return Error(Code::not_found, fmt::format("expected a segment of the form '{}', got '{}'",
                                            pattern, segment.substr(0, 64)));
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
