// Content codings and a client's preferences among them (RFC 9110 §8.4.1 and §12.5.3).
//
// Owns      nothing.
// Borrows   its arguments for the call.
// Thread    any; there is no state.
// Allocates never.
// Fails     never: an element that is malformed, its weight included, counts as refused.
// Invariant a coding that the client refuses (q=0) is never chosen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::http {

// In the order in which they are preferred when a client likes them equally.
enum class Coding : std::uint8_t { brotli, zstd, gzip, identity };
inline constexpr std::size_t coding_count = 4;  // for arrays by Coding

// "br", "zstd", "gzip", "identity".
Bytes coding_name(Coding coding) noexcept;
// Finds a coding by its name, ignoring case; "x-gzip" is gzip (RFC 9110 §8.4.1.3).
std::optional<Coding> coding_from(Bytes name) noexcept;

// A set of codings.
class Codings {
 public:
  constexpr Codings() noexcept = default;
  // Adds a coding. No effect if the set has it.
  constexpr void insert(Coding coding) noexcept {
    bits_ = static_cast<std::uint8_t>(bits_ | bit(coding));
  }
  // Whether the set has the coding.
  constexpr bool contains(Coding coding) const noexcept { return (bits_ & bit(coding)) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr bool operator==(const Codings&) const noexcept = default;

 private:
  static constexpr unsigned bit(Coding coding) noexcept {
    return 1U << static_cast<unsigned>(coding);
  }
  std::uint8_t bits_ = 0;
};

// How much a client likes each coding, in thousandths; 0: refused.
class AcceptedCodings {
 public:
  // Reads all Accept-Encoding fields. Without one only identity is accepted: a client that does not
  // say that it can decode usually cannot.
  explicit AcceptedCodings(const Head& head) noexcept;

  // 0 to 1000; 0: refused.
  unsigned quality(Coding coding) const noexcept {
    return qualities_[static_cast<std::size_t>(coding)];
  }
  // The coding of `available` that the client likes best. Nothing: the client refuses them all.
  std::optional<Coding> best_of(Codings available) const noexcept;

 private:
  void note(Bytes element) noexcept;

  static constexpr std::uint16_t unknown = UINT16_MAX;
  std::array<std::uint16_t, coding_count> qualities_;
  std::uint16_t any_ = unknown;  // of "*"
};

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
