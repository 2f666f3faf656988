// Budget: the units that a client may spend before it has to earn more. Full at first; time refills
// it.
//
// Owns       two words.
// Invariant  never more than `most`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "katana/base/values/instant.hpp"
#include "katana/wire/http2/limits.hpp"

namespace katana::http2 {

class Budget {
 public:
  explicit Budget(std::uint32_t most, Instant now) noexcept : since_(now), left_(most) {}

  // Spends `cost`. False: there is not so much left. Only then is the time considered: spending
  // costs next to nothing.
  bool spend(Instant now, std::uint32_t cost, std::uint32_t most, std::uint32_t per_s) noexcept {
    if (left_ < cost) [[unlikely]] {
      const std::int64_t earned =
          std::min<std::int64_t>((now - since_).ns / 1'000'000 * per_s / 1'000, most);
      if (left_ + earned < cost) return false;
      left_ = static_cast<std::uint32_t>(std::min<std::int64_t>(left_ + earned, most));
      since_ = now;
    }
    left_ -= cost;
    return true;
  }

  // Never above `most`.
  void earn(std::uint32_t more, std::uint32_t most) noexcept {
    left_ = std::min(left_ + more, most);
  }

 private:
  Instant since_;
  std::uint32_t left_;
};

// IdleBudget: frames that move nothing (Limits::idle_frames_max). A DATA frame of use_bytes or more
// earns a whole use, and a smaller one earns a part in proportion to its bytes. Otherwise a frame
// of one byte between two that move nothing would pay for both and for two more. No frame earns
// more than one use: otherwise one frame of 16 KiB would pay for thousands.
//
// SETTINGS cost more: they change all streams and are answered. A client has no cause to send them
// again and again, as it has with PING and WINDOW_UPDATE.
class IdleBudget {
 public:
  static constexpr std::uint32_t use_bytes = 8;       // gRPC's smallest messages have five and more
  static constexpr std::uint32_t frame_cost = 1;      // of most frames without use
  static constexpr std::uint32_t settings_cost = 16;  // of SETTINGS, which cost an answer

  IdleBudget(const Limits& limits, Instant now) noexcept
      : units_(limits.idle_frames_max * use_bytes, now) {}

  // False: the budget is used up, and the connection ends.
  bool spend(const Limits& limits, Instant now, std::uint32_t cost) noexcept {
    return units_.spend(now, cost * use_bytes, limits.idle_frames_max * use_bytes,
                        limits.idle_frames_per_s * use_bytes);
  }
  // A request, or a reply that was asked for.
  void earn_use(const Limits& limits) noexcept { earn(limits, use_bytes, 1); }
  // `frames` of DATA with `bytes` of content in all.
  void earn(const Limits& limits, std::size_t bytes, std::uint32_t frames) noexcept {
    const auto counted = std::min<std::size_t>(bytes, std::size_t{frames} * use_bytes);
    units_.earn(static_cast<std::uint32_t>(counted) * limits.idle_frames_per_use,
                limits.idle_frames_max * use_bytes);
  }

 private:
  Budget units_;  // 1 / use_bytes of a frame
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
