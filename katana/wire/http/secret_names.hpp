// Names of credentials: parameters of a query, parameters in a path, header fields. One list
// for all that shows requests or passes them on: logs, errors, redirects of the client, HPACK.
//
//   is_secret_parameter("access_token")   of a query or a form; also "code" and "state" of OAuth
//   is_secret_segment("token")            of a pattern such as /reset/{token}
//   is_secret_field("Authorization")
//
// A program adds its own: by marking a member `secret` (base/values/rules.hpp), or by a setting.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never.
// Invariant  case and `-` and `_` do not count: accessToken and access-token are one name.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana::http {

// REQUIRES a decoded name. Text in brackets behind it does not count.
bool is_secret_parameter(Bytes name) noexcept;
// Narrower, since a path names things: of a "code" or a "state" it may be a country's.
bool is_secret_segment(Bytes name) noexcept;
bool is_secret_field(Bytes name) noexcept;

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
