// FilesOptions: how the files of a folder are served.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "katana/base/values/instant.hpp"

namespace katana {

struct FilesOptions {
  // What is served for a folder, as in "index.html"; empty: nothing, a folder is not found. Then a
  // folder without a slash at the end is redirected to the one with it.
  std::string index = {};
  // The Cache-Control field; empty: none. no-cache lets a client keep a file and ask each time
  // whether it is still the same, which costs it no content.
  std::string cache_control = "no-cache";
  // Serve "x.br", "x.zst" or "x.gz" for "x" to a client that accepts the coding. One that is older
  // than "x" is passed over.
  bool precompressed = true;
  // Serve names that begin with a dot. ".well-known" (RFC 8615) is served anyway.
  bool hidden = false;
  // Media types by extension, without the dot and in small letters, beside those that are known.
  std::map<std::string, std::string> types = {};
  // How long a file that is open is taken to be what it was.
  Duration recheck = seconds(1);
  // Files that each reactor keeps open, each in up to four codings.
  std::size_t open_files_max = 256;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
