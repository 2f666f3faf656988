// Uploads as files: ContentReader::save_to() and FormPart::save_to() with their options.
//
//   const auto saved = co_await content.save_to(folder, *name);
//
// Links      http/handlers
#pragma once

#include "katana/http/handlers/save_content.hpp"

// SPDX-License-Identifier: Apache-2.0
