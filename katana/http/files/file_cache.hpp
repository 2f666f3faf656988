// FileCache: open files of a folder, with the header fields that all replies about them share.
//
// Owns       one reference to each of its files; a reply that is being sent has its own.
// Borrows    the Folder and the options.
// Thread     one: each thread that serves has a cache.
// Allocates  when a file is opened; finding one that is open allocates nothing.
// Fails      as Folder::find().
// Invariant  its facts about a file were true at most `recheck` ago. A file that has changed since
//            is opened anew. Replies that are being sent finish with the old one.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/files/file_options.hpp"
#include "katana/http/files/open_file.hpp"
#include "katana/wire/http/content_coding.hpp"

namespace katana {

// A file in all content codings that the folder has of it.
struct FileSet {
  std::string path;                                     // relative to the folder
  std::array<FileReference, http::coding_count> files;  // by coding; empty: there is no such file
  Instant checked;  // when the files were last compared with the disk

  // Empty: there is none in this coding.
  const FileReference& in(http::Coding coding) const noexcept {
    return files[static_cast<std::size_t>(coding)];
  }
  // The same reference, for changes.
  FileReference& in(http::Coding coding) noexcept {
    return files[static_cast<std::size_t>(coding)];
  }
  // The file without a coding.
  const FileReference& plain() const noexcept { return in(http::Coding::identity); }
  http::Codings codings() const noexcept;  // those that have a file
};

class FileCache {
 public:
  FileCache(const Folder& folder, const FilesOptions& options) noexcept
      : folder_(folder), options_(options) {}
  FileCache(const FileCache&) = delete;

  // The time at the call, by both clocks.
  struct Clock {
    Instant now;                // monotonic; decides when to look at the disk again
    std::int64_t wall_clock_s;  // Unix time; decides whether a date is a strong validator
  };
  // Null: the path is a folder. The set is valid until the next call.
  Result<const FileSet*> find(Bytes path, Clock clock);
  std::size_t size() const noexcept { return sets_.size(); }

 private:
  using Sets = std::list<FileSet>;

  Result<Sets::iterator> open(Bytes path, Clock clock);
  Result<bool> refresh(FileSet& set, Clock clock);
  void open_codings(FileSet& set, Clock clock);
  void describe(FileSet& set, http::Coding coding, Clock clock);
  void forget(Sets::iterator place);

  const Folder& folder_;
  const FilesOptions& options_;
  Sets sets_;  // used last comes first
  std::unordered_map<std::string_view, Sets::iterator> by_path_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
