// http_check: a health check that asks another service by HTTP.
//
//   auto check = app::http_check({.name = "billing", .url = "https://billing.internal/health"});
//   observability.checks().add(*std::move(check));
//
// Owns       a client, and a small reactor that the check's own thread turns while it asks. Between
//            checks both wait, with the connection if the service keeps it.
// Thread     http_check() any; the check the one that metrics::HealthChecks gives it, which is no
//            reactor of the server.
// Allocates  when made, and when run.
// Fails      http_check() names the mistake in the URL or the options. The check fails with the
//            Error of HttpClient, which begins with method and URL, or with the status.
// Invariant  at most one request at a time, and none while a result is younger than `fresh_for`.
//            It ends within `timeout`, or at once when it is cancelled.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/client/options.hpp"
#include "katana/observe/metrics/health.hpp"

namespace katana::app {

// Which URL the check requests, how long it waits, and how its result counts.
struct HttpCheckOptions {
  std::string name;  // in /ready and in metrics; unique among the checks
  std::string url;   // asked for by GET; a status of 200 to 299 is well
  // Not liveness, unless a restart of this process would help the other one.
  metrics::CheckKind kind = metrics::CheckKind::readiness;
  Duration timeout = seconds(2);    // for all of it: name, connection, TLS, reply, another attempt
  Duration fresh_for = seconds(5);  // a younger result is not asked for again
  client::HttpClientOptions client = {};  // authorities, names, HTTP/2
};

Result<metrics::Check> http_check(HttpCheckOptions options);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
