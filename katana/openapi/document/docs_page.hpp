// docs_page(): the documents of a service as a page, to read and to try out.
//
//   openapi::docs_page(router, openapi::swagger_ui());   // GET /docs
//
// The renderer's files are a part of the program (openapi/document/swagger_ui): the page loads
// nothing from elsewhere, works without a network, and its Content-Security-Policy allows no inline
// script and no eval. An Application does this by its settings `docs`.
//
// Owns       a share of its content.
// Borrows    the files of the renderer: constants of the program.
// Thread     one, while routes are added; the routes any.
// Allocates  at the start, and fields of replies.
// Fails      without files (the program was built without them) the page is 503 and says what to
//            install.
// Invariant  a file is served under a path with its version and is immutable there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana::openapi {

// One file of a renderer, in gzip.
struct DocsFile {
  Bytes name = {};     // "swagger-ui.css"
  Bytes content = {};  // compressed
};

// Those of Swagger UI, by their names in swagger-ui-dist.
struct DocsAssets {
  Bytes version = {};                // of swagger-ui-dist; part of the URLs
  std::vector<DocsFile> files = {};  // empty: they are not installed
  Bytes remedy = {};                 // without files: what to install
};

// Where the page is, and what it is called.
struct DocsPageOptions {
  // Where it is served.
  std::string path = "/docs";
  // What people call it.
  std::string title = "API";
  // Other origins that requests of the page go to, as servers of the documents are:
  // "https://api.shop.example".
  std::vector<std::string> origins = {};
};

// The page at the path, its files below, and where an OAuth 2 server sends browsers back to
// (PATH/oauth2-redirect.html). It shows every document of the service that has a path, the first
// one first, as they are when the router is built.
void docs_page(Group group, const DocsAssets& assets, const DocsPageOptions& options = {});

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
