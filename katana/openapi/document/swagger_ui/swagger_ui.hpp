// swagger_ui(): the files of Swagger UI (Apache-2.0), in the program, for docs_page().
//
// They are not in the repository: cmake/swagger_ui.cmake finds them where tools/setup put them, or
// in the folder KATANA_SWAGGER_UI. Without them the program builds, too, and the page says how to
// install them.
//
// Owns       the files: 0.5 MiB of the program.
// Thread     any.
// Allocates  the list of names.
// Fails      never.
#pragma once

#include "katana/openapi/document/docs_page.hpp"

namespace katana::openapi {

DocsAssets swagger_ui();

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
