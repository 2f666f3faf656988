// The commands that must not go over a connection that many callers share, and the remedy for each.
//
// Thread     any.
#pragma once

#include "katana/stores/redis/command.hpp"

namespace katana::redis {

// Null: it may be sent.
const char* why_refused(const Command& command) noexcept;

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
