// Addresses of hosts, as the system knows them: /etc/hosts and DNS, by getaddrinfo, which blocks.
//
// Thread     any that may wait.
// Fails      look_up_addresses() names the host and the system's reason.
#pragma once

#include <string>
#include <vector>

#include "katana/base/result.hpp"

namespace katana::client {

// An IPv4 or IPv6 address as it is, without brackets: nothing is to be looked up.
bool is_numeric_address(const std::string& host) noexcept;

// Numeric, in the order in which they are to be tried (RFC 6724); at least one.
Result<std::vector<std::string>> look_up_addresses(const std::string& host);

}  // namespace katana::client
