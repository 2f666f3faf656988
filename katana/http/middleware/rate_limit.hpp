// Rate limiting: a number of requests for each key, on average and at once.
//
//   router.use(rate_limit({.per_second = 5, .burst = 20}));
//
// Owns       a table of fixed size, shared by all reactors.
// Thread     any; each part of the table has a lock, held for some ten nanoseconds.
// Allocates  at construction, 16 bytes for each key.
// Fails      429 with Retry-After and RateLimit fields. 503 for an unknown client, and, as an
//            option, while a shared limit is not available. A full table forgets the least active
//            key: it never refuses for want of room.
// Invariant  a key that stays below its rate is never refused. Without the secret of the table a
//            client cannot find keys that share a place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/function.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/rate_limit_options.hpp"

namespace katana {

// A limit that the instances of a program keep together outside of the process, such as
// RedisRateLimit (http/middleware/redis).
class SharedLimit {
 public:
  // The result for a request.
  struct Verdict {
    bool is_known = false;  // false: the shared limit is not available
    bool passes = false;    // the request is counted
    Duration wait = {};     // until the next one passes, when this one does not
  };
  virtual ~SharedLimit() = default;
  // The verdict if it is known in this process, on the reactor's thread; empty: call ask().
  virtual std::optional<Verdict> look(Bytes key, Instant now) = 0;
  virtual Task<Verdict> ask(std::string key) = 0;
  // Sets the rate from now on. Any thread.
  virtual void set_rate(double per_second, std::uint32_t burst) = 0;
};

// For use(): 429 with Retry-After beyond the limit.
Middleware rate_limit(RateLimitOptions options = {});

namespace detail {

struct RateRules;

// The key of the client's address; see RateLimitOptions::key.
Text client_key(const RequestView& request, session::Exchange& exchange);

}  // namespace detail

// A key by a value that middleware in front has provided (FromContext<T>). It may be the
// authenticated user, whatever number of addresses that user has. A request without the value
// counts for its client's address.
//
//   options.key = rate_key<auth::Principal>([](const auto& who) -> Bytes { return who.id(); });
template <class T, class F>
std::function<Text(const RequestView&, session::Exchange&)> rate_key(F text_of) {
  return [text_of](const RequestView& request, session::Exchange& exchange) {
    if (exchange.kept() == nullptr) return detail::client_key(request, exchange);
    const auto value = detail::RequestContext::of(exchange).find<T, const T>();
    if (value == nullptr) return detail::client_key(request, exchange);
    Text key("by value: ");  // no address begins with this
    key.append(text_of(*value));
    return key;
  };
}

// The same, with a rate that may change while it serves. Copies, and all middleware from
// middleware(), share one table.
class RateLimit {
 public:
  explicit RateLimit(RateLimitOptions options);
  // Makes middleware for use(), any number of times.
  Middleware middleware() const;
  // Sets the rate for requests from now on; the use of each key so far still counts. Any thread.
  // REQUIRES a rate between 0.000001 and 1000000000, and a burst of 1 to 1000000.
  void set_rate(double per_second, std::uint32_t burst);

 private:
  std::shared_ptr<const detail::RateRules> rules_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
