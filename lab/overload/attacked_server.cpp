// attacked_server: a server of a small reply, plain and with TLS, with limits by client or without:
// what lab/under_attack.py floods.
#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

#include "apps/command_line.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/observability.hpp"

using namespace katana;

int main(int argc, char** argv) {
  std::uint16_t port = 8080;
  bool limited = false;
  CLI::App app("Serve with or without limits by client, for lab/under_attack.py.",
               "attacked_server");
  app.add_option("--port", port, "port on 127.0.0.1; HTTPS is on the next one")
      ->capture_default_str();
  app.add_flag("--limited", limited, "set limits by client");
  if (const auto status = command_line::parse(app, argc, argv)) return *status;

  const auto observability = server::Observability::make();
  if (!observability) return std::puts(observability.error().describe().c_str()), 1;
  const server::OperationsGuard guard({.addresses = {"127.0.0.1"}});
  Router router;
  (*observability)->mount(router, guard);
  router.get("/", [] { return Reply::text("Hello, World!"); });
  const Result<Service> service = std::move(router).build();
  if (!service) return std::puts(service.error().describe().c_str()), 1;
  server::HttpServerOptions options;
  options.port = static_cast<std::uint16_t>(port + 1);
  options.reactors = 1;
  options.tls.emplace().development = true;
  options.listeners = {{.port = port}};
  options.observability = observability->get();
  if (limited) {
    // A thousand clients that have all of it leave the reactor most of its time.
    options.clients.connections_max = 10;
    options.clients.connections_per_s = 1;
    options.clients.connections_burst = 3;
    options.clients.handshakes_max = 1;
    options.clients.requests_max = 10;
    options.clients.received_bytes_per_s = 2048;
    options.clients.received_bytes_burst = 4096;
    options.reactor.openings_per_turn_max = 1;
  }
  server::HttpServer server(options, *service);
  if (auto started = server.start(); !started) {
    return std::puts(started.error().describe().c_str()), 1;
  }
  server.run();
}

// SPDX-License-Identifier: Apache-2.0
