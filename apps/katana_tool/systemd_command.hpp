// katana add systemd: the units by which systemd runs the program of the project here.
//
//   systemd/NAME.service   its own user, hardened, with watchdog and reload
//   systemd/NAME.socket    its port, held while the program restarts
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      outside of a project, or where one of the files is there: a line that says so.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand to `app`; when it is given, `chosen` is set to its action.
void add_systemd_command(CLI::App& add, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
