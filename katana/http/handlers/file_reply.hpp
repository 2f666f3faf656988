// Reply::file: one file as the answer of a handler, with what a folder of files has
// (static_files.hpp): type, ETag and Last-Modified, conditional and Range requests.
//
//   Reply report(const RequestView& request) {
//     return Reply::file(request, "/var/lib/shop/report.pdf", {.download_as = "Bericht März.pdf"});
//   }
//
// A path of a program's own is opened as it stands. A name that a user sent goes with a Folder,
// which is opened once: the kernel keeps it beneath, whatever dots and links are in it.
//
//   Reply photo(const RequestView& request) {
//     return Reply::file(request, photos, request.parameters()[0].value);
//   }
//
// A coroutine gives `request.view()` of its Request, and one that streams sends the reply with
// `co_await send(writer, Reply::file(…))`.
//
// Owns       a reply its file, which is open until it is sent.
// Borrows    request, path and options for the call.
// Thread     its reactor's. Opening a file may wait for the disk, as reading one may.
// Allocates  from the heap: nothing is kept from one call to the next. For files that are asked for
//            often there is Group::files().
// Fails      404 for what is not there or is no file, 403 for what may not be read, 503 without a
//            descriptor. Options that no field can have make the reply invalid().
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
  // Empty: by the extension of the name.
  std::string content_type = {};
  // The Cache-Control field; empty: none.
  std::string cache_control = "no-cache";
  // Offers the file to be saved under this name (RFC 6266) instead of being shown; empty: it is
  // shown where the client can.
  std::string download_as = {};
};

namespace detail {

// The file, its parts, or what the conditions of the request ask for instead.
Reply reply_with_file(const FileReference& file, const http::Head& head, Instant now);
Reply no_such_file();
// Why a file could not be opened.
Reply file_failure(const Error& error);

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
