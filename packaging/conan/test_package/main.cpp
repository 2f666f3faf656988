// Starts a server on a port that the kernel chooses, and ends it.
#include <cstdio>

#include "katana/http.hpp"

using namespace katana;

int main() {
  Router router;
  router.get("/hello/{name}",
             [](Path<std::string> name) { return Reply::text(format_text("Hello, {}!", *name)); });
  const Result<Service> service = std::move(router).build();
  server::HttpServerOptions options;
  options.port = 0;
  options.reactors = 1;
  server::HttpServer server(options, service.value());
  if (const auto started = server.start(); !started) {
    return std::fprintf(stderr, "%s\n", started.error().describe().c_str()), 1;
  }
  std::printf("serves %s\n", server.url().c_str());
  server.shutdown();
  server.run();
}

// SPDX-License-Identifier: Apache-2.0
