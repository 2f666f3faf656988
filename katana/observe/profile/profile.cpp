#include "katana/observe/profile/profile.hpp"

#include <fmt/format.h>

#include <array>

namespace katana::profile {

std::string name_of(Kind kind) {
  constexpr std::array<const char*, 4> names = {"cpu", "waiting", "allocations", "growth"};
  return names[static_cast<std::size_t>(kind)];
}

std::string amount_text(Kind kind, std::int64_t amount) {
  const auto value = static_cast<double>(amount);
  if (!is_memory(kind)) {
    return value < 1e9 ? fmt::format("{:.0f} ms", value / 1e6)
                       : fmt::format("{:.2f} s", value / 1e9);
  }
  if (value < 1024) return fmt::format("{} B", amount);
  if (value < 1024 * 1024) return fmt::format("{:.1f} KiB", value / 1024);
  return fmt::format("{:.1f} MiB", value / (1024 * 1024));
}

std::int64_t Profile::total_ns() const noexcept {
  std::int64_t sum = 0;
  for (const Found& each : found) sum += each.ns;
  return sum;
}

std::int64_t Profile::samples() const noexcept {
  std::int64_t sum = 0;
  for (const Found& each : found) sum += each.count;
  return sum;
}

std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> names_of(const Profile& profile, const Place& place) {
  std::vector<std::string> names;
  for (const Line& line : place.lines) {
    if (!line.function.empty()) names.push_back(line.function);
  }
  if (!names.empty()) return names;
  if (place.module < profile.modules.size()) {
    const Module& module = profile.modules[place.module];
    return {fmt::format("{}+0x{:x}", file_name_of(module.path), place.address - module.bias)};
  }
  return {fmt::format("0x{:x}", place.address)};
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
