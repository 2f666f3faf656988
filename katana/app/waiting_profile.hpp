// sample_waiting(), profile_of(): where the coroutines of a program wait: samples of all reactors,
// and the profile that they make.
//
//   WaitingSamples samples = co_await sample_waiting(observability, {.length = seconds(10)});
//   auto make = [&samples] { return profile_of(samples, "shop"); };   // work for a pool
//
// Owns       the stacks of each reactor.
// Borrows    the observability, which outlives the task.
// Thread     sample_waiting() a reactor's; profile_of() any.
// Allocates  the profile, and the stacks of each reactor.
// Fails      never: a reactor that does not answer is one of `silent`.
// Invariant  no reactor is kept from its requests for longer than a slice of a walk takes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/wait_samples.hpp"
#include "katana/observe/profile/profile.hpp"

namespace katana::app {

// Options of sample_waiting().
struct WaitingOptions {
  Duration length = seconds(10);             // of the profile
  unsigned hertz = 10;                       // samples of each coroutine in a second
  std::function<bool()> is_over_early = {};  // asked meanwhile; empty: it is not
};

// The samples of one reactor.
struct ReactorWaiting {
  // Its stacks.
  std::shared_ptr<server::WaitSamples> samples = std::make_shared<server::WaitSamples>();
  std::uint64_t taken = 0;   // samples of all its coroutines
  std::uint64_t missed = 0;  // those that it, or the reactor of the profile, was too busy for
};

// The samples of all reactors.
struct WaitingSamples {
  std::vector<ReactorWaiting> reactors = {};  // those that have answered
  std::uint64_t silent = 0;                   // reactors that have not
  std::int64_t began_ns = 0;                  // since 1970
  std::int64_t took_ns = 0;                   // of the profile
  std::int64_t period_ns = 0;                 // between two samples
};

Task<WaitingSamples> sample_waiting(server::Observability& observability, WaitingOptions options);

// Takes time in proportion to the number of different stacks: not for a reactor.
profile::Profile profile_of(const WaitingSamples& samples, const std::string& program);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
