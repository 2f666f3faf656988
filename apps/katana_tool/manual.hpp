// katana(1): the manual page, in the macros of man(7); what --help lists, and manual/katana.1.in
// around it.
//
// Owns       nothing.
// Thread     one.
// Allocates  the result.
// Fails      never.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace katana::tool {

// The build writes it by `katana --manual`.
std::string manual_page(const CLI::App& app);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
