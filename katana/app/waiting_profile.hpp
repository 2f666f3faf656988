// profile_waiting(): where the coroutines of a program wait: samples of all reactors as a profile.
//
// Owns       nothing.
// Borrows    the observability, which outlives the task.
// Thread     a reactor's.
// Allocates  the profile, and the stacks of each reactor.
// Fails      never: a reactor that does not answer is one of threads_left_out.
// Invariant  no reactor is kept from its requests for longer than a slice of a walk takes.
#pragma once

#include <functional>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/observe/profile/profile.hpp"

namespace katana::app {

struct WaitingProfileOptions {
  std::string program = {};                  // its name
  Duration length = seconds(10);             // of the profile
  unsigned hertz = 10;                       // samples of each coroutine in a second
  std::function<bool()> is_over_early = {};  // asked with each sample; empty: it is not
};

Task<profile::Profile> profile_waiting(server::Observability& observability,
                                       WaitingProfileOptions options);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
