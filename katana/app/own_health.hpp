// own_health: asks whether the program that runs with these settings on this machine is alive. This
// is --health-check, for containers and scripts that have no HTTP client.
//
//   HEALTHCHECK CMD ["/usr/bin/users", "--health-check"]
//
// Owns       nothing.
// Thread     one, which waits.
// Allocates  as a client does.
// Fails      own_health_url() when the settings do not name an address of the program;
//            check_own_health() when /health is not answered by 2xx within `timeout`.
// Invariant  asks this machine alone.
#pragma once

#include <string>

#include "katana/app/settings.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::app {

// The URL of /health on a listener without TLS if there is one, else on the first.
Result<std::string> own_health_url(const ApplicationSettings& settings);

// Blocks until the reply is there, at most `timeout`.
Result<void> check_own_health(const ApplicationSettings& settings, Duration timeout = seconds(5));

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
