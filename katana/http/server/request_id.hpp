// RequestIds makes ids for requests that have none. The function is_request_id() checks an id that
// a client or proxy sent, for use in a log and in a reply.
//
// Owns       its state.
// Thread     one; each thread has its own.
// Allocates  never.
// Fails      never.
// Invariant  an id is 32 hexadecimal digits of 128 bits that do not repeat. Ids are no secrets, and
//            must not be used as such.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/random.hpp"

namespace katana::server {

// The clients from which X-Request-Id, traceparent and baggage are accepted. proxies: only those of
// http.trusted_proxies. automatic: the same if any are configured, otherwise all clients.
enum class RequestIdTrust : std::uint8_t { automatic, always, proxies, never };

inline constexpr std::size_t request_id_bytes = 32;       // of an id that this server makes
inline constexpr std::size_t request_id_bytes_max = 128;  // of an id that is accepted

// Letters, digits and "-_.:/+=@,": characters that need no quotes anywhere.
constexpr bool is_request_id(Bytes text) noexcept {
  constexpr auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           Bytes("-_.:/+=@,").find(c) != Bytes::npos;
  };
  return !text.empty() && text.size() <= request_id_bytes_max && std::ranges::all_of(text, good);
}

// Makes ids of requests.
class RequestIds {
 public:
  // Two generators with different seeds do not meet in the life of a program.
  explicit constexpr RequestIds(std::uint64_t seed) noexcept : random_(seed) {}

  // Writes a new id, in lower-case hexadecimal.
  void next(std::span<char, request_id_bytes> id) noexcept {
    write(random_.next(), id.data());
    write(random_.next(), id.data() + 16);
  }

 private:
  static void write(std::uint64_t word, char* to) noexcept {
    for (int digit = 0; digit < 16; ++digit, word <<= 4) to[digit] = "0123456789abcdef"[word >> 60];
  }

  Random random_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
