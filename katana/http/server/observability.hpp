// Observability: /metrics, /health and /ready of a server, in one piece.
//
//   auto observability = server::Observability::make();
//   (*observability)->mount(router, guard);             // http/server/operations.hpp: access
//   options.observability = observability->get();       // HttpServerOptions: reactors report here
//
//   GET /metrics   every metric of registry(): those of the process, of the reactors and of the
//                  program. Prometheus text 0.0.4, or OpenMetrics 1.0 to an Accept that prefers
//                  it. Streamed: its size does not matter.
//   GET /health    200 when every liveness check passes, and no reactor is stuck; otherwise 503.
//                  JSON.
//   GET /ready     200 when every readiness check passes, and the server is not draining; else 503.
//
// /health and /ready answer at once with the known results and their age. A check runs only if its
// result is older than its `fresh_for`, or missing. The reply then waits for it, at most for its
// timeout. Everybody may read the status of /health and /ready. The checks are shown only to
// clients that pass the guard.
//
// Owns       the registry, the health checks and the reactors' latest figures.
// Thread     registry() and checks() any; the handlers run on reactors and block none.
// Allocates  for replies; nothing for other requests.
// Fails      make() names the metric that could not be registered, or says that /proc is missing.
// Invariant  it must outlive the service and the server that use it.
#pragma once

#include <memory>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/operations.hpp"
#include "katana/observe/metrics/options.hpp"

namespace katana::metrics {
class HealthChecks;
class Registry;
}  // namespace katana::metrics

namespace katana::net {
class Reactor;
}

namespace katana::session {
struct HttpCounters;
}

namespace katana::server {

class ReactorProbe;
class ReactorStatus;

// Limits of metrics and health checks.
struct ObservabilityOptions {
  metrics::RegistryOptions registry = {};  // limits of metrics and their series
  metrics::HealthOptions health = {};      // timeouts and intervals of checks
  // The time that a scrape waits for the figures of every reactor. After that it reports the last
  // ones.
  Duration scrape_patience = milliseconds(100);
  // A reactor with a longer turn is not alive.
  Duration reactor_timeout = seconds(2);
  // The interval at which each reactor measures its lag.
  Duration lag_interval = milliseconds(100);
};

class Observability {
 public:
  // An Error: a metric of the server could not be registered.
  static Result<std::unique_ptr<Observability>> make(ObservabilityOptions options = {});
  ~Observability();
  Observability(const Observability&) = delete;
  Observability& operator=(const Observability&) = delete;

  // For metrics and checks of the program (katana/metrics.hpp). Any thread.
  metrics::Registry& registry() noexcept;
  metrics::HealthChecks& checks() noexcept;

  // Adds GET /metrics, /health and /ready. The guard outlives the service.
  void mount(const Group& routes, const OperationsGuard& guard);

  // From now on /ready answers 503. Any thread.
  void announce_drain() noexcept;

  // Asks every reactor for its figures. A caller that must know whether all reactors live compares
  // the answers. Any thread.
  std::vector<std::shared_ptr<ReactorStatus>> ask_reactors();

  // For HttpServer: makes a probe for its next reactor.
  std::unique_ptr<ReactorProbe> probe(net::Reactor& reactor, session::HttpCounters& http);

 private:
  class State;

  explicit Observability(std::unique_ptr<State> state) noexcept;

  const std::unique_ptr<State> state_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
