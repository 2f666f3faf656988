#include "katana/http/client/cookie_jar.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "katana/http/client/cookie_date.hpp"
#include "katana/net/upstream/addresses.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::client {
namespace {

constexpr std::int64_t end_of_time_s = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t lifetime_max_s = 400LL * 24 * 3600;  // RFC 6265bis §5.5
constexpr std::size_t attribute_bytes_max = 1024;           // RFC 6265bis §5.6

std::string in_lower_case(Bytes text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), http::to_lower);
  return made;
}

// RFC 6265 §5.1.3.
bool domain_matches(const std::string& host, const std::string& domain) {
  if (host == domain) return true;
  return host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.' &&
         !upstream::is_numeric_address(host);
}

// RFC 6265 §5.1.4.
bool path_matches(Bytes path, Bytes cookie_path) {
  if (!path.starts_with(cookie_path)) return false;
  return path.size() == cookie_path.size() || cookie_path.ends_with('/') ||
         path[cookie_path.size()] == '/';
}

Bytes path_of(const Url& url) {
  const Bytes target = url.target;
  return target.substr(0, target.find('?'));
}

std::string default_path(const Url& url) {
  const Bytes path = path_of(url);
  const std::size_t end = path.rfind('/');
  return std::string(end == 0 || end == Bytes::npos ? Bytes("/") : path.substr(0, end));
}

// Cuts the next part off, up to `separator`.
Bytes cut(Bytes& text, char separator) {
  const std::size_t end = text.find(separator);
  const Bytes part = text.substr(0, end);
  text = end == Bytes::npos ? Bytes() : text.substr(end + 1);
  return http::trimmed(part);
}

// RFC 6265bis §5.6: TAB is allowed.
bool has_no_control(Bytes text) {
  return std::ranges::none_of(text, [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code < 0x20 && c != '\t') || code == 0x7f;
  });
}

// RFC 6265 §5.2.2. Returns nothing if the value is no number.
std::optional<std::int64_t> expiry_of_max_age(Bytes value, std::int64_t now_s) {
  std::int64_t age_s = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, problem] = std::from_chars(value.data(), end, age_s);
  if (problem == std::errc::result_out_of_range && stop == end) {
    return value[0] == '-' ? 0 : now_s + lifetime_max_s;
  }
  if (problem != std::errc() || stop != end) return {};
  return age_s <= 0 ? 0 : now_s + std::min(age_s, lifetime_max_s);
}

}  // namespace

// The attributes behind the pair of a Set-Cookie field; the last of each name counts (RFC 6265
// §5.2).
struct CookieJar::Attributes {
  std::optional<std::int64_t> max_age_expiry_s, expiry_s;
  std::string domain;               // in lower case, without a leading dot; empty: none
  std::optional<std::string> path;  // empty: the default path
  bool secure = false;
};

CookieJar::Attributes CookieJar::read_attributes(Bytes text, std::int64_t now_s) {
  Attributes read;
  while (!text.empty()) {
    Bytes value = cut(text, ';');
    const Bytes name = cut(value, '=');
    value = http::trimmed(value);
    if (value.size() > attribute_bytes_max) continue;
    const auto is = [&](Bytes wanted) { return http::equals_ignoring_case(name, wanted); };
    if (is("Secure")) read.secure = true;
    if (is("Path")) read.path = std::string(value.starts_with('/') ? value : Bytes());
    if (is("Domain") && !value.empty()) {
      read.domain = in_lower_case(value.substr(value.starts_with('.') ? 1 : 0));
    }
    if (is("Max-Age")) {
      if (const auto expiry = expiry_of_max_age(value, now_s)) read.max_age_expiry_s = expiry;
    }
    if (is("Expires")) {
      if (const auto date = parse_cookie_date(value)) {
        read.expiry_s = std::min(*date, now_s + lifetime_max_s);
      }
    }
  }
  return read;
}

// RFC 6265 §5.3, steps 4 to 6. Sets the domain of the cookie, which is that of its host at first.
// Returns false for the domain of another host, or a public suffix.
bool CookieJar::set_domain(Cookie& cookie, const std::string& domain) const {
  const bool is_own = domain.empty() || domain == cookie.domain;
  if (!is_own && !domain_matches(cookie.domain, domain)) return false;
  // A single label is a suffix, even without a list.
  const bool knows = suffixes_ != nullptr && suffixes_->known();
  const bool is_suffix =
      knows ? suffixes_->contains(domain) : domain.find('.') == std::string::npos;
  if (is_suffix && !is_own) return false;
  cookie.host_only = domain.empty() || is_suffix || !knows;
  if (!cookie.host_only) cookie.domain = domain;
  return true;
}

// Returns false if this server may not set the cookie.
bool CookieJar::apply(Cookie& cookie, const Url& url, const Attributes& attributes) const {
  if (attributes.path && !attributes.path->empty()) cookie.path = *attributes.path;
  if (attributes.max_age_expiry_s) {
    cookie.expires_s = *attributes.max_age_expiry_s;
  } else if (attributes.expiry_s) {
    cookie.expires_s = *attributes.expiry_s;
  }
  cookie.secure = attributes.secure;
  if (!set_domain(cookie, attributes.domain)) return false;
  if (cookie.secure && !url.origin.secure) return false;
  // RFC 6265bis §4.1.3: names in any case, because servers compare them so.
  const auto begins_with = [&](Bytes prefix) {
    return http::equals_ignoring_case(Bytes(cookie.name).substr(0, prefix.size()), prefix);
  };
  if (begins_with("__Host-")) {
    const bool is_rooted = attributes.path && cookie.path == "/";
    return cookie.secure && attributes.domain.empty() && is_rooted;
  }
  return !begins_with("__Secure-") || cookie.secure;
}

// RFC 6265bis §5.7: a cookie set without TLS would be sent instead of, or before, one set with TLS.
bool CookieJar::hides_secure(const Cookie& cookie) const {
  return std::ranges::any_of(cookies_, [&](const Cookie& each) {
    return each.secure && each.name == cookie.name &&
           (domain_matches(each.domain, cookie.domain) ||
            domain_matches(cookie.domain, each.domain)) &&
           path_matches(cookie.path, each.path);
  });
}

void CookieJar::store(const Url& url, Bytes set_cookie, std::int64_t now_s) {
  const std::size_t bytes = set_cookie.size();
  Bytes pair = cut(set_cookie, ';');
  // valid_field() looks at the pair below.
  const bool has_name =
      pair.find('=') != Bytes::npos && pair[0] != '=' && has_no_control(set_cookie);
  Cookie cookie;
  cookie.name = std::string(has_name ? cut(pair, '=') : Bytes());
  cookie.value = std::string(http::trimmed(pair));
  cookie.domain = url.origin.host;
  cookie.path = default_path(url);
  cookie.expires_s = end_of_time_s;  // a session cookie; the session is as long as the jar
  const bool accepted = has_name && http::valid_field("Cookie", cookie.name + "=" + cookie.value) &&
                        bytes <= limits_.cookie_bytes_max &&
                        apply(cookie, url, read_attributes(set_cookie, now_s));

  const std::scoped_lock lock(mutex_);
  if (!accepted || (!url.origin.secure && hides_secure(cookie))) {
    ++refused_;
    return;
  }
  cookie.created = cookie.used = ++clock_;
  const auto old = std::ranges::find_if(cookies_, [&](const Cookie& each) {
    return each.name == cookie.name && each.domain == cookie.domain && each.path == cookie.path;
  });
  if (old != cookies_.end()) {
    cookie.created = old->created;
    cookies_.erase(old);
  }
  if (cookie.expires_s <= now_s) return;
  std::erase_if(cookies_, [&](const Cookie& each) { return each.expires_s <= now_s; });
  make_capacity(cookie.domain);
  cookies_.push_back(std::move(cookie));
}

void CookieJar::make_capacity(const std::string& domain) {
  const auto is_same = [&](const Cookie& each) { return each.domain == domain; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(cookies_, is_same));
  const bool of_domain = count >= limits_.domain_max;
  if (cookies_.empty() || (!of_domain && cookies_.size() < limits_.cookies_max)) return;
  const auto age = [&](const Cookie& each) {
    return of_domain && !is_same(each) ? std::numeric_limits<std::uint64_t>::max() : each.used;
  };
  cookies_.erase(std::ranges::min_element(cookies_, {}, age));
}

std::string CookieJar::header(const Url& url, std::int64_t now_s) {
  const std::scoped_lock lock(mutex_);
  std::vector<Cookie*> found;
  for (Cookie& each : cookies_) {
    const std::string& host = url.origin.host;
    const bool is_its_host =
        each.host_only ? host == each.domain : domain_matches(host, each.domain);
    if (!is_its_host || each.expires_s <= now_s || (each.secure && !url.origin.secure) ||
        !path_matches(path_of(url), each.path)) {
      continue;
    }
    each.used = ++clock_;
    found.push_back(&each);
  }
  // RFC 6265 §5.4: longer paths first, then older cookies.
  std::ranges::sort(found, [](const Cookie* left, const Cookie* right) {
    if (left->path.size() != right->path.size()) return left->path.size() > right->path.size();
    return left->created < right->created;
  });
  std::string made;
  for (const Cookie* each : found) {
    const std::size_t bytes = each->name.size() + each->value.size() + 3;
    if (made.size() + bytes > limits_.header_bytes_max) break;
    if (!made.empty()) made += "; ";
    made.append(each->name).append("=").append(each->value);
  }
  return made;
}

void CookieJar::clear() {
  const std::scoped_lock lock(mutex_);
  cookies_.clear();
}

std::size_t CookieJar::size() const {
  const std::scoped_lock lock(mutex_);
  return cookies_.size();
}

std::uint64_t CookieJar::refused() const {
  const std::scoped_lock lock(mutex_);
  return refused_;
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
