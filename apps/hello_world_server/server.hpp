// run(): a whole server program on KATANA: its command line, routes, metrics, certificates and
// drain. hello_world_server and ablation_server add different parts to it.
//
// Thread     the caller's serves the first reactor.
// Fails      by the exit status: 2 for wrong usage, 1 when it cannot start, each with one line on
//            standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "katana/base.hpp"
#include "katana/http.hpp"

namespace hello {

struct Program {
  const char* name;
  // More flags, and their effects; empty: none.
  std::function<void(CLI::App& app)> add_flags = {};
  std::function<katana::Result<void>(katana::server::HttpServerOptions& options)> adjust = {};
};

int run(const Program& program, int count, char** arguments);

}  // namespace hello

// SPDX-License-Identifier: Apache-2.0
