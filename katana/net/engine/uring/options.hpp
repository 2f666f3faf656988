// UringOptions: sizes of the rings, and which of the kernel's newer parts are used.
//
// Thread     a value.
// Invariant  0 means: derived from the engine's links_max, see resolve().
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "katana/base/values/instant.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/uring/rules.hpp"

namespace katana::engine {

struct UringOptions {
  std::uint32_t submissions = 512;   // entries of the submission queue
  std::uint32_t completions = 4096;  // entries of the completion queue
  // Receive buffers, for all links together. Incremental buffers are larger, because completions
  // share them.
  std::size_t receive_bytes = 0;
  std::size_t receive_buffer_bytes = 0;
  bool incremental = true;  // if the kernel has it
  // Copies of short output. Output that is longer than a block goes by its own system call.
  std::uint32_t outputs = 0;
  std::size_t output_bytes = 4096;
  // The timeout for output that was sent before close(), if the client or server does not read.
  Duration delivery_grace = seconds(30);
  // A wait ends with so many completions, or with the first one after `collect`. Saves entries and
  // costs latency; off by default.
  std::uint32_t batch = 1;
  Duration collect{};
  UringRules rules{};

  // The same with every size filled in.
  UringOptions resolve(const Options& engine, bool has_incremental) const noexcept {
    UringOptions sizes = *this;
    sizes.incremental = incremental && has_incremental;
    if (sizes.receive_buffer_bytes == 0) {
      sizes.receive_buffer_bytes = sizes.incremental ? 16 * 1024 : 4 * 1024;
    }
    sizes.receive_buffer_bytes = std::min(sizes.receive_buffer_bytes, engine.receive_bytes_max);
    if (sizes.receive_bytes == 0) {
      // Room for one request from a share of the links, as they arrive between two turns.
      sizes.receive_bytes =
          std::clamp<std::size_t>(std::size_t{engine.links_max} * 8, 64 * 1024, 1024 * 1024);
      sizes.receive_bytes = std::max(sizes.receive_bytes, engine.receive_bytes_per_turn);
    }
    if (sizes.outputs == 0) sizes.outputs = std::clamp(engine.links_max / 64, 16u, 1024u);
    return sizes;
  }

  // REQUIRES the sizes of resolve().
  std::uint32_t receive_buffers() const noexcept {
    const std::size_t count = std::max<std::size_t>(2, receive_bytes / receive_buffer_bytes);
    return static_cast<std::uint32_t>(std::bit_floor(std::min<std::size_t>(count, 32 * 1024)));
  }
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
