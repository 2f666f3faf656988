// Cache-Control of a reply: written by a handler, read by caches (RFC 9111 §5.2.2, RFC 5861); and
// CDN-Cache-Control, its form for shared caches alone (RFC 9213).
//
//   return std::move(reply).with("Cache-Control", CacheControl{.s_maxage = seconds(60)}.text());
//
// Owns       values only.
// Thread     a value.
// Allocates  text().
// Fails      never: what is malformed or contradicts itself counts as what lets less be kept.
#pragma once

#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana {

// Directives of replies (RFC 9111 §5.2.2, RFC 5861, RFC 8246); none or false: not said.
struct CacheControl {
  std::optional<Duration> max_age = {};                 // how long it is fresh
  std::optional<Duration> s_maxage = {};                // the same, for caches that many share
  std::optional<Duration> stale_while_revalidate = {};  // used so long while it is asked for anew
  std::optional<Duration> stale_if_error = {};          // used so long instead of a 5xx
  bool no_store = false;                                // no cache keeps it
  bool no_cache = false;                                // no cache uses it without asking again
  bool is_private = false;                              // only the client keeps it
  bool is_public = false;         // any cache may, also if the request has Authorization
  bool must_revalidate = false;   // once stale, no cache uses it without asking
  bool proxy_revalidate = false;  // likewise, of shared caches alone
  bool immutable = false;         // does not change while it is fresh
  // A cache that knows the status keeps it, whatever no_store says.
  bool must_understand = false;

  // As a value of the field; whole seconds.
  std::string text() const;
  // Of complete lines of fields, all that are Cache-Control.
  static CacheControl of_fields(Bytes lines);
  // Of CDN-Cache-Control (RFC 9213), which shared caches read in place of Cache-Control and
  // Expires. None: there is no such field, or it is empty or malformed, and counts as absent.
  static std::optional<CacheControl> of_targeted_fields(Bytes lines);
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
