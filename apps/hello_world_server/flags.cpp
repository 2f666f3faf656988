#include "hello_world_server/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base.hpp"

namespace hello {
namespace {

void describe_tls(CLI::App& app, Flags& flags) {
  flags.tls.describe(app);
  app.add_option("--hsts-s", flags.hsts_s,
                 "seconds for which browsers use HTTPS only (HSTS); 0: no header")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
}

void describe_restart(CLI::App& app, Flags& flags) {
  app.add_option("--restart-spread-s", flags.restart_spread_s,
                 "seconds over which WebSocket clients are asked to reconnect in a zero-downtime "
                 "restart (SIGUSR2)")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--restart-ready-s", flags.restart_ready_s,
                 "seconds the new process may take to start; then the old one keeps serving")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
}

}  // namespace

void describe(CLI::App& app, Flags& flags) {
  const CLI::Validator not_empty(
      [](std::string& text) { return text.empty() ? std::string("must not be empty") : ""; }, "");
  app.add_option("--address", flags.address, "numeric address to listen on")->capture_default_str();
  app.add_option("--host", flags.hosts,
                 "show /metrics and the details of /health and /ready to every client that sends "
                 "this Host (default: to clients of this machine, on a loopback address)")
      ->allow_extra_args(false);
  app.add_option("--port", flags.port, "port to listen on; 0 lets the kernel choose")
      ->envname("HELLO_PORT")
      ->check(not_empty)
      ->check(CLI::Range(0u, 65535u))
      ->capture_default_str();
  app.add_option("--threads", flags.threads,
                 "reactors, one thread each; default: CPUs of the affinity mask")
      ->envname("HELLO_THREADS")
      ->check(CLI::Range(1u, 1024u));
  app.add_option("--engine", flags.engine, katana::server::engine_names())
      ->envname("HELLO_ENGINE")
      ->capture_default_str();
  app.add_flag_callback(
      "--list-engines",
      [] {
        fmt::print("{}", katana::server::list_engines());
        throw CLI::Success();
      },
      "print every engine and whether it runs here, and exit");
  app.add_flag("--kernel-balance", flags.kernel_balance,
               "keep each connection on the reactor that the kernel chose");
  app.add_flag("--pin", flags.pin, "pin each reactor to a CPU");
  app.add_flag("--close-after-each", flags.close_after_each,
               "close every connection after one request");
  app.add_flag("--http2-only", flags.http2_only, "serve HTTP/2 only; default: HTTP/1.1 and HTTP/2");
  app.add_option("--connections-max", flags.connections_max,
                 "most open connections of each reactor")
      ->check(CLI::Range(1u, 1u << 24))
      ->capture_default_str();
  app.add_option("--output-mib", flags.output_mib,
                 "most memory of each reactor for unsent output, in MiB")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  app.add_option("--held-mib", flags.held_mib,
                 "most memory of each reactor for bodies, messages and suspended handlers, in MiB; "
                 "0: 16 KiB for each connection, at least 64 MiB")
      ->check(CLI::Range(0u, 1u << 20))
      ->capture_default_str();
  app.add_option("--drain-s", flags.drain_s, "seconds that requests in flight have after SIGTERM")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  describe_restart(app, flags);
  app.add_option("--access-log", flags.access_log,
                 "file for a record of every request: JSON lines if it ends in .jsonl, binary for "
                 "katana-log if in .bin; - is standard error; default: none")
      ->check(not_empty);
  app.add_option("--websocket-bytes-max", flags.websocket_bytes_max,
                 "most bytes of a message on /ws; a larger one closes the connection")
      ->check(CLI::Range(1u, 1u << 30))
      ->capture_default_str();
  app.add_flag("--websocket-deflate", flags.websocket_deflate,
               "accept compression on /ws (permessage-deflate)");
  app.add_option("--files", flags.files, "folder to serve below /files; default: none")
      ->check(not_empty);
  app.add_flag("--compress", flags.compress,
               "compress files, and decode compressed bodies sent to /upload");
  describe_tls(app, flags);
}

katana::Result<katana::server::HttpServerOptions> server_options(
    const Flags& flags, katana::server::EngineKind engine) {
  using namespace katana;
  server::HttpServerOptions options;
  options.address = flags.address;
  options.port = flags.port;
  options.reactors = flags.threads;
  options.engine = engine;
  if (flags.kernel_balance) options.balance = server::Balance::kernel;
  options.pin = flags.pin;
  options.http.requests_per_connection_max = flags.close_after_each ? 1 : 0;
  if (flags.http2_only) options.versions = server::HttpVersions::http2;
  options.reactor.engine.links_max = flags.connections_max;
  options.reactor.output_blocks_max =
      flags.output_mib * 1024 * 1024 / options.reactor.output_block_bytes;
  options.reactor.output_blocks_reserve = std::min<std::size_t>(
      options.reactor.output_blocks_reserve, options.reactor.output_blocks_max / 8);
  options.reactor.held_bytes_max = flags.held_mib * 1024 * 1024;
  options.http.websocket.limits.message_bytes_max = flags.websocket_bytes_max;
  options.http.websocket.limits.frame_bytes_max = flags.websocket_bytes_max;
  options.http.websocket.limits.fragments_max = 128 * 1024;
  options.http.websocket.deflate.enabled = flags.websocket_deflate;
  options.drain_timeout = nanoseconds(static_cast<std::int64_t>(flags.drain_s * 1e9));
  options.restart.enabled = true;
  options.restart.spread = nanoseconds(static_cast<std::int64_t>(flags.restart_spread_s * 1e9));
  options.restart.ready_timeout =
      nanoseconds(static_cast<std::int64_t>(flags.restart_ready_s * 1e9));
  auto secure = flags.tls.options();
  if (!secure) return std::unexpected(secure.error());
  options.tls = *std::move(secure);
  options.reactor.opening_timeout = flags.tls.handshake_timeout();
  options.hsts = nanoseconds(static_cast<std::int64_t>(flags.hsts_s * 1e9));
  return options;
}

}  // namespace hello

// SPDX-License-Identifier: Apache-2.0
