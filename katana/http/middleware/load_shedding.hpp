// Load shedding: a reactor that is never idle refuses some of its requests at once, and answers the
// others in time.
//
//   router.use(load_shedding());            // off unless it is used
//
// A reactor that is too slow has a growing queue in its sockets. Each reply comes later than the
// one before, until its client has given up, and all of the work is wasted. The middleware measures
// the idle share of the reactor in a window. Beyond utilisation_max it lowers the share of requests
// that pass in proportion; below it the share rises again.
//
// Owns       a few figures for each reactor.
// Thread     a reactor's; nothing is shared.
// Allocates  once for each reactor.
// Fails      503 with Retry-After, before any of the body is read.
// Invariant  a reactor whose utilisation is below the limit refuses nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/http/middleware/load_shedding_options.hpp"

namespace katana {

// Makes the middleware for use().
Middleware load_shedding(LoadSheddingOptions options = {});

// The same, with a limit that may change while it serves. Copies share it.
class LoadShedding {
 public:
  explicit LoadShedding(LoadSheddingOptions options);
  // Makes middleware for use().
  Middleware middleware() const;
  // Sets the limit from the next window on. Any thread. REQUIRES more than 0 and less than 1.
  void set_utilisation_max(double utilisation_max);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

namespace detail {

// The share of requests that pass. A pure function: times are arguments.
class SheddingControl {
 public:
  SheddingControl(double utilisation_max, Duration window, Instant now) noexcept
      : utilisation_max_(utilisation_max), window_(window), window_began_(now), busy_until_(now) {}

  // A request comes in a turn that began at `turn_began`. Returns true if it passes.
  bool admit(Instant turn_began, Instant now) noexcept;
  // The turn has ended; the time until the next one begins is idle.
  void end_turn(Instant now) noexcept { busy_until_ = now; }
  double admitted() const noexcept { return admitted_; }
  void set_utilisation_max(double utilisation_max) noexcept { utilisation_max_ = utilisation_max; }

 private:
  void end_window(Instant now) noexcept;

  double utilisation_max_;
  const Duration window_;
  Instant window_began_;
  Instant busy_until_;
  Duration idle_;
  double admitted_ = 1;
  double credit_ = 0;
};

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
