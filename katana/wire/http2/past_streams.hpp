// PastStreams: how the last streams ended. The end of a stream decides which frames a client may
// still send on it (RFC 9113 §5.1).
//
// Owns       sixteen words.
// Thread     its machine's.
// Allocates  never.
#pragma once

#include <array>
#include <cstdint>

#include "katana/wire/http2/frame.hpp"

namespace katana::http2 {

// How a stream ended. unknown: too long ago, or never begun.
enum class Past : std::uint8_t { unknown, ended, peer_reset, own_reset };

class PastStreams {
 public:
  // The ids of clients are odd and have 31 bits: two bits of 32 are free to say how a stream ended.
  void note(std::uint32_t id, Past past) noexcept {
    const auto how = static_cast<std::uint32_t>(past);
    pasts_[next_] = (id & id_bits) | (how & 1) | (how >> 1) << 31;
    next_ = static_cast<std::uint8_t>((next_ + 1) % pasts_.size());
  }

  // How a stream ended. RFC 9113 §5.1 decides by it what a late frame means.
  Past find(std::uint32_t id) const noexcept {
    for (const std::uint32_t each : pasts_) {
      if ((each & id_bits) == (id & id_bits)) {
        return static_cast<Past>((each & 1) | (each >> 31) << 1);
      }
    }
    return Past::unknown;
  }

 private:
  static constexpr std::uint32_t id_bits = stream_id_max - 1;

  std::array<std::uint32_t, 16> pasts_{};
  std::uint8_t next_ = 0;
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
