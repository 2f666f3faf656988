// Privileges: the user of this process, and the rights of root that it keeps for a while.
//
//   auto identity = sandbox::find_identity("www-data", "");
//   sandbox::become(*identity, sandbox::Until::started);   // files belong to www-data from here on
//   …                                                      // ports below 1024 are bound
//   sandbox::give_up_root(*identity);                      // in all threads, for good
//
// Owns       nothing.
// Thread     all threads of the process change, whichever calls. Call become() with Until::started
//            before there are others: only the caller's thread and those that it makes have the
//            capability.
// Allocates  yes.
// Fails      with the user or group that is not known, or the call that the system refuses and the
//            remedy.
// Invariant  after give_up_root(), or become() without Until::started, no thread has a capability
//            or a way back to root.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::sandbox {

// User and groups of a process.
struct Identity {
  uid_t user = 0;                  // real, effective and saved
  gid_t group = 0;                 // likewise
  std::vector<gid_t> groups = {};  // all of the user's, which let it read keys of such a group
  std::string name = {};           // of the user
};

// `user` and `group` are names or numbers; an empty group: the user's own.
Result<Identity> find_identity(const std::string& user, const std::string& group);

// Whether the effective user is root.
bool is_root() noexcept;

// How long the right to bind ports below 1024 is kept.
enum class Until {
  now,      // not at all
  started,  // until give_up_root()
};
// REQUIRES root, unless the process is that user already. No rights are gained by executing a
// program from here on (no_new_privs).
Result<void> become(const Identity& identity, Until until);
// Gives up the rights of root in all threads, for good. Without an earlier become() with
// Until::started it changes nothing.
Result<void> give_up_root(const Identity& identity);

// The first port that every user may bind (net.ipv4.ip_unprivileged_port_start).
std::uint16_t first_free_port() noexcept;

// Prevents core dumps. No other process of the same user can read the memory of this one (ptrace,
// /proc/PID/mem): keys and passwords stay here.
Result<void> keep_memory_private() noexcept;

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
