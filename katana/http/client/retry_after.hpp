// retry_after(): the time after which a server accepts the request again (RFC 9110 §10.2.3).
//
// Borrows    the response for the call.
// Thread     any.
// Allocates  never.
// Fails      returns nothing for a field that is missing or malformed.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/values/instant.hpp"
#include "katana/http/client/response.hpp"

namespace katana::client {

// Returns the pause of Retry-After, which has seconds or a date; at most a year. `now_s`: seconds
// since 1970.
std::optional<Duration> retry_after(const Response& response, std::int64_t now_s);

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
