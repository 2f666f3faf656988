#include "katana/testing/test_reply.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/wire/http/characters.hpp"

namespace katana::testing {

std::optional<std::string_view> TestReply::header(std::string_view name) const noexcept {
  for (const auto& [own, value] : fields_) {
    if (std::ranges::equal(own, name, {}, http::to_lower, http::to_lower)) return value;
  }
  return std::nullopt;
}

std::string TestReply::describe() const {
  if (!problem_.empty()) return problem_;
  constexpr std::size_t shown_max = 400;
  const std::string_view shown = std::string_view(content_).substr(0, shown_max);
  return fmt::format("{} {}, {} bytes: {}{}", status_, header("content-type").value_or("no type"),
                     content_.size(), shown, content_.size() > shown_max ? "…" : "");
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
