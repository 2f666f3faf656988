// Flags: the command line of hello_world_server, and the server's options that it asks for.
//
// Thread     a value.
// Fails      server_options() names the flags that do not go together.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base.hpp"
#include "katana/http.hpp"
#include "tls_flags.hpp"

namespace hello {

struct Flags {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  unsigned threads = katana::usable_cpus();
  std::string engine = "epoll-edge";
  bool kernel_balance = false;
  bool pin = false;
  bool close_after_each = false;
  bool http2_only = false;
  std::uint32_t connections_max = 16 * 1024;
  std::uint64_t output_mib = 256;
  std::uint64_t held_mib = 0;
  double drain_s = 10;
  double restart_spread_s = 5;
  double restart_ready_s = 30;
  std::vector<std::string> hosts;
  std::string access_log;  // empty: none
  std::string files;       // a folder; empty: none
  bool compress = false;
  katana::apps::TlsFlags tls;
  double hsts_s = 0;
  std::uint64_t websocket_bytes_max = 1024 * 1024;
  bool websocket_deflate = false;
};

void describe(CLI::App& app, Flags& flags);
// The options from the flags; the others are the defaults.
katana::Result<katana::server::HttpServerOptions> server_options(const Flags& flags,
                                                                 katana::server::EngineKind engine);

}  // namespace hello

// SPDX-License-Identifier: Apache-2.0
