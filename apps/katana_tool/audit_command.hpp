// katana audit verify: finds lines that were changed in an audit log, taken out of it or cut off.
//
//   katana audit verify --key-file audit.key var/audit.jsonl.4711 var/audit.jsonl
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      a line that names file, line, and mistake; the status is 1 then, and 2 for wrong
//            usage.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand to `app`; when it is given, `chosen` is set to its action.
void add_audit_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
