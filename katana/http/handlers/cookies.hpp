// Cookies: those that a request has, and those that a reply sets (RFC 6265, and the attributes and
// prefixes of RFC 6265bis).
//
//   if (const auto theme = cookie(request, "theme")) …
//   set_cookie(reply, {.name = "__Host-session", .value = token, .max_age = seconds(3600)});
//
// Owns       nothing of a request: the values are views into its head.
// Thread     any; there is no state.
// Allocates  set_cookie(): from the recycler.
// Fails      set_cookie() with an Error that names the mistake which a browser would refuse, and
//            the remedy. The reply is then unchanged.
// Invariant  a reply for which a cookie was read through its request is not shared with other
//            clients that have cookies. A browser stores a cookie that set_cookie() accepts under
//            this name with this value.
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

// Reads the pairs of a Cookie field's value (RFC 6265 §4.2). Text that is no pair is ignored, as
// browsers and servers do.
class CookieReader {
 public:
  explicit CookieReader(Bytes value) noexcept : rest_(value) {}
  // Returns false at the end. Quotes around a value are part of it.
  bool next(Bytes& name, Bytes& value) noexcept;

 private:
  Bytes rest_;
};

// Returns the first cookie of that name, in any Cookie field. Names are case-sensitive.
std::optional<Bytes> cookie(const RequestView& request, Bytes name) noexcept;
std::optional<Bytes> cookie(const Request& request, Bytes name) noexcept;
// The same, for callers that do not make a reply of the value.
std::optional<Bytes> cookie(const http::Head& head, Bytes name) noexcept;

// Selects the requests from pages of other sites that have the cookie.
enum class SameSite : std::uint8_t {
  lax,     // those that follow a link, and no others
  strict,  // none
  none,    // all; only for cookies that are `secure`
};

// A cookie that is secure by default. It is sent over TLS only (and to localhost), and to this host
// only. Scripts cannot read it. Requests of other sites do not have it, except when a link leads
// here.
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

// Adds Set-Cookie. Fails, and adds nothing, when the name or the value is invalid, or breaks the
// rules of a prefix (__Host-, __Secure-). Also fails when the fields of the reply are full.
Result<void> set_cookie(Reply& reply, const SetCookie& cookie);
// Makes the browser delete the cookie. Path, domain and prefix must be those that it was set with.
Result<void> remove_cookie(Reply& reply, SetCookie cookie);

namespace detail {
// Marks the reply as one for this client: it depends on the cookies of the request.
void mark_cookies_read(const RequestView& request) noexcept;
}  // namespace detail

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
