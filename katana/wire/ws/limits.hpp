// Limits of one WebSocket connection. A limit is the last value that is accepted.
#pragma once

#include <cstdint>

#include "katana/base/values/instant.hpp"

namespace katana::ws {

struct Limits {
  // Of a message, decompressed. A larger one ends the connection (1009).
  std::uint64_t message_bytes_max = 1024 * 1024;
  // Of one frame, as it is sent.
  std::uint64_t frame_bytes_max = 1024 * 1024;
  // Frames of one message.
  std::uint32_t fragments_max = 4096;
  // A message that has begun is complete after so long. Zero: it may take for ever.
  Duration message_timeout = seconds(60);
  // A peer that says nothing for so long is sent a ping. Zero: it is not.
  Duration ping_after = seconds(30);
  // One that then says nothing for so long has left.
  Duration pong_timeout = seconds(20);
  // How long the peer's close frame is awaited behind ours.
  Duration close_timeout = seconds(5);
};

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
