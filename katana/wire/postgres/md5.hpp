// MD5 (RFC 1321), for PostgreSQL's obsolete method of authentication and for nothing else. It is
// broken as a digest. The answer to the method, which is as good as the password for this server,
// is sent only if a caller allows it.
//
// OpenSSL may be configured without MD5. Therefore this implementation exists.
//
// Thread     any.
// Allocates  never.
// Source     RFC 1321 §3; PostgreSQL 18, "Protocol Flow", AuthenticationMD5Password
#pragma once

#include <array>

#include "katana/base/text/bytes.hpp"

namespace katana::postgres {

// A digest in hexadecimal digits.
using Md5Text = std::array<char, 32>;

// The digest of two texts, one behind the other.
Md5Text md5_of(Bytes first, Bytes second) noexcept;

// "md5" and md5(md5(password, user), salt).
using Md5Answer = std::array<char, 35>;
// The answer to AuthenticationMD5Password. `salt` has four bytes.
Md5Answer md5_answer(Bytes user, Bytes password, Bytes salt) noexcept;

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
