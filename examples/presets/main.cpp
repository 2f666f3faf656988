// hello [PORT]
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "service.hpp"

int main(int count, char** arguments) {
  const auto service = make_service();
  if (!service) return std::fprintf(stderr, "%s\n", service.error().describe().c_str()), 1;
  katana::server::HttpServerOptions options;
  options.port = static_cast<std::uint16_t>(count > 1 ? std::atoi(arguments[1]) : 8080);
  katana::server::HttpServer server(options, service.value());
  if (const auto started = server.start(); !started) {
    return std::fprintf(stderr, "%s\n", started.error().describe().c_str()), 1;
  }
  server.run();
}

// SPDX-License-Identifier: Apache-2.0
