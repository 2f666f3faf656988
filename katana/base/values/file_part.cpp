#include "katana/base/values/file_part.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace katana {

std::ptrdiff_t FilePart::read(std::span<char> to) const noexcept {
  const iovec place{to.data(), static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), size))};
  for (;;) {
    const auto count = ::preadv(file->descriptor, &place, 1, static_cast<off_t>(offset));
    if (count >= 0 || errno != EINTR) return count;
  }
}

bool FilePart::read_all(std::span<char> to) const noexcept {
  FilePart rest = *this;
  to = to.first(static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), size)));
  while (!to.empty()) {
    const std::ptrdiff_t count = rest.read(to);
    if (count <= 0) return false;
    rest.remove_prefix(static_cast<std::uint64_t>(count));
    to = to.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
