#include "katana/service/request_context.hpp"

#include <algorithm>
#include <ranges>

namespace katana::detail {

std::shared_ptr<void> RequestContext::look_up(const registry::TypeInfo* type) const noexcept {
  for (const Value& each : values_ | std::views::reverse) {
    if (each.type == type) return each.object;
  }
  return nullptr;
}

std::size_t RequestContext::held_bytes() const noexcept {
  std::size_t bytes = sizeof *this + values_.capacity() * sizeof(Value);
  for (const Value& each : values_) bytes += each.bytes;
  // What was decoded is charged by its decoder.
  return bytes + (content_ && decoder_ == nullptr ? content_->capacity() : 0);
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
