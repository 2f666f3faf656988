// Embedding: what a process that runs an Application inside of it puts in the place of what a
// program has of its process: for tests (testing/application).
//
// An Application that is started with one leaves the process alone: no signal is blocked or
// handled, no environment, configuration file, service manager or umask is looked at or changed,
// no socket is opened, and no thread is started beyond those that the program asks for itself. It
// has one reactor, which the embedding makes and turns; certificates are not read, so its listeners
// speak plaintext; upstreams of the settings `monitor` are not checked.
//
// Owns       functions.
// Borrows    what they refer to, until the application has stopped.
// Thread     one: the one that starts, turns and stops.
// Allocates  as functions do.
// Fails      by what the functions return, as start() of the application does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "katana/app/database_driver.hpp"
#include "katana/base/registry/registry.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/server/failure_log.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/observe/log/sink.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::app {

struct Embedding {
  // Makes the one reactor. It is turned by the embedding, from start() until it has stopped.
  server::ReactorMaker make_reactor = nullptr;
  // The reactor's time, for what has no reactor: health checks.
  std::function<Instant()> clock = {};
  // Instead of the program's drivers, which it may ask; null: they open it.
  std::function<Result<database::Database>(const DatabaseDrivers&, const DatabaseSettings&,
                                           std::vector<database::Migration>)>
      open_database = {};
  // Behind what the program registers: overrides.
  std::function<Result<void>(registry::Registry&)> add_services = {};
  // The log's only outputs. Records are written by the thread that logs.
  std::vector<log::SinkOptions> sinks = {};
  // Of each failure, before the program's own on_error.
  server::OnError on_failure = {};
  std::uint64_t seed = 1;  // of what the program draws by chance: the jitter of jobs
};

// What of a server's options an embedding decides.
void embed(server::HttpServerOptions& options, const Embedding& embedding);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
