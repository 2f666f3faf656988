// Bus descriptions: the keys, rules and help of the limits that every bus has. A list for
// KATANA_DESCRIBE, because a bus with servers has more keys.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      as Config does.
#pragma once

#include "katana/base/values/described.hpp"

#define KATANA_APP_BUS_LIMITS_                                                                     \
  (payload_bytes_max, byte_count, range(1, 64 << 20), help("of a message")),                       \
      (queue_messages_max, range(1, 1 << 24),                                                      \
       help(                                                                                       \
           "messages that wait for one reactor; of more the newest are dropped, and it is told")), \
      (queue_bytes_max, byte_count, at_least(std::size_t{1} << 16), help("and their bytes")),      \
      (requests_max, range(1, 1 << 20), help("requests of each reactor that wait for an answer")), \
      (subscriptions_max, range(1, 1 << 24), help("subscriptions of the process"))

// SPDX-License-Identifier: Apache-2.0
