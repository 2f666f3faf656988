// QueueInstruments: the metrics of one queue.
//
// Owns       handles.
// Borrows    the registry, which outlives it.
// Thread     any.
// Allocates  make() only.
// Fails      make() with the registry's Error.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "katana/base/bytes.hpp"
#include "katana/base/result.hpp"
#include "katana/metrics/registry.hpp"

namespace katana::queue {

// How an attempt ended.
enum class Ended : std::uint8_t {
  done,
  retried,     // it failed, and waits for the next attempt
  dead,        // it failed for good
  lost,        // the lease was lost: another worker does the job
  given_back,  // the program ends
  unknown,     // the database did not answer while the lease lasted
};
inline constexpr std::size_t ended_count = 6;
Bytes name_of(Ended how) noexcept;

struct QueueInstruments {
  static Result<QueueInstruments> make(metrics::Registry& registry, const std::string& queue);

  std::array<metrics::Counter, ended_count> attempts;
  metrics::Counter expired;   // leases of other workers that this one found over
  metrics::Counter removed;   // by retention
  metrics::Counter failures;  // of statements
  metrics::Counter claims;
  metrics::LogHistogram run;
  metrics::LogHistogram wait;
  metrics::Gauge running;
  metrics::Gauge ready;
  metrics::Gauge delayed;
  metrics::Gauge dead;
  metrics::Gauge oldest;
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
