// retry_after(): when a server wants to be asked again (RFC 9110 §10.2.3).
//
// Borrows    the response for the call.
// Thread     any.
// Allocates  never.
// Fails      nothing for a field that is missing or malformed.
#pragma once

#include <cstdint>
#include <optional>

#include "katana/base/values/instant.hpp"
#include "katana/http/client/response.hpp"

namespace katana::client {

// Of Retry-After in seconds or as a date; at most a year. `now_s`: since 1970.
std::optional<Duration> retry_after(const Response& response, std::int64_t now_s);

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
