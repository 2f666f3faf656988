// The header with a publisher's number, and the subjects whose messages have none because they
// belong to the server.
//
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus {

// The header that carries a publisher's numbers.
inline constexpr Bytes sequence_header = "Katana-Seq: ";

// Subjects that have no prefix, and no numbers.
inline bool is_raw_subject(Bytes subject) noexcept {
  return subject.starts_with(inbox_prefix) || subject.starts_with('$');
}

std::uint64_t random_publisher();  // not 0

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
