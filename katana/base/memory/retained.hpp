// Retained: memory, or an open file, with several references. It is released with the last one.
//
// Owns       nothing itself; its owner's `release` frees the memory or file.
// Thread     one: the count is a plain number. Memory that several threads share has one Retained
//            for each of them, and counts those.
// Allocates  never.
// Invariant  the memory stays unchanged while references > 0.
#pragma once

#include <cstdint>

#include "katana/base/system/check.hpp"

namespace katana {

struct Retained {
  explicit Retained(void (*action)(Retained&) noexcept) noexcept : release(action) {}
  Retained(const Retained&) = delete;
  Retained& operator=(const Retained&) = delete;

  void retain() noexcept { ++references; }  // one more let_go() is then needed
  // Removes a reference. The last one calls `release`, which may destroy this object.
  void let_go() noexcept {
    KATANA_CHECK(references > 0);
    if (--references == 0) release(*this);
  }

  void (*release)(Retained&) noexcept;  // called when the last reference is removed
  std::uint32_t references = 0;         // number of references
  int descriptor = -1;                  // descriptor of a file; -1 for memory
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
