// FilesOptions: options of a folder of files.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "katana/base/values/instant.hpp"

namespace katana {

struct FilesOptions {
  // The file that is served for a folder, such as "index.html"; empty: a folder is 404. With it, a
  // folder without a slash at the end is redirected to the one with a slash.
  std::string index = {};
  // The header Cache-Control; empty: none. With no-cache a client keeps a file and asks each time
  // whether it has changed, which costs no body.
  std::string cache_control = "no-cache";
  // Serves "x.br", "x.zst" or "x.gz" for "x" to a client that accepts the coding. A compressed file
  // that is older than "x" is ignored.
  bool precompressed = true;
  // Serves names that begin with a dot. ".well-known" (RFC 8615) is served in any case.
  bool hidden = false;
  // Media types by extension, without the dot and in lower case, in addition to the known ones.
  std::map<std::string, std::string> types = {};
  // The time for which an open file is used before it is compared with the disk again.
  Duration recheck = seconds(1);
  // The number of files that each reactor keeps open, each in up to four codings.
  std::size_t open_files_max = 256;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
