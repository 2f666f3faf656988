#include "katana/http/handlers/request_context.hpp"

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
  for (const Value& each : values_) bytes += each.bytes(each.object.get());
  // The decoder is charged for decoded content.
  return bytes + (content_ && decoder_ == nullptr ? content_->capacity() : 0);
}

void RequestContext::on_exchange_end(const session::RequestShare& self) noexcept {
  drop_content();
  answer.reset();
  if (recorder != nullptr) std::exchange(recorder, nullptr)->give_up(self);
}

bool RequestContext::keep_places() noexcept {
  drop_content();
  std::erase_if(values_, [](const Value& each) { return !each.is_place; });
  return !values_.empty();
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
