#include "katana/stores/database/range.hpp"

#include <charconv>

namespace katana::database::detail {

std::optional<std::int64_t> parse_bound(Bytes text) noexcept {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || behind != end || text.empty()) return std::nullopt;
  return number;
}

}  // namespace katana::database::detail

// SPDX-License-Identifier: Apache-2.0
