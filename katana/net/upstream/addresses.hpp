// Addresses of hosts as the system resolves them (/etc/hosts, DNS): getaddrinfo, which blocks.
//
// Thread     any that may block.
// Fails      look_up_addresses() names the host and the reason.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::upstream {

// True for an IPv4 or IPv6 address, without brackets, which needs no resolution.
bool is_numeric_address(const std::string& host) noexcept;

// The same addresses with the families in turn, beginning with the family of the first (RFC 8305
// §4): one family that is broken costs one attempt and not all of its addresses.
std::vector<std::string> interleave_families(const std::vector<std::string>& addresses);

// At least one numeric address, in the order to try them: RFC 6724, with the families in turn.
Result<std::vector<std::string>> look_up_addresses(const std::string& host);

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
