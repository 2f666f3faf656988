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

// Returns the same addresses with the families in turn, beginning with the family of the first (RFC
// 8305 §4). A broken family then costs one attempt instead of one per address.
std::vector<std::string> interleave_families(const std::vector<std::string>& addresses);

// Returns at least one numeric address, in the order of the attempts: RFC 6724, with the families
// in turn.
Result<std::vector<std::string>> look_up_addresses(const std::string& host);

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
