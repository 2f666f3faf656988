#include "katana/base/values/pattern.hpp"

namespace katana {

// A state is the index of the next item. Optional items are passed over.
void Pattern::pass_over(States& states) const noexcept {
  for (std::size_t index = 0; index < count_; ++index) {
    if (states[index] && items_[index].often != Often::once) states.set(index + 1);
  }
}

bool Pattern::matches(Bytes text) const noexcept {
  if (!valid_) return false;
  States states;
  states.set(0);
  pass_over(states);
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    States next;
    for (std::size_t index = 0; index < count_; ++index) {
      if (!states[index] || !items_[index].fits(text.front())) continue;
      next.set(items_[index].often == Often::any_number ? index : index + 1);
    }
    if (next.none()) return false;
    pass_over(next);
    states = next;
    text.remove_prefix(length);
  }
  return states[count_];
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
