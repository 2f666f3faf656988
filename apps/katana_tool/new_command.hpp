// katana new: writes a project that builds, runs and is tested at once.
//
//   katana new shop --database sqlite --with websocket,openapi,job
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      a name that no project can have, a folder that is not empty, a choice that is unknown:
//            one line that says what may be given, and nothing is written.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "katana_tool/template_text.hpp"

namespace katana::tool {

// What every template of a project may name: {{name}}, {{namespace}}, {{prefix}}, {{version}}.
TemplateValues values_of_project(const std::string& name);

// Adds the subcommand; `chosen` is set to what is to be done when it is given.
void add_new_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
