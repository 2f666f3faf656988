// HttpCache: the server keeps replies of handlers as a shared cache does (RFC 9111). The next
// request for the same resource then needs no handler.
//
//   HttpCache pages({.bytes_max = std::size_t{64} << 20});
//   router.use(pages.middleware());
//   router.get("/news", [] { return Reply(…).with("Cache-Control", "s-maxage=60"); });
//
// A reply is kept only for a time that its handler states. A reply that was made for one client is
// never shown to another:
//
//   a request passes by      of another method than GET and HEAD, with a body, Range, If-Match or
//                            If-Unmodified-Since. One with Cookie, Authorization or another of
//                            `private_fields`, or with a client certificate. One that is already
//                            marked as personal. One with a target in another spelling than the
//                            normalised one. One with Cache-Control: no-store
//   a reply is not kept      that is marked as personal (http/session/personal.hpp): it depends on
//                            a principal, a session, a nonce, the client's address, a cookie or a
//                            value of middleware. One without a Vary for each field that a
//                            Header<T> read. One without max-age, s-maxage or Expires. One with
//                            no-store, private, no-cache, Set-Cookie, Vary: *, Content-Range, or an
//                            Age that is not one whole number. One with another status than 200,
//                            203, 301, 308, 404 and 410. One that is streamed, or too large
//   CDN-Cache-Control        where it is valid, counts in place of Cache-Control and Expires
//                            (RFC 9213)
//   its key                  scheme, host, path, query, and the values of the fields that Vary
//                            names
//
// A handler that reads fields directly (RequestView::field()) names them in Vary. Authentication,
// policies and sessions run in front of the cache, whatever the order of use(). Other middleware
// that may refuse a request must be use()d in front of it. Router::build() checks that.
//
//   Vary, Age, ETag          as the handler says; without an ETag the cache makes a weak one
//   If-None-Match            304, also from a kept reply; HEAD from the reply of GET
//   one handler at a time    for a key that is not kept; the others wait for it, at most wait_max
//   stale-while-revalidate   one request goes to the handler, the others get the old reply
//   stale-if-error           instead of a 5xx of the handler
//   unsafe methods           with a reply of 2xx or 3xx, remove the kept replies of their path, and
//                            of the paths in Location and Content-Location
//   Cache-Status             RFC 9211: hit, or the reason why not
//
// If compression() is use()d before the cache, one reply is kept and compressed for each client. If
// it is use()d behind the cache, each coding of a short reply is compressed once and kept.
//
// Owns       the kept replies, shared by its copies and by the middleware from middleware().
// Thread     any; requests on their reactor's.
// Allocates  to keep a reply; a hit copies it.
// Fails      Router::build() for invalid options. The cache never makes a request fail: if a reply
//            cannot be kept or waited for, the handler serves the request.
// Invariant  memory is at most bytes_max. A reply whose handler began before its path was
//            invalidated is not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/middleware/http_cache_options.hpp"
#include "katana/stores/cache/options.hpp"

namespace katana {

// Counters of one cache since it was made.
struct HttpCacheStatistics {
  std::uint64_t hits = 0;          // answered with a kept reply
  std::uint64_t stale_hits = 0;    // of the hits
  std::uint64_t not_modified = 0;  // of the hits: 304
  std::uint64_t misses = 0;        // requests that went to the handler
  std::uint64_t passed_by = 0;     // requests that may not be answered from it
  std::uint64_t kept = 0;          // replies that were stored
  std::uint64_t not_kept = 0;      // replies that may not be stored
  std::uint64_t waited = 0;        // for another request's reply
  std::uint64_t invalidated = 0;   // replies that were removed
};

namespace detail {
class HttpCacheState;
}

class HttpCache {
 public:
  explicit HttpCache(HttpCacheOptions options = {});

  // For use(). All middleware from it shares the kept replies.
  Middleware middleware() const;
  // Removes the kept replies of this path, with any query, host and scheme. The path is normalised,
  // as in the router. Returns the number of removed replies.
  std::size_t invalidate(Bytes path) const;
  void clear() const;
  HttpCacheStatistics statistics() const;
  // For the memory behind it; REQUIRES valid options.
  cache::Statistics memory() const;

 private:
  std::shared_ptr<detail::HttpCacheState> state_;
};

// The same, for callers that need no other function of the cache.
Middleware http_cache(HttpCacheOptions options = {});

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
