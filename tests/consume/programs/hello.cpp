// hello PORT: the smallest server, as a program outside of the tree has it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "katana/http.hpp"

using namespace katana;

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("usage: hello PORT\n", stderr), 2;
  Router router;
  router.get("/hello/{name}",
             [](Path<std::string> name) { return Reply::text(format_text("Hello, {}!", *name)); });
  const Result<Service> service = std::move(router).build();
  if (!service) return std::fprintf(stderr, "%s\n", service.error().describe().c_str()), 1;
  server::HttpServerOptions options;
  options.port = static_cast<std::uint16_t>(std::atoi(arguments[1]));
  options.reactors = 1;
  server::HttpServer server(options, service.value());
  if (const auto started = server.start(); !started) {
    return std::fprintf(stderr, "%s\n", started.error().describe().c_str()), 1;
  }
  server.run();
}

// SPDX-License-Identifier: Apache-2.0
