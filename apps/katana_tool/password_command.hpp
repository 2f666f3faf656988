// katana password: the hash of a password, as configuration and tables keep it.
//
//   katana password                                  # asks for it, without showing it
//   printf %s "$PASSWORD" | katana password
//
// Owns       nothing.
// Thread     one.
// Allocates  freely, and the memory of a hash.
// Fails      with status 2 and a line that says what is wrong with the password or the cost.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand to `app`; `chosen` is set to what is to be done when it is given.
void add_password_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
