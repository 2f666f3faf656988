// Budget: what a peer may spend before it has to earn more. Full at first; time refills it.
//
// Owns       two words.
// Invariant  never more than `most`.
#pragma once

#include <algorithm>
#include <cstdint>

#include "katana/base/instant.hpp"

namespace katana::http2 {

class Budget {
 public:
  explicit Budget(std::uint32_t most, Instant now) noexcept : since_(now), left_(most) {}

  // False: there is nothing left. Time is looked at only then, so that spending costs next to
  // nothing.
  bool spend(Instant now, std::uint32_t most, std::uint32_t per_s) noexcept {
    if (left_ == 0) [[unlikely]] {
      const std::int64_t earned =
          std::min<std::int64_t>((now - since_).ns / 1'000'000 * per_s / 1'000, most);
      if (earned <= 0) return false;
      left_ = static_cast<std::uint32_t>(earned);
      since_ = now;
    }
    --left_;
    return true;
  }

  void earn(std::uint32_t more, std::uint32_t most) noexcept {
    left_ = std::min(left_ + more, most);
  }

 private:
  Instant since_;
  std::uint32_t left_;
};

}  // namespace katana::http2
