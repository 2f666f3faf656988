// NewFile: a file that gets its name only once it is complete.
//
//   Result<NewFile> file = NewFile::create(folder, "report.pdf");
//   if (auto added = file->append(piece); !added) …
//   if (auto named = file->publish(Existing::replace); !named) …
//
// The file is written as ".katana-….part" in the folder, and publish() renames it.
//
// Owns       its descriptor, and the file until publish().
// Borrows    the folder.
// Thread     one at a time.
// Allocates  names.
// Fails      invalid_argument: the name is no plain name; already_exists: Existing::refuse, or a
//            folder has the name; resource_exhausted: the disk or a quota is full; otherwise
//            unavailable.
// Invariant  no reader sees part of a file under its name. Without publish() nothing is left. The
//            name leads to no other folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/files/open_file.hpp"

namespace katana {

// The treatment of a file that has the name already.
enum class Existing : std::uint8_t { replace, refuse };

// Returns whether `name` is the name of a file in a folder. A path, ".", "..", a name of more than
// 255 bytes or with control characters, and a name of NewFile's partial files are none.
bool is_file_name(Bytes name) noexcept;

class NewFile {
 public:
  // Creates a file that only the user of the process may read.
  static Result<NewFile> create(const Folder& folder, std::string name);

  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  Result<void> append(Bytes content);  // at the end; the Error names the file
  std::uint64_t size() const noexcept { return size_; }
  // Waits until the content is on the disk. Without it a loss of power may leave an empty file
  // under the name.
  Result<void> sync() const { return sync(file_.get()); }
  // Waits until the name is on the disk. Call it after publish().
  Result<void> sync_name() const { return sync(folder_.get()); }
  // For a thread that may wait, as sync() and sync_name(); `descriptor` is a copy of theirs.
  static Result<void> sync(int descriptor);
  Result<Descriptor> copy_of_file() const { return copy(file_); }
  Result<Descriptor> copy_of_folder() const { return copy(folder_); }

  Result<void> publish(Existing existing);  // gives the file its name; once

 private:
  NewFile(Descriptor folder, Descriptor file, std::string partial, std::string name) noexcept;
  static Result<Descriptor> copy(const Descriptor& of);

  Descriptor folder_;
  Descriptor file_;
  std::string partial_;  // empty: the file is published
  std::string name_;
  std::uint64_t size_ = 0;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
