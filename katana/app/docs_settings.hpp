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
  on,
  off,
};
KATANA_DESCRIBE_ENUM(DocsUse, development, on, off)

// `docs`: of a program whose ApplicationOptions::docs has a renderer.
struct DocsSettings {
  DocsUse enabled = DocsUse::development;
  std::string path = "/docs";
  std::vector<std::string> origins;
};
KATANA_DESCRIBE(DocsSettings,
                (enabled, help("a page to read and try out what is served: in development, "
                               "always (on), or never (off)")),
                (path, pattern("/[a-zA-Z0-9/._~-]+"), length(2, 200), help("where it is served")),
                (origins, length(0, 20), each(pattern("https?://[a-zA-Z0-9.:-]+")),
                 help("other origins that its requests go to, as the servers of the document")))

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
