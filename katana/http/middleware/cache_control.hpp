// Cache-Control of a reply: a handler writes it, caches read it (RFC 9111 §5.2.2, RFC 5861).
// CDN-Cache-Control is its form for shared caches only (RFC 9213).
//
//   return std::move(reply).with("Cache-Control", CacheControl{.s_maxage = seconds(60)}.text());
//
// Owns       values only.
// Thread     a value.
// Allocates  text().
// Fails      never: a malformed or contradictory field is read as the stricter rule for caches.
#pragma once

#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana {

// Directives of replies (RFC 9111 §5.2.2, RFC 5861, RFC 8246); empty or false: not given.
struct CacheControl {
  std::optional<Duration> max_age = {};                 // the time that it is fresh
  std::optional<Duration> s_maxage = {};                // the same, for shared caches
  std::optional<Duration> stale_while_revalidate = {};  // use while a new one is fetched
  std::optional<Duration> stale_if_error = {};          // use instead of a 5xx
  bool no_store = false;                                // no cache stores it
  bool no_cache = false;                                // no cache uses it without validation
  bool is_private = false;                              // only the client stores it
  bool is_public = false;         // any cache may, also if the request has Authorization
  bool must_revalidate = false;   // once stale, no cache uses it without validation
  bool proxy_revalidate = false;  // likewise, for shared caches only
  bool immutable = false;         // does not change while it is fresh
  // A cache that knows the status stores it, whatever no_store says.
  bool must_understand = false;

  // The value of the field; whole seconds.
  std::string text() const;
  // Reads all Cache-Control fields among complete field lines.
  static CacheControl of_fields(Bytes lines);
  // Reads CDN-Cache-Control (RFC 9213), which shared caches read in place of Cache-Control and
  // Expires. Returns nothing if there is no such field, or if it is empty or malformed: it then
  // counts as absent.
  static std::optional<CacheControl> of_targeted_fields(Bytes lines);
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
