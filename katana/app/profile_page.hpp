// ProfilePage: a profile of the process as a page of operations.
//
//   GET /operations/profile?seconds=10&hertz=99&kind=cpu&format=pprof
//
//   seconds   1 to profile.seconds_max, or 10; the reply comes when they are over
//   hertz     1 to profile.hertz_max, or 99: samples for each second of CPU time of a thread
//   kind      cpu
//   format    pprof (for `go tool pprof` and `katana profile`), folded (a line for each stack),
//             html (a flame graph)
//
// Owns       the profiler.
// Thread     add_to() one, before the program serves. Requests come on any reactor.
// Allocates  during a profile.
// Fails      400 that names the parameter and its bounds. 405 for HEAD. 403 for a page of another
//            site, without a token. 409 with the end time while another
//            profile is being made. 503 where the kernel refuses timers, and after drain().
// Invariant  a client that leaves ends its profile. The page must outlive the service.
#pragma once

#include <string>

#include "katana/app/settings.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/observe/profile/profiler.hpp"

namespace katana::app {

class ProfilePage {
 public:
  // `program`: its name.
  ProfilePage(std::string program, const ProfileSettings& settings);

  // `pages`: a group that only those who run the program reach.
  void add_to(Group& pages);
  // The program is about to stop: a profile ends now, and is sent. No other begins.
  void drain() noexcept { profiler_.close(); }

 private:
  const std::string program_;
  const ProfileSettings settings_;
  profile::Profiler profiler_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
