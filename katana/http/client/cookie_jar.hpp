// CookieJar: cookies that servers have set, for the requests that they belong to (RFC 6265, with
// the limits and prefixes of its revision, 6265bis).
//
//   options.cookies = std::make_shared<client::CookieJar>();
//
// Owns       the cookies, in memory alone; shares the list of public suffixes.
// Thread     any; a lock is held for each request and reply. Several clients may share a jar.
// Allocates  for each cookie that it keeps.
// Fails      store() ignores what it must not keep, as RFC 6265 §5.3 says; refused() counts it.
// Invariant  a cookie is sent only to the hosts and paths it belongs to, and only over TLS if it is
//            Secure. A cookie for a public suffix ("com", "co.uk") is refused. The jar is bounded:
//            a cookie of more than cookie_bytes_max is ignored. Beyond a limit of number the least
//            recently used cookie is evicted, first one of the same domain.
//
// Without a list of public suffixes, each cookie is kept only for the host that has set it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/http/client/public_suffixes.hpp"
#include "katana/http/client/url.hpp"

namespace katana::client {

// Limits of a jar. Beyond them the least recently used cookie is evicted.
struct CookieLimits {
  std::size_t cookies_max = 3000;            // RFC 6265 §6.1
  std::size_t domain_max = 50;               // for one domain
  std::size_t cookie_bytes_max = 4096;       // name and value; a longer one is refused
  std::size_t header_bytes_max = 16 * 1024;  // of one request; the rest is left out
};

class CookieJar {
 public:
  // If `suffixes` is null or not known(), each cookie is kept only for the host that set it.
  explicit CookieJar(CookieLimits limits = {}, std::shared_ptr<const PublicSuffixes> suffixes =
                                                   PublicSuffixes::system()) noexcept
      : limits_(limits), suffixes_(std::move(suffixes)) {}

  // Stores the cookie of one Set-Cookie field in a reply of `url`. `now_s`: seconds since 1970.
  void store(const Url& url, Bytes set_cookie, std::int64_t now_s);
  // Returns the value of the Cookie field for a request to `url`; empty if no cookie fits.
  std::string header(const Url& url, std::int64_t now_s);

  // Removes all cookies.
  void clear();
  std::size_t size() const;
  // The number of cookies that were ignored.
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

  struct Attributes;
  static Attributes read_attributes(Bytes text, std::int64_t now_s);
  bool apply(Cookie& cookie, const Url& url, const Attributes& attributes) const;
  bool set_domain(Cookie& cookie, const std::string& domain) const;
  bool hides_secure(const Cookie& cookie) const;
  void make_capacity(const std::string& domain);

  const CookieLimits limits_;
  const std::shared_ptr<const PublicSuffixes> suffixes_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<Cookie> cookies_;
  std::uint64_t clock_ = 0;  // counts stores and uses
  std::uint64_t refused_ = 0;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
