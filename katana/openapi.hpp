// OpenAPI: the document of a router, and a page that shows it.
//
// Links      openapi/document openapi/document/swagger_ui
#pragma once

#include "katana/openapi/document/openapi.hpp"
#include "katana/openapi/document/swagger_ui/swagger_ui.hpp"

// SPDX-License-Identifier: Apache-2.0
