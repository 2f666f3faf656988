// Addresses of hosts as the system resolves them (/etc/hosts, DNS): getaddrinfo, which blocks.
//
// Thread     any that may block.
// Fails      look_up_addresses() names the host and the reason.
#pragma once

#include <string>
#include <vector>

#include "katana/base/result.hpp"

namespace katana::client {

// True for an IPv4 or IPv6 address, without brackets, which needs no resolution.
bool is_numeric_address(const std::string& host) noexcept;

// At least one numeric address, in the order to try them (RFC 6724).
Result<std::vector<std::string>> look_up_addresses(const std::string& host);

}  // namespace katana::client
