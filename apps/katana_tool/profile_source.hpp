// The profile that `katana profile` reads: of a program by its URL or its number, or of a file.
//
// Owns       nothing.
// Thread     one, which has no reactor.
// Allocates  freely.
// Fails      with the URL, the process or the file, the reason, and the remedy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::tool {

// The length and rate to ask a program for, and the token that it wants.
struct ProfileRequest {
  std::string kind = "cpu";  // as the page names it
  unsigned seconds = 10;
  unsigned hertz = 0;       // 0: that of the page
  std::uint64_t bytes = 0;  // likewise
  std::string token = {};   // of operations.token; empty: none
};

// The bytes of the file of pprof. `target`: "http://127.0.0.1:9090", a number of a process of this
// machine, or the path of a file.
Result<std::string> profile_of(const std::string& target, const ProfileRequest& request);

// The URLs of the TCP sockets that a process listens on.
Result<std::vector<std::string>> urls_of_process(const std::string& number);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
