#include "katana/http/middleware/rate_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <mutex>
#include <random>
#include <utility>

#include "katana/base/system/misuse.hpp"
#include "katana/base/values/client_network.hpp"
#include "katana/base/values/keyed_hash.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/http/middleware/rate_table.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana {
namespace detail {

Text client_key(const RequestView& request, session::Exchange& exchange) {
  const session::Client client = exchange.client(request.head());
  if (const auto address = client.address()) return Text(client_network(*address).to_text());
  return Text(client.text().bytes());
}

RateTable::RateTable(double per_second, std::uint32_t burst, std::size_t keys_max,
                     std::uint64_t secret)
    : secret_(secret),
      sets_(std::bit_ceil(std::max<std::size_t>(1, keys_max / ways))),
      locks_(std::make_unique<std::mutex[]>(locks)) {
  set_rate(per_second, burst);
}

void RateTable::set_rate(double per_second, std::uint32_t burst) {
  if (!(per_second > 1e-6 && per_second < 1e9 && burst > 0 && burst <= 1'000'000)) {
    die_of_misuse(
        fmt::format("a rate limit has {} requests a second and a burst of {}", per_second, burst),
        "give a rate between 0.000001 and 1000000000, and a burst of 1 to 1000000");
  }
  interval_ns_.store(static_cast<std::int64_t>(static_cast<double>(seconds(1).ns) / per_second),
                     std::memory_order_relaxed);
  burst_.store(burst, std::memory_order_relaxed);
}

std::uint64_t RateTable::hash(Bytes key) const noexcept {
  const std::uint64_t hashed = KeyedHash(secret_, ~secret_).of(key);
  return hashed == 0 ? 1 : hashed;  // 0: no client
}

RateTable::Verdict RateTable::take(Bytes key, Instant now) noexcept {
  const std::uint64_t hashed = hash(key);
  const std::size_t index = hashed & (sets_.size() - 1);
  const std::lock_guard lock(locks_[index % locks]);
  Bucket* chosen = &sets_[index].buckets[0];
  for (Bucket& each : sets_[index].buckets) {
    if (each.key == hashed) {
      chosen = &each;
      break;
    }
    if (each.full_at_ns < chosen->full_at_ns) chosen = &each;
  }
  if (chosen->key != hashed) *chosen = {hashed, INT64_MIN};
  const std::int64_t interval_ns = interval_ns_.load(std::memory_order_relaxed);
  const std::int64_t burst_ns = interval_ns * burst();
  const std::int64_t full_at = std::max(chosen->full_at_ns, now.ns) + interval_ns;
  const std::int64_t used = full_at - now.ns;
  if (used > burst_ns) {
    return {false, 0, nanoseconds(used - burst_ns), nanoseconds(used - interval_ns)};
  }
  chosen->full_at_ns = full_at;
  return {true, static_cast<std::uint32_t>((burst_ns - used) / interval_ns), Duration{},
          nanoseconds(used)};
}

}  // namespace detail

namespace detail {

// State that a RateLimit and its middleware share.
struct RateRules {
  Text key_of(const RequestView& request, session::Exchange& exchange) const {
    return key ? key(request, exchange) : client_key(request, exchange);
  }

  std::function<Text(const RequestView&, session::Exchange&)> key;  // empty: by client
  std::shared_ptr<RateTable> table;
  std::shared_ptr<SharedLimit> shared;  // null: none
  WhenLimitUnknown when_unknown = WhenLimitUnknown::local;
};

namespace {

std::int64_t whole_seconds(Duration time) noexcept {
  return (time.ns + seconds(1).ns - 1) / seconds(1).ns;
}

Reply too_many(const RateTable& table, Duration wait) {
  const std::int64_t wait_s = whole_seconds(wait);
  return problem(problem_types::rate_limited,
                 "Too many requests; Retry-After says how many seconds to wait.")
      .with("Retry-After", format_text("{}", wait_s).bytes())
      .with("RateLimit-Policy",
            format_text("\"default\";q={};w={}", table.burst(), whole_seconds(table.window()))
                .bytes())
      .with("RateLimit", format_text("\"default\";r=0;t={}", wait_s).bytes());
}

std::optional<Reply> judge_here(const RateRules& rules, Bytes key, Instant now) {
  const auto verdict = rules.table->take(key, now);
  if (verdict.passes) return std::nullopt;
  return too_many(*rules.table, verdict.wait);
}

std::optional<Reply> reply_to(const RateRules& rules, Bytes key, Instant now,
                              const SharedLimit::Verdict& verdict) {
  if (!verdict.is_known) {
    if (rules.when_unknown == WhenLimitUnknown::local) return judge_here(rules, key, now);
    return problem(problem_types::unavailable,
                   "The limit of requests cannot be checked at present. Try again.")
        .with("Retry-After", format_text("{}", whole_seconds(verdict.wait)).bytes());
  }
  if (verdict.passes) return std::nullopt;
  return too_many(*rules.table, verdict.wait);
}

Task<std::optional<Reply>> ask(std::shared_ptr<const RateRules> rules, std::string key) {
  const net::Reactor& reactor = *net::Reactor::current();
  const SharedLimit::Verdict verdict = co_await rules->shared->ask(key);
  co_return reply_to(*rules, key, reactor.now(), verdict);
}

// A client without an address is limited, too: otherwise hiding the address would lift the limit.
std::optional<Reply> refuse_unknown_peer(session::Exchange& exchange) {
  exchange.note_failure();
  return problem(problem_types::unavailable,
                 "The address that requests are counted by is not known. Connect again.");
}

// A request that needs no call of the shared limit makes no coroutine.
class SharedLimitFunction final : public MiddlewareFunction {
 public:
  explicit SharedLimitFunction(std::shared_ptr<const RateRules> rules)
      : MiddlewareFunction(false, nullptr, {}), rules_(std::move(rules)) {}

  Progress run(const Call& call, RequestContext& context) const override {
    const Text key = rules_->key_of(call.request, call.exchange);
    if (key.empty() && rules_->key) return Progress::goes_on;
    if (key.empty()) return answer(context, refuse_unknown_peer(call.exchange));
    const Instant now = call.exchange.reactor().now();
    if (const auto known = rules_->shared->look(key.bytes(), now)) {
      return answer(context, reply_to(*rules_, key.bytes(), now, *known));
    }
    return wait(call, context, ask(rules_, std::string(key.bytes())));
  }

 private:
  static Progress answer(RequestContext& context, std::optional<Reply> reply) {
    if (!reply) return Progress::goes_on;
    context.answer = *std::move(reply);
    return Progress::answered;
  }
  static Progress wait(const Call& call, RequestContext& context, Task<std::optional<Reply>> task) {
    const DeadlineScope time(call.exchange.handler_due());
    if (task.start()) return answer(context, task.result());
    using Pending = PendingFunction<void, std::optional<Reply>>;
    call.exchange.hold(std::make_unique<Pending>(call.exchange, std::move(task)));
    call.exchange.defer_request();
    return Progress::waits;
  }

  const std::shared_ptr<const RateRules> rules_;
};

}  // namespace
}  // namespace detail

RateLimit::RateLimit(RateLimitOptions options) {
  std::random_device random;
  const std::uint64_t secret = std::uint64_t{random()} << 32 | random();
  auto table = std::make_shared<detail::RateTable>(options.per_second, options.burst,
                                                   options.keys_max, secret);
  detail::RateRules rules{.key = std::move(options.key),
                          .table = std::move(table),
                          .shared = std::move(options.shared_limit),
                          .when_unknown = options.when_unknown};
  rules_ = std::make_shared<const detail::RateRules>(std::move(rules));
}

void RateLimit::set_rate(double per_second, std::uint32_t burst) {
  rules_->table->set_rate(per_second, burst);
  if (rules_->shared != nullptr) rules_->shared->set_rate(per_second, burst);
}

Middleware RateLimit::middleware() const {
  Middleware middleware;
  middleware.limits_work = true;
  if (rules_->shared != nullptr) {
    middleware.function = std::make_shared<const detail::SharedLimitFunction>(rules_);
    return middleware;
  }
  middleware.admit = [rules = rules_](const RequestView& request,
                                      session::Exchange& exchange) -> std::optional<Reply> {
    const Text key = rules->key_of(request, exchange);
    if (key.empty() && rules->key) return std::nullopt;
    if (key.empty()) [[unlikely]]
      return detail::refuse_unknown_peer(exchange);
    return detail::judge_here(*rules, key.bytes(), exchange.reactor().now());
  };
  return middleware;
}

Middleware rate_limit(RateLimitOptions options) {
  return RateLimit(std::move(options)).middleware();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
