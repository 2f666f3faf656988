#include "katana/http/files/file_cache.hpp"

#include <algorithm>

#include "katana/http/files/file_fields.hpp"
#include "katana/http/files/media_types.hpp"

namespace katana {
namespace {

using http::Coding;

struct Sibling {
  Coding coding;
  const char* suffix;
};
constexpr std::array siblings = {Sibling{Coding::brotli, ".br"}, Sibling{Coding::zstd, ".zst"},
                                 Sibling{Coding::gzip, ".gz"}};

Bytes type_of(const std::string& path, const FilesOptions& options) {
  if (!options.types.empty()) {
    std::string extension(extension_of(path));
    std::ranges::transform(extension, extension.begin(), http::to_lower);
    const auto given = options.types.find(extension);
    if (given != options.types.end()) return given->second;
  }
  return media_type_of(path);
}

}  // namespace

http::Codings FileSet::codings() const noexcept {
  http::Codings all;
  for (std::size_t index = 0; index < files.size(); ++index) {
    if (files[index]) all.insert(static_cast<Coding>(index));
  }
  return all;
}

Result<const FileSet*> FileCache::find(Bytes path, Clock clock) {
  if (const auto known = by_path_.find(path); known != by_path_.end()) {
    const Sets::iterator place = known->second;
    sets_.splice(sets_.begin(), sets_, place);
    if (clock.now < place->checked + options_.recheck) return &*place;
    const auto is_file = refresh(*place, clock);
    if (is_file && *is_file) return &*place;
    forget(place);
    if (!is_file) return std::unexpected(is_file.error());
    return nullptr;
  }
  const auto place = open(path, clock);
  if (!place) return std::unexpected(place.error());
  return *place == sets_.end() ? nullptr : &**place;
}

// Returns end() for a folder.
Result<FileCache::Sets::iterator> FileCache::open(Bytes path, Clock clock) {
  FileSet set;
  set.path = path;
  const auto is_file = refresh(set, clock);
  if (!is_file) return std::unexpected(is_file.error());
  if (!*is_file) return sets_.end();
  if (sets_.size() >= options_.open_files_max) forget(std::prev(sets_.end()));
  sets_.push_front(std::move(set));
  by_path_.emplace(sets_.front().path, sets_.begin());
  return sets_.begin();
}

// Returns false if it is a folder now.
Result<bool> FileCache::refresh(FileSet& set, Clock clock) {
  auto found = folder_.find(set.path.c_str());
  if (!found) return std::unexpected(found.error());
  if (found->kind == Folder::Kind::folder) return false;
  FileReference& plain = set.in(Coding::identity);
  const bool same = plain && plain->identity == found->identity;
  if (!same) {
    plain = FileReference(new OpenFile(std::move(found->descriptor), found->identity));
  }
  open_codings(set, clock);
  set.checked = clock.now;
  for (std::size_t index = 0; index < set.files.size(); ++index) {
    if (set.files[index]) describe(set, static_cast<Coding>(index), clock);
  }
  return true;
}

void FileCache::open_codings(FileSet& set, Clock) {
  if (!options_.precompressed) return;
  for (const Sibling& sibling : siblings) {
    FileReference& file = set.in(sibling.coding);
    auto found = folder_.find((set.path + sibling.suffix).c_str());
    const bool usable = found && found->kind == Folder::Kind::file &&
                        found->identity.modified_ns >= set.plain()->identity.modified_ns;
    if (!usable) {
      file = FileReference();
    } else if (!file || file->identity != found->identity) {
      file = FileReference(new OpenFile(std::move(found->descriptor), found->identity));
    }
  }
}

// Writes the texts that replies contain. Nothing refers to these texts between two calls of find().
void FileCache::describe(FileSet& set, Coding coding, Clock clock) {
  OpenFile& file = *set.in(coding);
  http::Codings only_plain;
  only_plain.insert(Coding::identity);
  describe_file(file,
                {.content_type = type_of(set.path, options_),
                 .cache_control = options_.cache_control,
                 .coding = coding,
                 .varies = set.codings() != only_plain,
                 .hashes = true},
                clock.wall_clock_s);
}

void FileCache::forget(Sets::iterator place) {
  by_path_.erase(place->path);
  sets_.erase(place);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
