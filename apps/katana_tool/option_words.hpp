// What completion and the manual page read from the table of the command line, as --help does.
//
// Owns       nothing.
// Thread     one.
// Allocates  the results.
// Fails      never.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace katana::tool {

// What --help lists, in its order: of an application its subcommands, flags and positionals.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
std::vector<const CLI::Option*> flags_of(const CLI::App& app);
std::vector<const CLI::Option*> positionals_of(const CLI::App& app);

// "FILE" of the value, or empty: none is taken.
std::string value_name(const CLI::Option& option);
// The words of an option that takes one of a set.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
