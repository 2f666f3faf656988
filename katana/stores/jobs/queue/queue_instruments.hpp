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

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::queue {

// How an attempt ended.
enum class Ended : std::uint8_t {
  done,        // the handler succeeded, and the row says so
  retried,     // it failed, and waits for the next attempt
  dead,        // it failed for good
  lost,        // the lease was lost: another worker does the job
  given_back,  // the program ends
  unknown,     // the database did not answer while the lease lasted
};
inline constexpr std::size_t ended_count = 6;  // enumerators of Ended
// The label `outcome` of katana_queue_attempts; it lives for ever.
Bytes name_of(Ended how) noexcept;

struct QueueInstruments {
  // Registers all of them, with the label `queue`.
  static Result<QueueInstruments> make(metrics::Registry& registry, const std::string& queue);

  std::array<metrics::Counter, ended_count> attempts;  // that have ended, by Ended
  metrics::Counter expired;    // leases of other workers that this one found over
  metrics::Counter removed;    // by retention
  metrics::Counter failures;   // of statements
  metrics::Counter claims;     // statements that claim, those that found nothing included
  metrics::LogHistogram run;   // duration of an attempt
  metrics::LogHistogram wait;  // from when the job was due to its claim
  metrics::Gauge running;      // jobs that this process is at
  metrics::Gauge ready;        // QueueDepth::ready
  metrics::Gauge delayed;      // QueueDepth::delayed
  metrics::Gauge dead;         // QueueDepth::dead
  metrics::Gauge oldest;       // QueueDepth::waited_us, in seconds
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
