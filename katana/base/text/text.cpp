#include "katana/base/text/text.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>

namespace katana {
namespace {

std::size_t capacity_for(std::size_t bytes) noexcept {
  return std::max<std::size_t>(64, std::bit_ceil(bytes));
}

}  // namespace

std::size_t Text::capacity_with(std::size_t more) const noexcept {
  return more <= capacity_ - size_ ? capacity_ : capacity_for(size_ + more);
}

void Text::reallocate(std::size_t bytes) {
  const std::size_t wanted = capacity_for(bytes);
  char* const larger = static_cast<char*>(recycler::allocate(wanted));
  if (size_ > 0) std::memcpy(larger, data_, size_);
  recycler::release(data_, capacity_);
  data_ = larger;
  capacity_ = wanted;
}

void Text::append_to_larger(Bytes bytes) {
  const std::size_t wanted = capacity_for(size_ + bytes.size());
  char* const larger = static_cast<char*>(recycler::allocate(wanted));
  if (size_ > 0) std::memcpy(larger, data_, size_);
  std::memcpy(larger + size_, bytes.data(), bytes.size());
  recycler::release(data_, capacity_);  // last, because `bytes` may lie in it
  data_ = larger;
  size_ += bytes.size();
  capacity_ = wanted;
}

Text vformat_text(fmt::string_view pattern, fmt::format_args arguments) {
  // Formatted on the stack and copied once. Otherwise each character would check the capacity.
  fmt::memory_buffer formatted;
  fmt::vformat_to(fmt::appender(formatted), pattern, arguments);
  return Text({formatted.data(), formatted.size()});
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
