// URLs as a server meets them: request targets, Host values, paths and form queries.
//
// Owns      nothing.
// Borrows   its arguments for the call; the parts it returns lie in them.
// Thread    any; there is no state.
// Allocates never; decoded bytes go into the caller's span.
// Fails     by value: nullopt or false means the client is to blame (400 Bad Request).
// Invariant safe for any bytes; no output is longer than its input.
//
// Percent-decoding and dot segments are handled here and nowhere else. Both are only right when
// they happen once and in this order (RFC 3986 §2.4, §7.3). Decoded twice, "%252e" becomes an
// unchecked dot. Resolved before it is decoded, "/%2e%2e/" climbs past a check that saw no dots.
// Decoded before it is split, "%2F" makes segments that the sender did not write.
//
//   request-target, RFC 9112 §3.2
//     split_target     cuts at "://", "/" and "?", and decodes nothing, RFC 3986 §3
//   raw path
//     is_normal_path   true for nearly all: the raw path is the normal one, and no copy is needed
//     normalize_path   decodes escapes, RFC 3986 §6.2.2, then removes dot segments, §5.2.4
//   normal path, which is compared with routes, prefixes and access rules
//     decode_segment   decodes the two escapes left, in a segment that was already split off
//   text of a segment
//
// A normal path begins with "/" and has no "." or ".." segment. It keeps exactly two escapes, in
// this spelling. "%2F" is a slash that is not a separator, and "%25" a percent sign that is not an
// escape. Because both are kept, the last step is exact: each byte and each escape has one origin
// and one meaning. "//" is kept: an empty segment is a segment (RFC 3986 §3.3). The parent of the
// root is the root (RFC 3986 §5.2.4): "/../x" is "/x". An escaped dot counts as a dot.
//
// A path is refused for "%" without two hexadecimal digits, "%00", and raw bytes that RFC 3986 §3.3
// does not allow there. "[" and "]" are among these; they are allowed in a query, where clients do
// send them. Other bytes may be escaped: decoded text may hold CR, LF or invalid UTF-8. A caller
// that puts such text into a header or a log escapes it there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/method.hpp"

namespace katana::http {

// RFC 9112 §3.2.1 to §3.2.4.
enum class TargetForm : std::uint8_t { origin, absolute, authority, asterisk };

// A request target, split. Nothing is decoded.
struct Target {
  TargetForm form = TargetForm::origin;  // decides which of the parts there are
  Bytes scheme;                          // absolute-form only, as sent: compare ignoring case
  Bytes authority;                       // absolute-form and authority-form only
  Bytes path;              // raw, begins with "/"; empty in authority-form and asterisk-form
  Bytes query;             // raw, without the "?"
  bool has_query = false;  // tells "/?" from "/"
};

namespace detail {

// Path and query of an origin-form target; neither is examined.
inline Target split_path_and_query(Bytes text) noexcept {
  const std::size_t found = text.find('?');
  const bool has_query = found != Bytes::npos;
  const std::size_t mark = has_query ? found : text.size();
  const std::size_t query = mark + (has_query ? 1 : 0);
  return {.form = TargetForm::origin,
          .scheme = {},
          .authority = {},
          .path = {text.data(), mark},
          .query = {text.data() + query, text.size() - query},
          .has_query = has_query};
}

// Any target but one that begins with "/", and every target of CONNECT.
std::optional<Target> split_rare_form(Bytes target, Method method) noexcept;

}  // namespace detail

// Cuts a request-target (RFC 9112 §3.2). CONNECT takes authority-form and nothing else; "*" is for
// OPTIONS. An http or https target needs a host and may have no userinfo (RFC 9110 §4.2.1, §4.2.4).
// The authority of any other scheme is cut off, not examined: the caller decides whether it serves
// that scheme. An absolute target with an empty path has the path "/". A CONNECT port is 1 to 5
// digits, 1 to 65535 (RFC 9110 §9.3.6). Path and query are not examined. The function is inline,
// because the common form is one search: out of line, storing and loading the result doubles its
// time.
[[nodiscard]] inline std::optional<Target> split_target(Bytes target, Method method) noexcept {
  const bool is_origin_form = target.starts_with('/') && method != Method::connect;
  if (!is_origin_form) [[unlikely]]
    return detail::split_rare_form(target, method);
  return detail::split_path_and_query(target);
}

// Whether this is a Host value: uri-host [":" port] (RFC 9112 §3.2, RFC 3986 §3.2.2). Empty text
// and an empty port are valid. Not valid are a port without a host (RFC 9110 §4.2.1), a port above
// 65535 and a comma (see host_character). The host is not decoded. Text that is not an IPv4
// address, such as "1.2.3.999", is a name.
[[nodiscard]] bool valid_authority(Bytes authority) noexcept;

// Host and port of an authority, split.
struct Authority {
  Bytes host;                         // as it stands, but without the brackets of an IP literal
  bool bracketed = false;             // IPv6, or a future IP literal
  std::optional<std::uint16_t> port;  // nullopt: missing or empty
};

// The parts of a valid_authority(); nullopt for any other.
[[nodiscard]] std::optional<Authority> split_authority(Bytes authority) noexcept;

// Whether two authorities name the same host and port. Hosts are compared ignoring case. A missing
// or empty port is that of `scheme`, 80 or 443 (RFC 3986 §6.2.3, RFC 9110 §4.2.3). Other schemes
// have no default port: "a" and "a:80" differ. Escapes are compared as they stand.
[[nodiscard]] bool same_authority(Bytes left, Bytes right, Bytes scheme) noexcept;

// True when normalize_path(path) would give the same bytes back: `path` can be used as it is. Exact
// for a path without "%"; false for every path with one.
[[nodiscard]] bool is_normal_path(Bytes path) noexcept;

// Writes the normal form of a raw path and returns its size, 1 to path.size(). Returns nullopt when
// the path is refused (see above), does not begin with "/", or `out` is smaller than `path`. `out`
// then holds anything. `out` may be the storage of `path` itself. Normalizing twice gives the same
// as once, provided that bytes which a raw path may not hold are escaped in between.
[[nodiscard]] std::optional<std::size_t> normalize_path(Bytes path, std::span<char> out) noexcept;

// Decodes the "%2F" and "%25" of one segment of a normal path and returns the size. Any other "%"
// is nullopt: the segment is not from a normal path. Also nullopt when `out` is smaller than
// `segment`. `out` may be the storage of `segment` itself. The text may hold "/", as in "../x": it
// is a name, never a piece of a file's path.
[[nodiscard]] std::optional<std::size_t> decode_segment(Bytes segment,
                                                        std::span<char> out) noexcept;

// Walks the pairs of application/x-www-form-urlencoded text (URL Standard §5.1), still encoded.
// Empty pairs ("a&&b") are skipped; a pair without "=" has an empty value.
class QueryReader {
 public:
  explicit QueryReader(Bytes query) noexcept : rest_(query) {}

  // False at the end; name and value are then unchanged.
  bool next(Bytes& name, Bytes& value) noexcept;

 private:
  Bytes rest_;
};

// True when decode_form() would change the text.
[[nodiscard]] bool needs_form_decoding(Bytes text) noexcept;

// Decodes a name or a value of a pair: "+" is a space, %XX a byte (NUL too: a value is data).
// Returns the size. nullopt for a bad escape, or when `out` is smaller than `text`. `out` may be
// the storage of `text` itself.
[[nodiscard]] std::optional<std::size_t> decode_form(Bytes text, std::span<char> out) noexcept;

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
