// FilePart: a reference to bytes of an open file that are to be sent.
//
// Borrows    the file; its owner keeps it open as long as there are references.
// Thread     its reactor's.
// Allocates  never.
// Fails      read() returns -1 when the file cannot be read, and 0 when the file ends before the
//            part: another program has truncated it.
// Invariant  the file is never written, and its file offset is neither used nor moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/memory/retained.hpp"

namespace katana {

struct FilePart {
  Retained* file = nullptr;  // has the descriptor of an open file
  std::uint64_t offset = 0;  // offset in the file of the first byte of the part
  std::uint64_t size = 0;

  // Removes the first `count` bytes, which were sent. REQUIRES count <= size.
  void remove_prefix(std::uint64_t count) noexcept {
    offset += count;
    size -= count;
  }
  // Copies the first bytes of the part into `to`: as many as fit, or less. It may block for the
  // disk.
  std::ptrdiff_t read(std::span<char> to) const noexcept;
  // The same, until `to` is full or the part ends. False: the file is too short.
  bool read_all(std::span<char> to) const noexcept;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
