// docs_page(): the documents of a service as a page, to read and to try out.
//
//   openapi::docs_page(router, openapi::swagger_ui());   // GET /docs
//
// The renderer's files are a part of the program (openapi/document/swagger_ui). The page loads
// nothing from elsewhere and works without a network. Its Content-Security-Policy allows no inline
// script and no eval. An Application adds the page by its settings `docs`.
//
// Owns       a share of its content.
// Borrows    the files of the renderer: constants of the program.
// Thread     one, while routes are added; the routes any.
// Allocates  at the start, and fields of replies.
// Fails      without files (the program was built without them) the page is 503 and names the
//            package to install.
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
  Bytes remedy = {};                 // without files: how to install them
};

// The place of the page, and its title.
struct DocsPageOptions {
  // Where it is served.
  std::string path = "/docs";
  // The title of the page.
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
