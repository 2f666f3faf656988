// The proxy that the environment names for exports.
//
//   https_proxy, HTTPS_PROXY   for a collector at https://…
//   http_proxy, HTTP_PROXY     for a collector at http://…
//   no_proxy, NO_PROXY         hosts with a direct connection, after commas; *: all hosts
//
// The lowercase name goes first. "localhost" and loopback addresses always have a direct
// connection. A proxy is "http://host:port", "host:port", or "http://user:password@host:port".
//
// Owns       nothing.
// Borrows    the function for the call.
// Thread     that of the start.
// Allocates  its result.
// Fails      never: a wrong value is noted without its text, and there is no proxy.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "katana/http/client/options.hpp"

namespace katana::app {

// Null or empty: the variable is not set.
using Variables = std::function<const char*(const char* name)>;

// An empty URL: no proxy. `secure`: for https://.
client::ProxyOptions proxy_of(bool secure, const Variables& variables,
                              std::vector<std::string>& notes);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
