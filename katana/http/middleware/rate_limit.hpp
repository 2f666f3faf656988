// Rate limiting: so many requests for each key, on average and at once.
//
//   router.use(rate_limit({.per_second = 5, .burst = 20}));
//
// Owns       a table of fixed size, shared by all reactors.
// Thread     any; each part of the table has a lock, held for some ten nanoseconds.
// Allocates  at construction, 16 bytes for each key.
// Fails      429 with Retry-After and RateLimit fields; 503 for a client that is not known, and, by
//            choice, while a limit that is shared cannot be asked. A full
//            table forgets the key that was least active: it never refuses for want of room.
// Invariant  a key that stays below its rate is never refused; a client that does not know the
//            table's secret cannot find keys that share a place.
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

struct RateRules;

// For the client's address; see RateLimitOptions::key.
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

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
