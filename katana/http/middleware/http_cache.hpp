// HttpCache: replies of handlers, kept by the server itself as a shared cache does (RFC 9111), so
// that the next request for the same needs no handler.
//
//   HttpCache pages({.bytes_max = std::size_t{64} << 20});
//   router.use(pages.middleware());
//   router.get("/news", [] { return Reply(…).with("Cache-Control", "s-maxage=60"); });
//
// Nothing is kept that its handler did not say a time for, and nothing that was made for one client
// is shown to another:
//
//   a request passes by      of another method than GET and HEAD, with content, Range, If-Match,
//                            If-Unmodified-Since; with Cookie, Authorization or another of
//                            `private_fields`, or a client certificate; that is marked as personal
//                            already; whose target is not written as it is normalised; with
//                            Cache-Control: no-store
//   a reply is not kept      that is marked as personal (http/session/personal.hpp): a principal, a
//                            session, a nonce, the client's address, a cookie or a value of
//                            middleware made it; without a Vary for each field that a Header<T>
//                            read; without max-age, s-maxage or Expires; with no-store, private,
//                            no-cache, Set-Cookie, Vary: *, Content-Range, or an Age that is not
//                            one whole number; of a status that is not 200, 203, 301, 308, 404,
//                            410; that is streamed, or too large
//   CDN-Cache-Control        where it is valid, counts in place of Cache-Control and Expires
//                            (RFC 9213)
//   its key                  scheme, host, path, query, and what the fields have that Vary names
//
// A handler that reads fields itself (RequestView::field()) names them in Vary. Authentication,
// policies and sessions run in front of the cache, whatever the order of use(); other middleware
// that may refuse a request has to be use()d in front of it, which Router::build() sees to.
//
//   Vary, Age, ETag          as the handler says; a weak ETag is made where there is none
//   If-None-Match            304, also from what is kept; HEAD from the reply of GET
//   one handler at a time    for a key that is not kept; the others wait for it, at most wait_max
//   stale-while-revalidate   one request goes on to the handler, the others get the old reply
//   stale-if-error           instead of a 5xx of the handler
//   unsafe methods           with a reply of 2xx or 3xx, remove what is kept of their path, and of
//                            the paths that Location and Content-Location name
//   Cache-Status             RFC 9211: hit, or why not
//
// compression(): use()d before it, so in front of it, one reply is kept and compressed for each
// client; use()d behind it each coding is kept, compressed once, if the reply is short.
//
// Owns       what is kept, shared by its copies and by what middleware() gave.
// Thread     any; requests on their reactor's.
// Allocates  to keep a reply; a hit copies it.
// Fails      Router::build() for options that are wrong. A request never fails by it: what cannot
//            be kept or waited for goes on to the handler.
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

// Since it was made.
struct HttpCacheStatistics {
  std::uint64_t hits = 0;          // answered with what was kept
  std::uint64_t stale_hits = 0;    // of those
  std::uint64_t not_modified = 0;  // of those: 304
  std::uint64_t misses = 0;        // that went to the handler
  std::uint64_t passed_by = 0;     // requests that may not be answered from it
  std::uint64_t kept = 0;          // replies that were put into it
  std::uint64_t not_kept = 0;      // replies that may not be
  std::uint64_t waited = 0;        // for another request's reply
  std::uint64_t invalidated = 0;   // replies that were removed
};

namespace detail {
class HttpCacheState;
}

class HttpCache {
 public:
  explicit HttpCache(HttpCacheOptions options = {});

  // For use(). All that it gives share what is kept.
  Middleware middleware() const;
  // What is kept of this path, with any query, host and scheme; as the router has it, normalised.
  // How many replies there were.
  std::size_t invalidate(Bytes path) const;
  void clear() const;
  HttpCacheStatistics statistics() const;
  // For the memory behind it; REQUIRES options that are right.
  cache::Statistics memory() const;

 private:
  std::shared_ptr<detail::HttpCacheState> state_;
};

// The same, for callers that need nothing else of it.
Middleware http_cache(HttpCacheOptions options = {});

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
