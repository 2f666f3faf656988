// katana add: more of what `katana new` has written.
//
//   katana add route GET /items/{id}       a handler, and its line among the routes
//   katana add job purge --every 10m       a coroutine, and its line among the jobs
//   katana add migration create_items      migrations/0002_create_items.sql
//
// Lines go above the marks `// katana: handlers`, `// katana: routes` and `// katana: jobs`.
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      with one line, and writes nothing. Errors are a file without its mark, a handler or
//            migration of the same name, and a path that no route can have.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_add_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
