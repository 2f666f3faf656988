// Landlock: which files and TCP ports this process may use, whatever its rights (landlock(7)).
//
//   auto report = sandbox::restrict_files({.read = {"/etc/tls"}, .write = {"/var/lib/users"}});
//
// A rule is for a file, or for all files beneath a folder. A rule for a file holds for the file
// that exists when the rule is made. For a file that is replaced later, as certificates are, name
// the folder. Open files stay usable.
//
// Owns       nothing; the kernel has the rules, and they are never taken back.
// Thread     the caller's, and those that are made by it later. Call it before there are others.
// Allocates  yes.
// Fails      with the path that cannot be opened, and why. A kernel without Landlock, or with less
//            of it, is no failure: the report says what is not enforced.
// Invariant  no file is executed, unless `execute` allows it; no device gets an ioctl().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::sandbox {

// The accesses that stay allowed; every other access of these kinds is refused.
struct LandlockRules {
  std::vector<std::string> read = {};   // absolute paths; not there: left out, and reported
  std::vector<std::string> write = {};  // to read, make, change, rename and remove
  bool execute = false;                 // files of `read` may be executed
  // TCP ports that may be bound, 0 for one that the kernel chooses; none: all.
  std::optional<std::vector<std::uint16_t>> bind = {};
  bool connect = true;   // to any TCP port; false: to none
  bool signals = false;  // may be sent to processes outside of these rules
  // Unix sockets without a file ("@name") of processes outside of these rules may be connected to.
  bool abstract_sockets = false;
};

// The rules that the kernel enforces.
struct LandlockReport {
  int version = 0;                             // of the kernel's Landlock; 0: none
  std::size_t read = 0;                        // paths of the rules that are there
  std::size_t write = 0;                       // likewise
  std::vector<std::string> absent = {};        // paths of the rules that are not there
  std::vector<std::string> not_enforced = {};  // rules that this kernel cannot enforce, in words
  bool ports = false;                          // bind and connect are enforced
};

// The version of this kernel's Landlock: 1 (Linux 5.13) and later; 0: none, or it is disabled.
int landlock_version() noexcept;

// `version_max`: no more than that is used, for tests.
Result<LandlockReport> restrict_files(const LandlockRules& rules, int version_max = 7);

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
