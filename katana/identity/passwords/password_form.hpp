// How a password is kept: argon2id (RFC 9106) in the PHC string format,
// "$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH", with base64 without padding.
//
// Owns       its bytes.
// Thread     a value.
// Allocates  as strings do.
// Fails      parse() is nothing for what write() does not write, and for parameters that would take
//            more than a server can give: what is in a table may not exhaust it.
// Invariant  a stored password asks for at most 1 GiB of memory and 16 passes; memory times passes
//            is at most 4 GiB.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"

namespace katana::passwords {

// By default those that OWASP names first for argon2id: 19 MiB, 2 passes, 1 lane.
struct HashCost {
  std::uint32_t memory_kib = 19 * 1024;  // of one hash
  std::uint32_t passes = 2;              // over that memory
  std::uint32_t lanes = 1;               // parts of it; here one after the other

  friend bool operator==(const HashCost&, const HashCost&) = default;
};
// For settings of a program.
KATANA_DESCRIBE(HashCost,
                (memory_kib, range(8, 1 << 20), help("KiB of memory of one hash of a password")),
                (passes, range(1, 16), help("passes over that memory")),
                (lanes, range(1, 16), help("parts of it that could be made at the same time")))

// Of options, and of what is stored.
inline constexpr std::uint32_t memory_kib_max = 1 << 20;
inline constexpr std::uint32_t passes_max = 16;  // likewise
inline constexpr std::uint32_t lanes_max = 16;   // likewise
// What argon2 can do: at least 8 KiB for each lane.
bool is_possible(const HashCost& cost) noexcept;

// What is kept of a password.
struct PasswordForm {
  HashCost cost;     // with which `hash` was made
  std::string salt;  // 8 to 64 bytes
  std::string hash;  // 16 to 64 bytes

  // Nothing: it is of another form, or dearer than the limits.
  static std::optional<PasswordForm> parse(Bytes text);
  // As a PHC string.
  std::string write() const;
};

// argon2id of the password, with the hash's size of `like`; Code::resource_exhausted when there is
// no memory for it. Takes its time: not on a reactor.
Result<std::string> argon2id(Bytes password, Bytes salt, const HashCost& cost,
                             std::size_t hash_bytes);

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
