// LimitedService: routes behind every limit that a server has. Their handlers count how many are at
// work at a time, for whom, and what they keep. The server's counts must never be less, and never
// more than its limits.
//
// Owns       the limits, the store of idempotency keys, and the counts.
// Thread     one.
// Fails      by the sentences of check().
// Invariant  a handler counts from its first instruction until its frame is gone, even if its
//            client has left.
//
//   POST /limited/wait/{ms}    a coroutine that keeps its content and sleeps
//   POST /limited/json/{ms}    the same with a value that was made of it
//   POST /limited/spawn/{ms}   answers at once; a task with a RequestLease goes on
//   POST /limited/stream/{ms}  writes its content back in pieces
//   POST /limited/plain        is no coroutine
//   GET  /limited/socket       a WebSocket connection
//   POST /free/…               the same without a limit of concurrency
//
// In front of each are a coroutine, the limit, idempotency keys, and another coroutine. A client
// can leave at any of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/concurrency_limit.hpp"
#include "katana/identity/idempotency/idempotency.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {

struct ServiceLimits {
  std::uint32_t running_max = 3;
  std::uint32_t waiting_max = 4;
  std::uint32_t requests_max = 6;  // for the one client that all are
  std::uint32_t streams_max = 4;
  std::size_t held_bytes_max = std::size_t{512} * 1024;
  Duration store_takes_max = milliseconds(3);
};

class LimitedService {
 public:
  LimitedService(const ServiceLimits& limits, std::uint64_t seed);

  // For a world that serves it.
  WorldOptions options();
  // At the end of a turn; each fault once.
  void check(World& world, std::vector<std::string>& faults);
  // When nothing is left to do.
  void check_at_rest(World& world, std::vector<std::string>& faults);

  std::uint64_t begun() const noexcept { return begun_; }
  std::uint64_t ended() const noexcept { return ended_; }  // handlers that were not cut off
  std::size_t most_at_once() const noexcept { return most_; }

  // A handler, or a task of one, at work.
  class AtWork;

 private:
  struct Totals {
    std::size_t limited = 0, all = 0, bytes = 0;
    std::map<std::string, std::size_t> streams;  // by connection
  };
  void add_routes(Router& router);
  void add_handlers(Group group, bool is_limited);
  void require(bool holds, const std::string& what, std::vector<std::string>& faults);

  const ServiceLimits limits_;
  Random random_;
  ConcurrencyLimit limit_;
  idempotency::Idempotency keys_;
  Totals now_;
  std::uint64_t begun_ = 0, ended_ = 0;
  std::size_t most_ = 0;
  std::vector<std::string> told_;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
