// Limits of one WebSocket connection, options of its compression, and the codes that it closes
// with. A limit is the last value that is accepted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/values/instant.hpp"

namespace katana::ws {

// RFC 6455 §7.4.1, and the registry that it opens.
enum class CloseCode : std::uint16_t {
  normal = 1000,            // the connection did its work
  going_away = 1001,        // the server stops, or the page was left
  protocol_error = 1002,    // a rule was broken
  unsupported_data = 1003,  // a message of a kind that is not accepted
  none = 1005,              // never sent: a close frame had no code
  abnormal = 1006,          // never sent: there was no close frame
  not_consistent = 1007,    // text that is no UTF-8
  policy = 1008,            // a rule of the program was broken
  too_big = 1009,           // a message beyond a limit
  internal_error = 1011,    // the server failed
  service_restart = 1012,   // come back, in a moment that the server has chosen
  try_again_later = 1013,   // the server has too much to do
};

// Limits of one connection.
struct Limits {
  // For a message, decompressed. A larger one ends the connection (1009).
  std::uint64_t message_bytes_max = 1024 * 1024;
  // For one frame, as it is sent.
  std::uint64_t frame_bytes_max = 1024 * 1024;
  // Frames of one message.
  std::uint32_t fragments_max = 4096;
  // The longest time from the beginning of a message to its end. Zero: it may take for ever.
  Duration message_timeout = seconds(60);
  // The other side is sent a ping after so long a silence. Zero: never.
  Duration ping_after = seconds(30);
  // The longest silence after the ping. Then the other side counts as gone.
  Duration pong_timeout = seconds(20);
  // How long the other side's close frame is awaited behind ours.
  Duration close_timeout = seconds(5);
};

// Whether and how permessage-deflate is used.
struct DeflateOptions {
  // False: the extension is not agreed to.
  bool enabled = false;
  // The window for messages that are sent: 9 to 15. It takes 2^(window_bits + 2) bytes of memory,
  // and as many again for its tables.
  int window_bits = 12;
  int level = 1;
  // Shorter messages are sent as they are.
  std::size_t threshold_bytes = 256;
};

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
