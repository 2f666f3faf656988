// Templates of files: {{name}} is a value; {{#name}}…{{/name}} stays where `name` is one of the
// choices, {{^name}}…{{/name}} where it is not. A line that is nothing but such a mark goes.
//
// Owns       nothing.
// Thread     one.
// Allocates  the result.
// Fails      never: REQUIRES a template whose marks are known and closed, which its test checks.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace katana::tool {

struct TemplateValues {
  std::map<std::string, std::string, std::less<>> values;
  std::set<std::string, std::less<>> choices;
};

std::string fill_template(std::string_view text, const TemplateValues& values);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
