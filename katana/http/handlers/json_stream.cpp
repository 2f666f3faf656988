#include "katana/http/handlers/json_stream.hpp"

namespace katana::detail {

std::string json_item_fault(const std::string& place, const container::Findings& findings) {
  const bool is_pointer = place.starts_with('/');
  std::string words;
  for (const container::Finding& each : findings.list()) {
    if (!words.empty()) words += "; ";
    words += place;
    if (!is_pointer && !each.pointer.empty()) words += ": ";
    words += each.pointer;
    words += ": ";
    words += each.words;
  }
  return words;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
