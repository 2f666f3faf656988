// Retained: memory, or an open file, that several referrers share and that goes back when the last
// lets go.
//
// Owns       nothing itself; `release` does with it what its owner wants.
// Thread     one: the count is a plain number. Memory that several threads share has one Retained
//            for each of them, and counts those.
// Allocates  never.
// Invariant  the memory stays as it is while references > 0.
#pragma once

#include <cstdint>

#include "katana/base/system/check.hpp"

namespace katana {

struct Retained {
  explicit Retained(void (*action)(Retained&) noexcept) noexcept : release(action) {}
  Retained(const Retained&) = delete;
  Retained& operator=(const Retained&) = delete;

  void retain() noexcept { ++references; }  // one more let_go() is then needed
  // May destroy this.
  void let_go() noexcept {
    KATANA_CHECK(references > 0);
    if (--references == 0) release(*this);
  }

  void (*release)(Retained&) noexcept;  // called when the last reference goes
  std::uint32_t references = 0;         // 0: no references
  int descriptor = -1;                  // of the file, if it is one
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
