// ProfilePage: a profile of the process as a page of operations.
//
//   GET /operations/profile?seconds=10&hertz=99&kind=cpu&format=pprof
//
//   seconds   1 to profile.seconds_max, or 10; the reply comes when they are over
//   hertz     1 to profile.hertz_max: samples for each second of CPU time of a thread, or of each
//             waiting coroutine. The default is 99, of waiting 10
//   bytes     1024 to 1 GiB, of kinds of memory: allocated bytes that a sample stands for; 512 KiB
//   kind      cpu, waiting: where coroutines wait, allocations: what is allocated, growth: what of
//             it is not freed before the end
//   format    pprof (for `go tool pprof` and `katana profile`), folded (a line for each stack),
//             html (a flame graph)
//
// Owns       the profiler.
// Borrows    the observability, and the pool that writes profiles of waiting. They outlive the
//            service.
// Thread     add_to() one, before the program serves. Requests come on any reactor.
// Allocates  during a profile.
// Fails      400 that names the parameter and its bounds. 405 for HEAD. 403 for a page of another
//            site, without a token. 409 with the end time while another profile of the kind is
//            being made. 503 where the kernel refuses timers or the pool has no place, and after
//            drain().
// Invariant  a client that leaves ends its profile. The page must outlive the service.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "katana/app/settings.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/observe/profile/profiler.hpp"

namespace katana::app {

struct ProfileQuery;

class ProfilePage {
 public:
  // `program`: its name.
  ProfilePage(std::string program, const ProfileSettings& settings,
              server::Observability& observability, thread::Pool& pool);

  // `pages`: a group that only those who run the program reach.
  void add_to(Group& pages);
  // The program is about to stop: a profile ends now, and is sent. No other begins.
  void drain() noexcept {
    is_draining_.store(true, std::memory_order_relaxed);
    profiler_.close();
  }

 private:
  Task<Result<Reply>> make(const Request& request, const ProfileQuery& query);

  const std::string program_;
  const ProfileSettings settings_;
  server::Observability& observability_;
  thread::Pool& pool_;
  profile::Profiler profiler_;
  std::atomic<std::int64_t> waiting_ends_at_ns_ = 0;  // since 1970; 0: none is being made
  std::atomic<bool> is_draining_ = false;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
