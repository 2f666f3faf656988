// targets_of(): the addresses of the hosts of a database.
//
// Owns       nothing.
// Thread     any; blocks, unless each host needs no look-up.
// Allocates  the result.
// Fails      with the host that has no address, if none has one.
// Invariant  the targets have the order of the hosts.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

// A host, and the address that its name was resolved to.
struct Target {
  std::string name;           // as configured; TLS checks it
  std::uint16_t port = 5432;  // of TCP
  std::string address = {};   // empty: the name is the folder of a Unix socket
};

// True: the name is a numeric address, or the folder of a Unix socket.
bool needs_no_look_up(const std::string& name) noexcept;

// The hosts as they are named, for net::Destinations. Does not block.
std::vector<Target> unresolved_targets(const Options& options);

// The targets of one host.
katana::Result<std::vector<Target>> targets_of(const Host& host);
// Those of all hosts. A host without an address is left out if another one has one.
katana::Result<std::vector<Target>> targets_of(const Options& options);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
