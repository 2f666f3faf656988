// Reply::file: one file as the reply of a handler. It has the features of a folder of files
// (static_files.hpp): type, ETag and Last-Modified, conditional and Range requests.
//
//   Reply report(const RequestView& request) {
//     return Reply::file(request, "/var/lib/shop/report.pdf", {.download_as = "Bericht März.pdf"});
//   }
//
// A path that the program chooses is opened as it is. For a name that a user sent, use a Folder,
// which is opened once. The kernel then keeps every name beneath it, whatever dots and links it
// has.
//
//   Reply photo(const RequestView& request) {
//     return Reply::file(request, photos, request.parameters()[0].value);
//   }
//
// A coroutine passes `request.view()` of its Request. A coroutine that streams sends the reply with
// `co_await send(writer, Reply::file(…))`.
//
// Owns       a reply its file, which is open until it is sent.
// Borrows    request, path and options for the call.
// Thread     its reactor's. Opening a file may wait for the disk, as reading one may.
// Allocates  from the heap: nothing is kept from one call to the next. For files that are often
//            requested there is Group::files().
// Fails      404 for a name that is missing or is no file, 403 for a file that may not be read, 503
//            without a descriptor. Options that do not fit into a header make the reply invalid().
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/files/open_file.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"

namespace katana {

// How Reply::file() describes the file.
struct FileReplyOptions {
  // Empty: the type follows from the extension of the name.
  std::string content_type = {};
  // The Cache-Control field; empty: none.
  std::string cache_control = "no-cache";
  // Offers the file for saving under this name (RFC 6266) instead of showing it. Empty: a client
  // that can show the file does so.
  std::string download_as = {};
};

namespace detail {

// Returns the file, its parts, or the reply that the conditions of the request ask for.
Reply reply_with_file(const FileReference& file, const http::Head& head, Instant now);
Reply no_such_file();
// Returns the reply for a file that could not be opened.
Reply file_failure(const Error& error);

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
