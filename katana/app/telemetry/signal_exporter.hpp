// SignalExporter: what ExporterThread runs for one signal: traces, metrics or logs.
//
// Thread     that of the exporter's reactor.
// Allocates  what is encoded.
// Fails      never: what is not sent is counted.
// Invariant  run() ends after finish(), unless the collector keeps it waiting.
#pragma once

#include "katana/app/telemetry/otlp_sender.hpp"
#include "katana/base/coroutine/task.hpp"

namespace katana::app {

class SignalExporter {
 public:
  virtual ~SignalExporter() = default;

  // Until finish(), and what there was then is sent or dropped.
  virtual Task<void> run() = 0;
  // Takes what there is now, before its source has no room.
  virtual void collect() {}
  // The program drains: its services are there for the last time.
  virtual void drain() {}
  // No export is repeated from here on.
  virtual void finish() = 0;
  // Counts what is left as dropped. run() has ended, or its task is destroyed.
  virtual void drop_rest() noexcept = 0;
  // It has the counts of the signal.
  virtual const OtlpSender& sender() const noexcept = 0;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
