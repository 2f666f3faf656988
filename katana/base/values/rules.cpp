#include "katana/base/values/rules.hpp"
#include <fmt/format.h>

#include "katana/base/text/utf8.hpp"

namespace katana::detail {
namespace {

// The text of a client, cut between characters to fit into a message.
Bytes shortened(Bytes text) noexcept {
  constexpr std::size_t bytes_max = 64;
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

std::string broken_length(std::size_t least, std::size_t most, std::size_t length, Bytes unit) {
  const auto counted = [unit](std::size_t count) {
    return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  };
  if (least == most) return fmt::format("expected {}, got {}", counted(least), length);
  if (most == SIZE_MAX) return fmt::format("expected at least {}, got {}", counted(least), length);
  if (least == 0) return fmt::format("expected at most {}, got {}", counted(most), length);
  return fmt::format("expected {} to {}, got {}", least, counted(most), length);
}

std::string broken_text(Bytes expected, Bytes text) {
  if (text.empty()) return fmt::format("expected {}", expected);
  return fmt::format("expected {}, got '{}'", expected, shortened(text));
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
