// ExporterThread: a thread with a reactor, which exports and serves nobody: whatever a collector
// does, no request waits for it.
//
// Owns       the thread, its reactor and the exporter.
// Borrows    the tracer and the Log behind the logger.
// Thread     the program's; wake() and counts any.
// Allocates  when it starts.
// Fails      start() says what the system did not give.
// Invariant  stop() returns within the time that it is given, and a little more.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "katana/app/telemetry/span_exporter.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/result.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::app {

class ExporterThread {
 public:
  // Runs until stop(), or its destructor.
  static Result<std::unique_ptr<ExporterThread>> start(trace::Tracer& tracer,
                                                       client::HttpClient http,
                                                       SpanExporterOptions options,
                                                       log::Logger logger);
  ~ExporterThread() { stop(Duration{}); }
  ExporterThread(const ExporterThread&) = delete;
  ExporterThread& operator=(const ExporterThread&) = delete;

  // Has it collect soon, before a thread has no room.
  void wake() noexcept;
  // Sends what there is, for at most that long; the rest is dropped.
  void stop(Duration flush_timeout) noexcept;
  const SpanExporter& exporter() const noexcept { return exporter_; }

 private:
  ExporterThread(trace::Tracer& tracer, client::HttpClient http, SpanExporterOptions options,
                 log::Logger logger)
      : exporter_(tracer, std::move(http), std::move(options), std::move(logger)) {}
  void run(std::unique_ptr<net::Reactor> reactor) noexcept;
  void on_wake() noexcept;

  // On its way to the reactor, one at a time.
  class Wake final : public Message {
   public:
    explicit Wake(ExporterThread& of) noexcept
        : Message([](Message& message) noexcept { static_cast<Wake&>(message).of_.on_wake(); }),
          of_(of) {}

   private:
    ExporterThread& of_;
  };

  SpanExporter exporter_;
  Wake wake_{*this};
  std::atomic<bool> is_woken_{false};
  std::atomic<bool> is_told_to_end_{false};
  std::atomic<std::int64_t> flush_ns_{0};
  std::atomic<net::Reactor*> reactor_{nullptr};  // null: it does not run
  std::thread thread_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
