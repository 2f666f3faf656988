// Observability: /metrics, /health and /ready of a server, in one piece.
//
//   auto observability = server::Observability::make();
//   (*observability)->mount(router, guard);        // http/server/operations.hpp says who may see
//   them options.observability = observability->get();  // HttpServerOptions: reactors report here
//
//   GET /metrics   every metric of registry(): those of the process and of the reactors, and the
//                  program's own. Prometheus text 0.0.4, or OpenMetrics 1.0 to an Accept that
//                  prefers it. Streamed: its size does not matter.
//   GET /health    200 when every liveness check passes, and no reactor is stuck; else 503. JSON.
//   GET /ready     200 when every readiness check passes, and the server is not draining; else 503.
//
// Both answer at once what is known, with its age. Only a check whose result is older than its
// `fresh_for`, or that has none yet, is run and waited for, at most for its timeout.
// /health and /ready tell anybody their status, and the checks only to whom the guard lets pass.
//
// Owns       the registry, the health checks and the reactors' last figures.
// Thread     registry() and checks() any; the handlers run on reactors and block none.
// Allocates  when asked; nothing for other requests.
// Fails      make() says which metric could not be registered, or that /proc is not there.
// Invariant  must outlive the service and the server it is given to.
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
  metrics::RegistryOptions registry = {};
  metrics::HealthOptions health = {};
  // How long a scrape waits for the figures of every reactor. After that it tells the last ones.
  Duration scrape_patience = milliseconds(100);
  // A reactor whose turn lasts longer is not alive.
  Duration reactor_timeout = seconds(2);
  // How often each reactor looks how late it is.
  Duration lag_interval = milliseconds(100);
};

class Observability {
 public:
  static Result<std::unique_ptr<Observability>> make(ObservabilityOptions options = {});
  ~Observability();
  Observability(const Observability&) = delete;
  Observability& operator=(const Observability&) = delete;

  // For metrics and checks of the program (katana/metrics.hpp). Any thread.
  metrics::Registry& registry() noexcept;
  metrics::HealthChecks& checks() noexcept;

  // Adds GET /metrics, /health and /ready. The guard outlives the service.
  void mount(const Group& routes, const OperationsGuard& guard);

  // From here on /ready answers 503. Any thread.
  void announce_drain() noexcept;

  // Asks every reactor for its figures. A caller that needs to know whether all of them live
  // compares the answers. Any thread.
  std::vector<std::shared_ptr<ReactorStatus>> ask_reactors();

  // For HttpServer: a probe for its next reactor.
  std::unique_ptr<ReactorProbe> probe(net::Reactor& reactor, session::HttpCounters& http);

 private:
  class State;

  explicit Observability(std::unique_ptr<State> state) noexcept;

  const std::unique_ptr<State> state_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
