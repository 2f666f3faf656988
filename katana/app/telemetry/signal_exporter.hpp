// SignalExporter: the exporter of one signal that ExporterThread runs: traces, metrics or logs.
//
// Thread     that of the exporter's reactor.
// Allocates  the encoded data.
// Fails      never: data that is not sent is counted.
// Invariant  run() ends after finish(), unless the collector keeps it waiting.
#pragma once

#include "katana/app/telemetry/otlp_sender.hpp"
#include "katana/base/coroutine/task.hpp"

namespace katana::app {

class SignalExporter {
 public:
  virtual ~SignalExporter() = default;

  // Exports until finish(), and until the data of that moment is sent or dropped.
  virtual Task<void> run() = 0;
  // Takes the present data from its source, before the source has no room.
  virtual void collect() {}
  // The graceful shutdown has begun: services can be used for the last time.
  virtual void drain() {}
  // No export is repeated from here on.
  virtual void finish() = 0;
  // Counts the remaining data as dropped. run() has ended, or its task is destroyed.
  virtual void drop_rest() noexcept = 0;
  // It has the counts of the signal.
  virtual const OtlpSender& sender() const noexcept = 0;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
