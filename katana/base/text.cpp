#include "katana/base/text.hpp"

#include <algorithm>
#include <bit>

namespace katana {

void Text::reallocate(std::size_t bytes) {
  const std::size_t wanted = std::max<std::size_t>(64, std::bit_ceil(bytes));
  char* const larger = static_cast<char*>(recycler::allocate(wanted));
  if (size_ > 0) std::memcpy(larger, data_, size_);
  recycler::release(data_, capacity_);
  data_ = larger;
  capacity_ = wanted;
}

}  // namespace katana
