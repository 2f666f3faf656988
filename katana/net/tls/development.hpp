// A self-signed certificate for a developer's own machine: no browser trusts it unasked.
//
// Thread     any.
// Allocates  its result.
// Fails      with what OpenSSL says.
// Invariant  each call makes a new key, which exists only in the result.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/net/tls/options.hpp"

namespace katana::tls {

// Makes a certificate for "localhost", 127.0.0.1, ::1 and `names` (DNS names or numeric addresses).
// ECDSA P-256, valid for thirty days.
Result<Certificate> make_development_certificate(const std::vector<std::string>& names);

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
