// CookieJar: cookies that servers have set, for the requests that they belong to (RFC 6265).
//
//   options.cookies = std::make_shared<client::CookieJar>();
//
// Owns       the cookies, in memory alone.
// Thread     any; a lock is held for each request and reply. Several clients may share a jar.
// Allocates  for each cookie that it keeps.
// Fails      store() ignores what it must not keep, as RFC 6265 §5.3 says; refused() counts it.
// Invariant  a cookie goes to hosts and paths that it belongs to alone, over TLS if it is Secure.
//            Bounded: a cookie of more than cookie_bytes_max is ignored, and beyond a limit of
//            number the one used longest ago is forgotten, first of the same domain.
//
// Public suffixes are not known here: a cookie for a domain of a single label ("com") is refused,
// one for "co.uk" is not. Do not share a jar between hosts of different owners below such a suffix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "katana/base/bytes.hpp"
#include "katana/client/url.hpp"

namespace katana::client {

struct CookieLimits {
  std::size_t cookies_max = 3000;  // RFC 6265 §6.1
  std::size_t domain_max = 50;     // for one domain
  std::size_t cookie_bytes_max = 4096;
  std::size_t header_bytes_max = 16 * 1024;  // of one request; the rest is left out
};

class CookieJar {
 public:
  explicit CookieJar(CookieLimits limits = {}) noexcept : limits_(limits) {}

  // Of one Set-Cookie field in a reply of `url`. `now_s`: seconds since 1970.
  void store(const Url& url, Bytes set_cookie, std::int64_t now_s);
  // The value of the Cookie field for a request to `url`; empty: none.
  std::string header(const Url& url, std::int64_t now_s);

  void clear();
  std::size_t size() const;
  // Cookies that were ignored.
  std::uint64_t refused() const;

 private:
  struct Cookie {
    std::string name;
    std::string value;
    std::string domain;  // in lower case, without a leading dot
    std::string path;
    std::int64_t expires_s = 0;
    std::uint64_t created = 0;  // order
    std::uint64_t used = 0;
    bool host_only = true;
    bool secure = false;
  };

  bool apply(Cookie& cookie, const Url& url, Bytes attributes, std::int64_t now_s) const;
  void make_capacity(const std::string& domain);

  const CookieLimits limits_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Cookie> cookies_;
  std::uint64_t clock_ = 0;  // counts stores and uses
  std::uint64_t refused_ = 0;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
