// Cookies: those that a request brings, and those that a reply sets (RFC 6265, and the attributes
// and prefixes of RFC 6265bis).
//
//   if (const auto theme = cookie(request, "theme")) …
//   set_cookie(reply, {.name = "__Host-session", .value = token, .max_age = seconds(3600)});
//
// Owns       nothing of a request: values lie in its head.
// Thread     any; there is no state.
// Allocates  set_cookie(): from the recycler.
// Fails      set_cookie() with an Error that names what a browser would refuse, and the remedy; the
//            reply is then as it was.
// Invariant  a reply for which a cookie was read through its request is shared with no client that
//            has cookies.
//            A browser stores a cookie that set_cookie() accepts under this name with this value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/wire/http/head.hpp"

namespace katana {

// Walks the pairs of a Cookie field's value (RFC 6265 §4.2). Text that is no pair is passed
// over, as browsers and servers do.
class CookieReader {
 public:
  explicit CookieReader(Bytes value) noexcept : rest_(value) {}
  // False at the end. Quotes around a value are part of it.
  bool next(Bytes& name, Bytes& value) noexcept;

 private:
  Bytes rest_;
};

// The first cookie of that name, in any Cookie field. Names are compared with their case.
std::optional<Bytes> cookie(const RequestView& request, Bytes name) noexcept;
std::optional<Bytes> cookie(const Request& request, Bytes name) noexcept;
// The same, for what does not make a reply of it.
std::optional<Bytes> cookie(const http::Head& head, Bytes name) noexcept;

// Which requests of other sites' pages carry the cookie.
enum class SameSite : std::uint8_t {
  lax,     // those that follow a link, and no others
  strict,  // none
  none,    // all; only for cookies that are `secure`
};

// Secure by default: sent over TLS only (and to localhost), to this host only, hidden from scripts,
// and left out of requests that other sites make, but for following a link.
struct SetCookie {
  std::string_view name;                       // a token, as RFC 9110 §5.6.2 has it
  std::string_view value;                      // no control character, space, '"', ',', ';' or '\\'
  std::string_view path = "/";                 // sent with requests for what is below it
  std::string_view domain = {};                // empty: this host and no other
  std::optional<Duration> max_age = {};        // none: until the browser is closed
  std::optional<std::int64_t> expires_s = {};  // Unix time; max_age comes first
  bool secure = true;                          // sent over TLS only
  bool http_only = true;                       // hidden from scripts (document.cookie)
  SameSite same_site = SameSite::lax;  // lax: also sent when a link leads here from another site
  bool partitioned = false;  // CHIPS: one cookie jar for each top-level site; requires `secure`
};

// Adds Set-Cookie. Fails, and adds nothing, with what is wrong with the name, the value or the
// rules of a prefix (__Host-, __Secure-), and when the fields of the reply are full.
Result<void> set_cookie(Reply& reply, const SetCookie& cookie);
// Makes the browser forget it. Path, domain and prefix have to be those that it was set with.
Result<void> remove_cookie(Reply& reply, SetCookie cookie);

namespace detail {
// Replies made of the cookies of a request are for its client.
void mark_cookies_read(const RequestView& request) noexcept;
}  // namespace detail

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
