#include "katana/data/container/output.hpp"

#include <algorithm>

namespace katana::container {

char* StringOutput::grow(char* at, std::size_t count) {
  const auto used = static_cast<std::size_t>(at - to_.data());
  use(std::max(used + count, 2 * to_.capacity()));
  return to_.data() + used;
}

char* TextOutput::grow(char* at, std::size_t count) {
  const auto used = at == nullptr ? 0 : static_cast<std::size_t>(at - to_.data());
  to_.resize(used);
  const std::size_t wanted = std::max(used + count, 2 * used);
  to_.grow_to(wanted);
  end_ = to_.data() + wanted;
  return to_.data() + used;
}

void OutboxOutput::close_window(char* at) noexcept {
  if (begin_ == nullptr || full_) return;
  const auto written = static_cast<std::size_t>(at - begin_);
  if (begin_ == spare_.data()) {
    full_ = !to_.write({begin_, written});
  } else {
    to_.commit(written);
  }
}

char* OutboxOutput::next_window(char* at, std::size_t count) noexcept {
  const bool is_first = begin_ == nullptr;
  close_window(at);
  const std::size_t block = to_.reserve_bytes_max();
  std::size_t size = std::max(count, is_first ? std::min(first_bytes, block) : block);
  begin_ = full_ || count > block ? nullptr : to_.reserve(size);
  if (begin_ == nullptr && !full_) {
    full_ = count <= block;
    size = 0;
  }
  if (begin_ == nullptr) {
    begin_ = spare_.data();
    size = spare_.size();
  }
  end_ = begin_ + size;
  return begin_;
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
