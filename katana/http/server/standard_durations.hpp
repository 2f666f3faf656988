// StandardDurations: the metric http.server.request.duration of OpenTelemetry's conventions.
//
// A series is made with its first request: of a route, method, scheme, status, version and error.
//
// Owns       the known series of each route.
// Borrows    the registry.
// Thread     any: reactors share it. A request of a known series takes no lock.
// Allocates  for the first request of a series.
// Fails      prepare() as the registry does. Without memory a request is not counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/session/exchange_observer.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::server {

class StandardDurations {
 public:
  StandardDurations() noexcept = default;
  ~StandardDurations();
  StandardDurations(const StandardDurations&) = delete;
  StandardDurations& operator=(const StandardDurations&) = delete;

  // `is_exposed`: false: exporters alone have the metric. Before the server starts.
  Result<void> prepare(metrics::Registry& registry, std::size_t routes, bool is_exposed);
  bool is_on() const noexcept { return family_.has_value(); }
  // An exchange of a plain request has ended. REQUIRES is_on().
  void observe(session::Exchange& exchange, const session::ExchangeRecord& record) noexcept;

 private:
  struct Node {
    std::uint32_t key;
    metrics::LogHistogram series;
    const Node* next;
  };

  const Node* find_or_add(std::uint32_t key, const session::ExchangeRecord& record) noexcept;

  std::optional<metrics::Family<metrics::LogHistogram>> family_;
  std::vector<std::atomic<const Node*>> routes_;  // the last is for requests without a route
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
