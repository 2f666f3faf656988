#include "tests/simulation/limits_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "katana/base/registry/services.hpp"
#include "katana/data/container/heap_bytes.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/websocket.hpp"
#include "katana/identity/idempotency/memory_store.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/spawn.hpp"

namespace katana::simulation {

class LimitedService::AtWork {
 public:
  // `connection`: of a stream that counts for it; empty: none does.
  AtWork(LimitedService& service, bool is_limited, std::size_t bytes, std::string connection)
      : service_(&service),
        is_limited_(is_limited),
        bytes_(bytes),
        connection_(std::move(connection)) {
    count(1);
    ++service.begun_;
    service.most_ = std::max(service.most_, service.now_.all);
  }
  AtWork(AtWork&& other) noexcept
      : service_(std::exchange(other.service_, nullptr)),
        is_limited_(other.is_limited_),
        bytes_(other.bytes_),
        connection_(std::move(other.connection_)) {}
  AtWork& operator=(AtWork&&) = delete;
  ~AtWork() {
    if (service_ != nullptr) count(-1);
  }
  void end() noexcept { ++service_->ended_; }

 private:
  void count(int by) {
    Totals& now = service_->now_;
    const auto add = [by](std::size_t& to, std::size_t number) {
      to = by > 0 ? to + number : to - number;
    };
    add(now.all, 1);
    add(now.limited, is_limited_ ? 1 : 0);
    add(now.bytes, bytes_);
    if (!connection_.empty()) add(now.streams[connection_], 1);
  }

  LimitedService* service_;
  bool is_limited_;
  std::size_t bytes_;
  std::string connection_;
};

namespace {

using AtWork = LimitedService::AtWork;

// Takes its time, a little more or less each time.
class SlowStore final : public idempotency::Store {
 public:
  SlowStore(Duration takes_max, std::uint64_t seed) : takes_max_(takes_max), random_(seed) {}

  std::string words() const override { return "slow"; }
  Task<Result<idempotency::Claimed>> claim(idempotency::Claim claim, Duration lease) override {
    co_await net::sleep_for(pause());
    Result<idempotency::Claimed> claimed = co_await store_.claim(claim, lease);
    co_await net::sleep_for(pause());
    co_return claimed;
  }
  Task<Result<bool>> keep(idempotency::Claim claim, std::string reply, Duration kept) override {
    co_await net::sleep_for(pause());
    Result<bool> done = co_await store_.keep(claim, std::move(reply), kept);
    co_return done;
  }
  Task<Result<void>> release(idempotency::Claim claim) override {
    co_await net::sleep_for(pause());
    Result<void> done = co_await store_.release(claim);
    co_return done;
  }

 private:
  Duration pause() {
    const auto most = static_cast<std::uint64_t>(takes_max_.ns);
    return nanoseconds(static_cast<std::int64_t>(most == 0 ? 0 : random_.below(most)));
  }

  const Duration takes_max_;
  Random random_;
  idempotency::MemoryStore store_;
};

std::string connection_of(const Request& request) {
  return std::string(request.field("x-connection").value_or(Bytes()));
}

Task<void> go_on(AtWork at_work, Request, RequestLease, Duration time) {
  co_await net::sleep_for(time);
  at_work.end();
}

class Socket final : public WebSocketHandler {
 public:
  explicit Socket(AtWork at_work) : at_work_(std::move(at_work)) {}
  void on_message(WebSocket& socket, Bytes payload, MessageKind kind) override {
    (void)socket.send(payload, kind);
  }

 private:
  const AtWork at_work_;
};

}  // namespace

LimitedService::LimitedService(const ServiceLimits& limits, std::uint64_t seed)
    : limits_(limits),
      random_(seed),
      limit_({.running_max = limits.running_max,
              .waiting_max = limits.waiting_max,
              .wait_max = milliseconds(60)}),
      keys_(
          idempotency::Idempotency::make({.scope = idempotency::Scope::everyone},
                                         std::make_shared<SlowStore>(limits.store_takes_max, seed))
              .value()) {}

WorldOptions LimitedService::options() {
  WorldOptions options;
  options.http.handler_timeout = milliseconds(200);
  options.http.half_close_grace = milliseconds(20);
  options.http.http2.limits.streams_max = limits_.streams_max;
  options.reactor.held_bytes_max = limits_.held_bytes_max;
  // All that the simulated network has are of one client.
  options.clients = net::ClientLimitOptions{.requests_max = limits_.requests_max, .v4_bits = 24};
  options.more_routes = [this](Router& router) { add_routes(router); };
  return options;
}

void LimitedService::add_routes(Router& router) {
  const auto arrive = []() -> Task<void> { co_await net::sleep_for(milliseconds(2)); };
  Group limited = router.group("/limited");
  limited.use(arrive).use(limit_);
  limited.websocket("/socket", [this](const RequestView& request) {
    return std::make_unique<Socket>(
        AtWork(*this, true, 0, std::string(request.field("x-connection").value_or(Bytes()))));
  });
  Group limited_keys = limited.group("");
  limited_keys.use(keys_.middleware()).use(arrive);
  add_handlers(limited_keys, true);
  Group free = router.group("/free");
  free.use(arrive).use(keys_.middleware()).use(arrive);
  add_handlers(free, false);
}

void LimitedService::add_handlers(Group group, bool is_limited) {
  group
      .post("/wait/{ms}",
            [this, is_limited](Request request, Path<std::int64_t> ms) -> Task<Reply> {
              AtWork at_work(*this, is_limited, request.content().size(), connection_of(request));
              co_await net::sleep_for(milliseconds(*ms));
              at_work.end();
              co_return Reply::text(format_text("{}", request.content().size()));
            })
      .post("/json/{ms}",
            [this, is_limited](Json<container::Value> json, Path<std::int64_t> ms,
                               Request request) -> Task<Reply> {
              AtWork at_work(*this, is_limited, container::heap_bytes(json.value),
                             connection_of(request));
              co_await net::sleep_for(milliseconds(*ms));
              at_work.end();
              co_return Reply::text("read");
            })
      .post("/spawn/{ms}",
            [this, is_limited](Request request, Path<std::int64_t> ms,
                               RequestLease lease) -> Task<Result<Reply>> {
              AtWork at_work(*this, is_limited, request.content().size(), {});
              Task<void> task = go_on(std::move(at_work), std::move(request), std::move(lease),
                                      milliseconds(*ms));
              if (auto spawned = net::spawn(std::move(task), "goes on"); !spawned) {
                co_return std::unexpected(spawned.error());
              }
              co_return Reply(202);
            })
      .post("/stream/{ms}",
            [this, is_limited](Request request, ReplyWriter reply,
                               Path<std::int64_t> ms) -> Task<void> {
              AtWork at_work(*this, is_limited, request.content().size(), connection_of(request));
              reply.begin(200, "text/plain");
              for (Bytes left = request.content(); !left.empty();) {
                const Bytes piece = left.substr(0, 4'000);
                left.remove_prefix(piece.size());
                co_await net::sleep_for(milliseconds(*ms / 4));
                co_await reply.write(piece);
              }
              at_work.end();
            })
      .post("/plain", [this, is_limited](const RequestView& request) {
        AtWork(*this, is_limited, 0, {}).end();
        return Reply::text(format_text("{}", request.content().size()));
      });
}

void LimitedService::require(bool holds, const std::string& what,
                             std::vector<std::string>& faults) {
  if (holds) return;
  const std::string kind = what.substr(0, what.find(':'));
  if (std::ranges::find(told_, kind) != told_.end()) return;
  told_.push_back(kind);
  faults.push_back(what);
}

void LimitedService::check(World& world, std::vector<std::string>& faults) {
  const ConcurrencyStatistics statistics = limit_.statistics();
  require(now_.limited <= limits_.running_max,
          fmt::format("handlers beyond running_max: {} of {}", now_.limited, limits_.running_max),
          faults);
  require(statistics.running <= limits_.running_max && statistics.waiting <= limits_.waiting_max,
          fmt::format("the limit counts more than it lets: {} run, {} wait", statistics.running,
                      statistics.waiting),
          faults);
  require(now_.limited <= statistics.running,
          fmt::format("handlers that the limit does not count: {}, and it counts {}", now_.limited,
                      statistics.running),
          faults);
  const std::size_t requests = world.clients().requests();
  require(now_.all <= requests && requests <= limits_.requests_max,
          fmt::format("requests of the client: {} at work, {} counted, {} allowed", now_.all,
                      requests, limits_.requests_max),
          faults);
  for (const auto& [connection, count] : now_.streams) {
    require(count <= limits_.streams_max,
            fmt::format("streams of connection {}: {} at work", connection, count), faults);
  }
  const HeldMemory& memory = world.reactor().memory();
  require(now_.bytes <= memory.used(),
          fmt::format("memory that nobody counts: handlers keep {}, counted are {}", now_.bytes,
                      memory.used()),
          faults);
  require(memory.used() <= memory.bytes_max(),
          fmt::format("memory beyond its bound: {} of {}", memory.used(), memory.bytes_max()),
          faults);
}

void LimitedService::check_at_rest(World& world, std::vector<std::string>& faults) {
  for (std::string& each : world.faults_at_rest()) faults.push_back(std::move(each));
  const ConcurrencyStatistics statistics = limit_.statistics();
  require(statistics.running == 0 && statistics.waiting == 0,
          fmt::format("places that nobody gives back: {} run, {} wait", statistics.running,
                      statistics.waiting),
          faults);
  require(now_.all == 0, fmt::format("handlers that are left: {}", now_.all), faults);
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
