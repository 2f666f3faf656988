// Embedding: runs an Application inside of another process, for tests (testing/application). It
// takes the place of the resources that a program has from its own process.
//
// An Application that is started with one leaves the process alone:
//
//   - no signal is blocked or handled
//   - no environment, configuration file, service manager or umask is read or changed
//   - no socket is opened, and only threads that the program itself asks for are started
//   - it has one reactor, which the embedding makes and turns
//   - certificates are not read: its listeners speak plaintext
//   - upstreams of the settings `monitor` are not checked
//
// Owns       functions.
// Borrows    the objects that they refer to, until the application has stopped.
// Thread     one: the one that starts, turns and stops.
// Allocates  as functions do.
// Fails      with the errors of its functions, which start() of the application returns.
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
  // The reactor's time, for code without a reactor: health checks.
  std::function<Instant()> clock = {};
  // Instead of the program's drivers, which it may ask; null: they open it.
  std::function<Result<database::Database>(const DatabaseDrivers&, const DatabaseSettings&,
                                           std::vector<database::Migration>)>
      open_database = {};
  // Called after the program has registered its services: may override them.
  std::function<Result<void>(registry::Registry&)> add_services = {};
  // The Redis and the bus of the settings are there, on the network of the reactor. Otherwise the
  // program keeps in its memory what would be there.
  bool has_redis = false;
  bool has_bus = false;
  // The log's only outputs. Records are written by the thread that logs.
  std::vector<log::SinkOptions> sinks = {};
  // Called for each failure, before the program's own on_error.
  server::OnError on_failure = {};
  std::uint64_t seed = 1;  // of the program's random numbers: the jitter of jobs
};

// Sets those options of a server that the embedding decides.
void embed(server::HttpServerOptions& options, const Embedding& embedding);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
