// ReactorProbe: what one reactor knows of itself, for other threads, at no cost to its requests.
//
// A reactor's counters are plain fields of its thread. Somebody who wants them posts a message; the
// reactor copies them when it comes to it, and who asked looks whether it has. A timer measures how
// late the reactor is: by how much it missed the time that was set.
//
// Owns       a message and a timer entry. ReactorStatus is shared, and outlives the reactor.
// Borrows    the reactor and the protocol's counters, which outlive the probe.
// Thread     the probe its reactor's, or any while that does not run; ReactorStatus any.
// Allocates  at construction.
// Fails      never: a reactor that does not answer leaves its last figures and says so.
// Invariant  at most one message is under way.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "katana/core/reactor.hpp"
#include "katana/metrics/instruments.hpp"
#include "katana/session/http1_protocol.hpp"
#include "katana/tls/transform.hpp"

namespace katana::host {

struct ReactorFigures {
  core::Counters counters;
  session::HttpCounters http;
  tls::TlsCounters tls;
  core::PauseCounts paused;
  core::MemoryBudget memory_budget;
  core::MemoryBudget memory_used;
  std::uint32_t links_open = 0;
  Duration cpu_time;  // of its thread
};

class ReactorProbe;

class ReactorStatus {
 public:
  // Asks the reactor for its figures, unless it has been asked already.
  void request();
  // It has answered every request so far.
  bool answered() const noexcept { return !under_way_.load(std::memory_order_acquire); }
  ReactorFigures figures() const;

 private:
  friend class ReactorProbe;
  mutable std::mutex mutex_;
  ReactorFigures figures_;
  ReactorProbe* probe_ = nullptr;  // null: the reactor is gone
  std::atomic<bool> under_way_ = false;
};

class ReactorProbe {
 public:
  // `lag` is observed every `interval` from start() on.
  ReactorProbe(core::Reactor& reactor, session::HttpCounters& http,
               std::shared_ptr<ReactorStatus> status, metrics::LogHistogram lag, Duration interval);
  ~ReactorProbe();
  ReactorProbe(const ReactorProbe&) = delete;
  ReactorProbe& operator=(const ReactorProbe&) = delete;

  // Before the reactor runs. `transforms` outlive the probe; null: it speaks no TLS.
  void start(const tls::TlsTransforms* transforms = nullptr) noexcept;

 private:
  friend class ReactorStatus;
  struct Question : Message {
    explicit Question(ReactorProbe& owner) noexcept;
    ReactorProbe& probe;
  };
  struct Tick : core::TimerEntry {
    explicit Tick(ReactorProbe& owner) noexcept;
    ReactorProbe& probe;
  };

  void answer() noexcept;
  void on_tick() noexcept;

  core::Reactor& reactor_;
  session::HttpCounters& http_;
  const tls::TlsTransforms* tls_ = nullptr;
  const std::shared_ptr<ReactorStatus> status_;
  const metrics::LogHistogram lag_;
  const Duration interval_;
  Instant due_;
  Question question_{*this};
  Tick tick_{*this};
};

}  // namespace katana::host
