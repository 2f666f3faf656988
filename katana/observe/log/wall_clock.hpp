// TimeText: nanoseconds since 1970 as 2026-01-31T23:59:59.123456Z (RFC 3339).
//
// Thread     one at a time: the text of the last second is kept.
// Allocates  never.
// Fails      never: times before 1970 are shown as 1970; 64 bits end in 2262.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::log {

class TimeText {
 public:
  // Valid until the next call.
  Bytes text(std::int64_t wall_ns) noexcept;

 private:
  std::int64_t second_ = -1;
  std::array<char, 27> octets_{};
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
