// katana openapi …: documents of the OpenAPI kind, of a program, or as files.
//
// Owns       the commands' flags, for as long as `chosen` lives.
// Thread     one.
// Allocates  freely.
// Fails      a line on standard error, and status 1 or 2.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

void add_openapi_commands(CLI::App& app, std::function<int()>& chosen);

// Each has its own file, and is added to `openapi`.
void add_diff_command(CLI::App& openapi, std::function<int()>& chosen);
void add_dump_command(CLI::App& openapi, std::function<int()>& chosen);
void add_generate_command(CLI::App& openapi, std::function<int()>& chosen);
void add_lint_command(CLI::App& openapi, std::function<int()>& chosen);
void add_mock_command(CLI::App& openapi, std::function<int()>& chosen);
void add_requests_command(CLI::App& openapi, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
