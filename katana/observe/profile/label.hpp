// label(): the work that the calling thread does at present, for a sample of it.
//
// Borrows    the present activity during the call.
// Thread     any. Safe in a signal handler, within crash::guarded().
// Allocates  never.
// Fails      never: without an activity the texts are empty.
#pragma once

#include "katana/base/coroutine/activity.hpp"
#include "katana/observe/profile/sample_ring.hpp"

namespace katana::profile {

// Sets the route, the request and the trace of the sample.
inline void label(Sample& sample) noexcept {
  const Activity* const activity = current_activity;
  if (activity == nullptr) return;
  if (activity->site != nullptr) sample.route.set(Bytes(*activity->site));
  sample.request.set(activity->name);
  sample.trace.set(activity->trace);
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
