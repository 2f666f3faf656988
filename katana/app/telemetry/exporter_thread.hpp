// ExporterThread: a thread with a reactor, which exports and serves no requests. Therefore no
// request ever waits for a collector.
//
// Owns       the thread, its reactor and the exporters.
// Borrows    the objects that the exporters borrow.
// Thread     the program's; wake() and counts any.
// Allocates  when it starts.
// Fails      start() names the resource that the system refused.
// Invariant  stop() returns within the time that it is given, and a little more.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "katana/app/telemetry/signal_exporter.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/result.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::app {

class ExporterThread {
 public:
  // One for each signal that is sent.
  using Exporters = std::vector<std::unique_ptr<SignalExporter>>;

  // Runs until stop(), or its destructor.
  static Result<std::unique_ptr<ExporterThread>> start(Exporters exporters);
  ~ExporterThread() { stop(Duration{}); }
  ExporterThread(const ExporterThread&) = delete;
  ExporterThread& operator=(const ExporterThread&) = delete;

  // Has them collect soon, before a thread has no room.
  void wake() noexcept;
  // The graceful shutdown has begun: services can be used for the last time. Does not wait.
  void drain() noexcept;
  // Sends the data that waits, for at most that long; the rest is dropped.
  void stop(Duration flush_timeout) noexcept;
  std::span<const std::unique_ptr<SignalExporter>> exporters() const noexcept { return exporters_; }

 private:
  explicit ExporterThread(Exporters exporters) noexcept : exporters_(std::move(exporters)) {}
  void run(std::unique_ptr<net::Reactor> reactor) noexcept;
  void on_wake() noexcept;
  void finish();

  // The message to the reactor; one at a time is on its way.
  class Wake final : public Message {
   public:
    explicit Wake(ExporterThread& of) noexcept
        : Message([](Message& message) noexcept { static_cast<Wake&>(message).of_.on_wake(); }),
          of_(of) {}

   private:
    ExporterThread& of_;
  };

  const Exporters exporters_;
  Wake wake_{*this};
  std::atomic<bool> is_woken_{false};
  std::atomic<bool> is_draining_{false};
  std::atomic<bool> is_told_to_end_{false};
  std::atomic<std::int64_t> flush_ns_{0};
  std::atomic<net::Reactor*> reactor_{nullptr};  // null: it does not run
  std::thread thread_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
