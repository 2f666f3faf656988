// FilePart: bytes of an open file that are to be sent, by reference.
//
// Borrows    the file, whose owner keeps it open for as long as it is referred to.
// Thread     its reactor's.
// Allocates  never.
// Fails      read() is -1 when the file cannot be read, and 0 when it ends before the part does:
//            somebody has made it shorter.
// Invariant  the file is never written, and its own offset is neither used nor moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/memory/retained.hpp"

namespace katana {

struct FilePart {
  Retained* file = nullptr;  // whose descriptor is an open file
  std::uint64_t offset = 0;  // in the file, of the first byte of the part
  std::uint64_t size = 0;

  // The first `count` bytes were sent. REQUIRES count <= size.
  void remove_prefix(std::uint64_t count) noexcept {
    offset += count;
    size -= count;
  }
  // Copies the first bytes of the part into `to`: as many as both have, or less. May wait for the
  // disk.
  std::ptrdiff_t read(std::span<char> to) const noexcept;
  // The same, until `to` or the part is full. False: there is not so much.
  bool read_all(std::span<char> to) const noexcept;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
