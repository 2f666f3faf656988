// Docs settings: the page that shows the program's OpenAPI documents.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/described.hpp"

namespace katana::app {

// When the page is served.
enum class DocsUse : std::uint8_t {
  development,  // where `development` is true
  on,           // served, also in production
  off,          // not served
};
KATANA_DESCRIBE_ENUM(DocsUse, development, on, off)

// `docs`: of a program whose ApplicationOptions::docs has a renderer.
struct DocsSettings {
  DocsUse enabled = DocsUse::development;
  std::string path = "/docs";
  std::vector<std::string> origins;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
