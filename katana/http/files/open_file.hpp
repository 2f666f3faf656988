// Folder and OpenFile: files below one folder, and never one outside of it.
//
// Owns       a Folder its descriptor; an OpenFile its descriptor and the facts about the file at
//            the time of opening.
// Thread     a Folder any; an OpenFile one, which counts the references to it.
// Allocates  an OpenFile from the heap; the file cache (file_cache.hpp) makes that rare.
// Fails      Result with a Code that says whether there is nothing (not_found), it may not be read
//            (permission_denied), or the process has no descriptor left (resource_exhausted).
// Invariant  the kernel resolves every path beneath the folder (openat2 with RESOLVE_BENEATH).
//            Neither "..", nor an absolute path, nor a symbolic link leads out of it, however names
//            change in the meantime.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/memory/retained.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/file_part.hpp"

namespace katana {

// The values that show whether a file is still the same.
struct FileIdentity {
  std::uint64_t device = 0;  // st_dev of stat(2)
  std::uint64_t inode = 0;   // st_ino of stat(2)
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  // Unix time
  std::int64_t changed_ns = 0;   // of the inode: utimes(2) cannot set it back
  bool operator==(const FileIdentity&) const = default;
};

// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const noexcept { return fd_; }  // -1: there is none; the Descriptor still owns it
  // The caller closes it from now on; -1: there was none.
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

class Folder {
 public:
  // Fails also where the kernel has no openat2 (before Linux 5.6, or forbidden by a filter).
  static Result<Folder> open(const std::string& path);

  // Whether a Found is a regular file or a folder.
  enum class Kind : std::uint8_t { file, folder };
  // The descriptor that find() opened, and its facts at the time of opening.
  struct Found {
    Kind kind;              // never a socket, device or FIFO
    Descriptor descriptor;  // open for reading
    FileIdentity identity;  // at the moment of opening
  };
  // Opens a regular file or a folder below this one; everything else is not found. `path` is
  // relative. Symbolic links are followed as long as they stay beneath the folder.
  Result<Found> find(const char* path) const;

  // Removes files that a NewFile of a killed process left behind. Call it before the first NewFile,
  // at the start of a program that alone writes to the folder.
  Result<std::size_t> remove_partial_files() const;

 private:
  friend class NewFile;
  explicit Folder(Descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

// Opens a regular file or a folder wherever `path` leads. The path comes from the program, never
// from a user.
Result<Folder::Found> find_file(const std::string& path);

class OpenFile final : public Retained {
 public:
  OpenFile(Descriptor opened, const FileIdentity& known) noexcept;

  FileIdentity identity;       // at the moment of opening
  std::string entity_tag;      // with quotes; weak while the file may still change unnoticed
  std::string fields;          // of every reply about it: complete lines
  std::string content_fields;  // additional fields of replies with its content
  Bytes content_type;          // of Content-Type; refers to the program's text or to given_type
  std::int64_t described_s = INT64_MAX;  // wall clock, when `fields` was written
  std::string given_type;        // the text of content_type, when the program does not have it
  bool is_strong = false;        // the entity tag
  bool is_date_strong = false;   // the date as well
  std::string content_mark;      // a digest for the tag; empty: none was made
  bool content_settled = false;  // the content cannot have changed since content_mark was made

  // A range for a reply, in bytes. The part shares the file.
  FilePart part(std::uint64_t offset, std::uint64_t size) noexcept { return {this, offset, size}; }
  // Unix time of the last change, rounded down. Never later than described_s (RFC 9110 §8.8.2.1: a
  // date of the future is the present).
  std::int64_t modified_s() const noexcept;
  // Empty: the date is a constant that tells nothing of the content. Reproducible builds set 0 or 1
  // (Nix, Guix, OSTree, container images) or the first date of ZIP archives, in 1980.
  std::optional<std::int64_t> told_modified_s() const noexcept;

 private:
  ~OpenFile();
  static void close(Retained& file) noexcept;
};

// One reference to a file that is open.
class FileReference {
 public:
  FileReference() noexcept = default;
  explicit FileReference(OpenFile* file) noexcept : file_(file) {
    if (file_ != nullptr) file_->retain();
  }
  FileReference(const FileReference& other) noexcept : FileReference(other.file_) {}
  FileReference(FileReference&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  FileReference& operator=(FileReference other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~FileReference() {
    if (file_ != nullptr) file_->let_go();
  }
  OpenFile* operator->() const noexcept { return file_; }
  OpenFile& operator*() const noexcept { return *file_; }
  explicit operator bool() const noexcept { return file_ != nullptr; }

 private:
  OpenFile* file_ = nullptr;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
