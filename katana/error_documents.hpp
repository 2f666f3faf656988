// The form of all error documents: HTML pages for browsers, or your own.
//
//   router.error_documents(katana::html_error_pages());
//
// Links      http/handlers
#pragma once

#include "katana/http/handlers/error_documents.hpp"

// SPDX-License-Identifier: Apache-2.0
