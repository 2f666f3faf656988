// FilesHandler: files of a folder as a route; see Group::files().
//
// The handler supports conditional requests, ranges, compressed files beside a file, and folders.
//
// A path is decoded once and has no dot segments: the router has removed them. A segment that is
// empty, that has a slash in it, or that is hidden is not found. The kernel keeps every path
// beneath the folder (open_file.hpp).
//
// Owns       the folder, the options, and a FileCache for each thread that serves.
// Thread     any at once.
// Allocates  from the recycler, and from the heap when a file is opened.
// Fails      404 for a file that is missing, 403 for one that may not be read, 503 without a
//            descriptor. A file that becomes shorter while it is sent breaks the connection.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "katana/http/files/file_cache.hpp"
#include "katana/http/files/file_options.hpp"
#include "katana/http/files/open_file.hpp"
#include "katana/http/handlers/handler.hpp"

namespace katana::detail {

class FilesHandler final : public Handler {
 public:
  FilesHandler(Folder folder, FilesOptions options);

  void serve(session::Exchange& exchange, const Route& route,
             const RequestView& request) const override;

 private:
  Reply answer(const RequestView& request, FileCache::Clock clock) const;
  FileCache& cache() const;

  const Folder folder_;
  const FilesOptions options_;
  const std::uint64_t number_;  // of this handler, never used again
  mutable std::mutex mutex_;    // of caches_
  mutable std::vector<std::unique_ptr<FileCache>> caches_;
};

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
