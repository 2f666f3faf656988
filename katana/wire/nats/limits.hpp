// Limits of one connection to a NATS server. A limit is the last value that is accepted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace katana::nats {

// The limits of a Machine, which refuses input that exceeds one of them.
struct Limits {
  // For any line but INFO, without its line end. The line holds subjects that other clients choose;
  // a server has its own limit for it (max_control_line, 4 KiB).
  std::size_t line_bytes_max = 8 * 1024;
  // For an INFO line, which lists the servers of a cluster.
  std::size_t info_bytes_max = 24 * 1024;
  // For a message with its headers. No server allows more.
  std::uint32_t message_bytes_max = 64 * 1024 * 1024;
};

}  // namespace katana::nats

// SPDX-License-Identifier: Apache-2.0
