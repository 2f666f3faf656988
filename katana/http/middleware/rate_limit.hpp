// Rate limiting: so many requests for each key, on average and at once.
//
//   router.use(rate_limit({.per_second = 5, .burst = 20}));
//
// Owns       a table of fixed size, shared by all reactors.
// Thread     any; each part of the table has a lock, held for some ten nanoseconds.
// Allocates  at construction, 16 bytes for each key.
// Fails      429 with Retry-After and RateLimit fields; 503 for a peer that is not known, and, by
//            choice, while a limit that is shared cannot be asked. A full
//            table forgets the key that was least active: it never refuses for want of room.
// Invariant  a key that stays below its rate is never refused; whoever does not know the table's
//            secret cannot find keys that share a place.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/rate_limit_options.hpp"

namespace katana {

// A limit that the instances of a program keep together, outside of the process, such as
// RedisRateLimit (http/middleware/redis).
class SharedLimit {
 public:
  // What becomes of a request.
  struct Verdict {
    bool is_known = false;  // false: it could not be asked
    bool passes = false;    // it is counted
    Duration wait = {};     // until the next one passes, when this one does not
  };
  virtual ~SharedLimit() = default;
  // What can be said without asking outside, on the reactor's thread; nothing: ask().
  virtual std::optional<Verdict> look(Bytes key, Instant now) = 0;
  virtual Task<Verdict> ask(std::string key) = 0;
  // From now on. Any thread.
  virtual void set_rate(double per_second, std::uint32_t burst) = 0;
};

// To be given to use(): 429 with Retry-After beyond the limit.
Middleware rate_limit(RateLimitOptions options = {});

namespace detail {

class RateTable;
struct RateRules;

// Of the client's address; see RateLimitOptions::key.
Text client_key(const RequestView& request, session::Exchange& exchange);

}  // namespace detail

// A key by what middleware in front has provided (FromContext<T>), such as who was authenticated,
// however many addresses they have; a request for which nothing was provided counts for its
// client's address.
//
//   options.key = rate_key<auth::Principal>([](const auto& who) -> Bytes { return who.id(); });
template <class T, class F>
std::function<Text(const RequestView&, session::Exchange&)> rate_key(F text_of) {
  return [text_of](const RequestView& request, session::Exchange& exchange) {
    if (exchange.kept() == nullptr) return detail::client_key(request, exchange);
    const auto value = detail::RequestContext::of(exchange).find<T, const T>();
    if (value == nullptr) return detail::client_key(request, exchange);
    Text key("by value: ");  // no address begins so
    key.append(text_of(*value));
    return key;
  };
}

// The same, whose rate may change while it serves. Copies, and all that middleware() gives, share
// one table.
class RateLimit {
 public:
  explicit RateLimit(RateLimitOptions options);
  // To be given to use(), as often as one likes.
  Middleware middleware() const;
  // For requests from now on; what keys have used stays. Any thread. REQUIRES a rate between
  // 0.000001 and 1000000000, and a burst of 1 to 1000000.
  void set_rate(double per_second, std::uint32_t burst);

 private:
  std::shared_ptr<const detail::RateRules> rules_;
};

namespace detail {

// Token buckets, each as the time at which it will be full again (GCRA).
class RateTable {
 public:
  RateTable(double per_second, std::uint32_t burst, std::size_t keys_max, std::uint64_t secret);

  struct Verdict {
    bool passes;
    std::uint32_t left;  // that could follow at once
    Duration wait;       // until the next one passes, when this one does not
    Duration until_full;
  };
  Verdict take(Bytes key, Instant now) noexcept;
  // Any thread. A request of that moment may see the one value old and the other new.
  void set_rate(double per_second, std::uint32_t burst);
  std::uint32_t burst() const noexcept { return burst_.load(std::memory_order_relaxed); }
  // In which a key that has used its burst gets all of it back.
  Duration window() const noexcept {
    return nanoseconds(interval_ns_.load(std::memory_order_relaxed) * burst());
  }
  std::size_t capacity() const noexcept { return sets_.size() * ways; }

 private:
  static constexpr std::size_t ways = 8;
  static constexpr std::size_t locks = 64;
  struct Bucket {
    std::uint64_t key = 0;
    std::int64_t full_at_ns = INT64_MIN;
  };
  struct Set {
    Bucket buckets[ways];
  };
  std::uint64_t hash(Bytes key) const noexcept;

  // Relaxed: each is a value by itself, and orders nothing.
  std::atomic<std::int64_t> interval_ns_;  // of one request
  std::atomic<std::uint32_t> burst_;
  const std::uint64_t secret_;
  std::vector<Set> sets_;
  std::unique_ptr<std::mutex[]> locks_;
};

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
