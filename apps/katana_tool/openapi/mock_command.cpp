// katana openapi mock: a server that answers as a description says.
//
//   katana openapi mock api.yaml --port 4010
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/http/middleware/cors.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/openapi/mock/mock.hpp"
#include "katana_tool/openapi/openapi_command.hpp"
#include "katana_tool/openapi/read_file.hpp"

namespace katana::tool {
namespace {

struct MockFlags {
  std::string file;
  std::string address = "127.0.0.1";
  std::uint16_t port = 4010;
  std::uint64_t seed = 1;
  std::vector<std::string> origins;
  bool takes_any = false;
  bool needs_none = false;
};

constexpr const char* mock_name = "katana openapi mock";

int run_mock(const MockFlags& flags) {
  auto description = read_or_say(mock_name, flags.file);
  if (!description) return 2;
  const std::string title = description->info.title;
  const auto mock =
      openapi::Mock::make(*std::move(description), {.seed = flags.seed,
                                                    .checks_requests = !flags.takes_any,
                                                    .checks_credentials = !flags.needs_none});
  if (!mock) return command_line::fail(mock_name, 2, mock.error().describe());
  Router router;
  if (!flags.origins.empty()) {
    auto shared = cors({.origins = flags.origins, .request_fields = {"*"}});
    if (!shared) return command_line::fail(mock_name, 2, shared.error().describe());
    router.use(*std::move(shared));
  }
  mock->add_to(router);
  const auto service = std::move(router).build();
  if (!service) return command_line::fail(mock_name, 1, service.error().describe());
  server::HttpServer server({.address = flags.address, .port = flags.port, .reactors = 1},
                            *service);
  if (auto started = server.start(); !started) {
    return command_line::fail(mock_name, 1, started.error().describe());
  }
  fmt::print("{}: '{}', {} operations, on {}\n", mock_name, title, mock->operation_count(),
             server.url());
  std::fflush(stdout);
  const auto report = server.run();
  fmt::print("{}: {}\n", mock_name, report.describe());
  return 0;
}

}  // namespace

void add_mock_command(CLI::App& openapi, std::function<int()>& chosen) {
  auto flags = std::make_shared<MockFlags>();
  CLI::App* const mock = openapi.add_subcommand(
      "mock", "Serve the examples of an OpenAPI description, or data made from its schemas.");
  mock->add_option("FILE", flags->file, "description to read")->type_name("FILE")->required();
  mock->add_option("--port", flags->port, "port to listen on; 0 lets the kernel choose")
      ->capture_default_str();
  mock->add_option("--address", flags->address, "numeric address to listen on")
      ->capture_default_str();
  mock->add_option("--seed", flags->seed, "seed of the random data")->capture_default_str();
  mock->add_option("--cors", flags->origins, "origin whose pages may read replies; '*' allows any")
      ->type_name("ORIGIN")
      ->allow_extra_args(false);
  mock->add_flag("--take-anything", flags->takes_any, "do not validate requests");
  mock->add_flag("--no-credentials", flags->needs_none, "accept requests without credentials");
  mock->callback([flags, &chosen] { chosen = [flags] { return run_mock(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
