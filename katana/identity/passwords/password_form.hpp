// The stored form of a password: argon2id (RFC 9106) in the PHC string format,
// "$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH", with base64 without padding.
//
// Owns       its bytes.
// Thread     a value.
// Allocates  as strings do.
// Fails      parse() returns nothing for text that write() does not write. It also refuses
//            parameters beyond the limits: an entry in a table must not exhaust the server.
// Invariant  a stored password needs at most 1 GiB of memory and 16 passes. Memory times passes is
//            at most 4 GiB.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"

namespace katana::passwords {

// The cost of a hash. The defaults are the first choice of OWASP: 19 MiB, 2 passes, 1 lane.
struct HashCost {
  std::uint32_t memory_kib = 19 * 1024;  // memory of one hash
  std::uint32_t passes = 2;              // passes over the memory
  std::uint32_t lanes = 1;               // parts of the memory, computed one after the other

  friend bool operator==(const HashCost&, const HashCost&) = default;
};
// The description for the settings of a program.
KATANA_DESCRIBE(HashCost,
                (memory_kib, range(8, 1 << 20), help("KiB of memory of one hash of a password")),
                (passes, range(1, 16), help("passes over that memory")),
                (lanes, range(1, 16), help("parts of it that could be made at the same time")))

// Limits of options and of stored passwords.
inline constexpr std::uint32_t memory_kib_max = 1 << 20;
inline constexpr std::uint32_t passes_max = 16;  // likewise
inline constexpr std::uint32_t lanes_max = 16;   // likewise
// True if argon2 supports the cost: at least 8 KiB for each lane.
bool is_possible(const HashCost& cost) noexcept;

// The stored parts of a password.
struct PasswordForm {
  HashCost cost;     // the cost of `hash`
  std::string salt;  // 8 to 64 bytes
  std::string hash;  // 16 to 64 bytes

  // Parses a PHC string; nothing: it has another form, or its cost is above the limits.
  static std::optional<PasswordForm> parse(Bytes text);
  // Writes a PHC string.
  std::string write() const;
};

// The argon2id hash of the password, in `hash_bytes` bytes. Fails with Code::resource_exhausted
// when there is no memory for it. It is slow: do not call it on a reactor.
Result<std::string> argon2id(Bytes password, Bytes salt, const HashCost& cost,
                             std::size_t hash_bytes);

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
