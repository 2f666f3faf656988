// katana password: the argon2id hash of a password, as configurations and tables keep it.
//
//   katana password                    asks for it, twice, without showing it
//   katana password <password.txt      reads it from a line
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      a line that says why; the status is 1 then, and 2 for wrong usage.
// Invariant  a password is never an argument, which every user of the machine could see.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand to `app`; when it is given, `chosen` is set to its action.
void add_password_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
