#include "katana_tool/openapi/openapi_command.hpp"

namespace katana::tool {

void add_openapi_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* const openapi =
      app.add_subcommand("openapi", "Check, compare, print and use OpenAPI descriptions.");
  openapi->require_subcommand(1);
  add_diff_command(*openapi, chosen);
  add_dump_command(*openapi, chosen);
  add_generate_command(*openapi, chosen);
  add_lint_command(*openapi, chosen);
  add_mock_command(*openapi, chosen);
  add_requests_command(*openapi, chosen);
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
