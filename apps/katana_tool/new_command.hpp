// katana new: writes a project that builds, runs and is tested at once.
//
//   katana new shop --database sqlite --with websocket,openapi,job
//
// Owns       nothing.
// Thread     one.
// Allocates  freely.
// Fails      with one line that names the valid values, and writes nothing: an invalid name, a
//            folder that is not empty, an unknown choice.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "katana_tool/template_text.hpp"

namespace katana::tool {

// The values of all templates of a project: {{name}}, {{namespace}}, {{prefix}}, {{version}}.
TemplateValues values_of_project(const std::string& name);

// Adds the subcommand; when it is given, `chosen` is set to its action.
void add_new_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
