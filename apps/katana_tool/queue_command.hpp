// katana queue: the job queue of a program's database, also while its program does not run.
//
//   katana queue list --database var/shop.db                 each queue: ready, running, dead
//   katana queue show welcome --database … [--state dead]    its jobs, one line of JSON each
//   katana queue retry welcome 42 43 --database …            dead letters wait again; or --all
//   katana queue drop welcome 42 --database …                jobs that do not run are removed
//
// Owns       nothing.
// Thread     one.
// Allocates  freely; of jobs at most 1,000 at a time.
// Fails      a line that names the database, the queue or the job; the status is 1 then, and 2 for
//            wrong usage.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace katana::tool {

// Adds the subcommand to `app`; when it is given, `chosen` is set to its action.
void add_queue_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
