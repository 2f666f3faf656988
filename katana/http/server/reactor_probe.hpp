// ReactorProbe: publishes the figures of one reactor for other threads, at no cost to its requests.
//
// A reactor's counters are plain fields of its thread. A thread that wants them posts a message;
// the reactor copies them when it reads it, and wakes the waiting threads. A timer measures the lag
// of the reactor: the time by which the timer fired late. It runs while the reactor has other work
// than the timer; the first turn after a rest starts it again. An idle reactor is not woken.
//
// Owns       a timer entry; the status a message. The status is shared, and outlives the reactor,
//            which may receive the message when the probe is gone.
// Borrows    the reactor and the protocol's counters, which outlive the probe.
// Thread     the probe its reactor's, or any while that does not run; ReactorStatus any.
// Allocates  at construction.
// Fails      never: a reactor that does not answer leaves its last figures, with the fact that it
//            did not.
// Invariant  at most one message is under way.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "katana/http/session/http1_protocol.hpp"
#include "katana/net/proxy/transform.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/shared_wait.hpp"
#include "katana/net/tls/transform.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/metrics/instruments.hpp"

namespace katana::server {

// A copy of the figures of one reactor, all from one moment.
struct ReactorStatistics {
  net::Counters counters;           // connections and bytes
  session::HttpCounters http;       // requests and replies
  tls::TlsCounters tls;             // handshakes
  net::PauseCounts paused;          // connections that are not read at present, by reason
  net::MemoryBudget memory_budget;  // limits in bytes
  net::MemoryBudget memory_used;    // present use in bytes
  std::uint32_t links_open = 0;     // open connections, accepted and outgoing
  net::TaskCounts tasks;            // spawned tasks so far
  std::size_t tasks_running = 0;    // spawned tasks at present
  Duration cpu_time;                // of its thread
  proxy::ProxyCounters proxied;     // of listeners behind proxies
};

class ReactorFacts;
class ReactorProbe;
class ReactorWalk;

// The view of a reactor from other threads. The probe publishes it; either may end first.
class ReactorStatus {
 public:
  ReactorStatus() noexcept = default;
  ReactorStatus(const ReactorStatus&) = delete;
  ReactorStatus& operator=(const ReactorStatus&) = delete;

  // Asks the reactor for its figures, unless it has been asked already; on the reactor's thread the
  // figures are copied at once.
  void request();
  // True if it has answered every request so far.
  bool answered() const noexcept { return !under_way_.load(std::memory_order_acquire); }
  // An event that is set when the reactor answers the pending request; null: none is pending.
  std::shared_ptr<net::SharedEvent> answer() const;
  ReactorStatistics statistics() const;
  // The duration of its present turn; 0 when it waits, or is gone. Asks it nothing.
  Duration busy_for(Instant now) const noexcept;
  // The name of its present work, such as a route; empty: it has none, or is gone. Asks it nothing.
  std::string busy_with() const;
  // Begins a walk of the reactor (http/server/reactor_walk.hpp). Returns false if it is gone.
  bool begin(std::shared_ptr<ReactorWalk> walk) const;

 private:
  friend class ReactorProbe;
  struct Question : Message {
    explicit Question(ReactorStatus& owner) noexcept;
    ReactorStatus& status;
  };

  mutable std::mutex mutex_;
  ReactorStatistics statistics_;
  ReactorProbe* probe_ = nullptr;  // null: the reactor is gone, or about to be
  std::atomic<bool> under_way_ = false;
  std::shared_ptr<net::SharedEvent> answer_;  // null: no request is under way
  Question question_{*this};
};

class ReactorProbe : private Message {  // of Reactor::call_at_next_turn()
 public:
  // `lag` is observed every `interval` from start() on, while the reactor has work. `number`: of
  // the reactor, for crash reports.
  ReactorProbe(net::Reactor& reactor, std::size_t number, session::HttpCounters& http,
               std::shared_ptr<ReactorStatus> status, metrics::LogHistogram lag, Duration interval);
  ~ReactorProbe();
  ReactorProbe(const ReactorProbe&) = delete;
  ReactorProbe& operator=(const ReactorProbe&) = delete;

  // Call it before the reactor runs. The transforms of its listeners outlive the probe; null: the
  // listener has no TLS. The same holds for the counts of those behind proxies.
  void start(const tls::TlsTransforms* first = nullptr, const tls::TlsTransforms* second = nullptr,
             const proxy::ProxyCounters* proxied = nullptr) noexcept;
  // The logger for events that the reactor can only count. Call it before start().
  void warn(log::Logger logger) noexcept { logger_ = logger; }

 private:
  friend class ReactorStatus;
  struct Tick : net::TimerEntry {
    explicit Tick(ReactorProbe& owner) noexcept;
    ReactorProbe& probe;
  };

  ReactorStatistics statistics() const noexcept;
  void begin_interval() noexcept;
  void on_tick() noexcept;
  void tell_unknown_peers() noexcept;

  net::Reactor& reactor_;
  session::HttpCounters& http_;
  std::array<const tls::TlsTransforms*, 2> tls_{};
  const proxy::ProxyCounters* proxied_ = nullptr;
  const std::shared_ptr<ReactorStatus> status_;
  const metrics::LogHistogram lag_;
  const Duration interval_;
  log::Logger logger_;
  std::uint64_t peers_unknown_told_ = 0;
  Instant due_;
  std::uint64_t turns_seen_ = 0;  // of Counters::turns, with the turn of the last tick
  Tick tick_{*this};
  const std::unique_ptr<ReactorFacts> facts_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
