// Forms: multipart/form-data, read part by part into memory, and above a limit into one unnamed
// file.
//
//   Task<void> upload(Request request, ContentReader content, ReplyWriter reply) {
//     FormResult form = co_await read_form(request, content);
//     Reply answer = form ? Reply::text(format_text("{} parts", form->parts.size()))
//                         : std::move(form.error());
//     co_await send(reply, answer);
//   }
//
// Owns       a part its text, or a range of its form's file. That file has no name. All parts share
//            it, and it is deleted with the last of them, which may outlive the form.
// Thread     its reactor's. A file is written on it: to the page cache, at a few GB/s.
// Allocates  from the heap: at most FormLimits::memory_bytes_max and the memory of one head.
// Fails      a Reply with the reason: 415 for another type, 400 for malformed content, 413 beyond a
//            limit. 503 when no file can be written, or when too many forms have one.
// Invariant  memory is bounded, whatever is uploaded; the content is read as fast as it is stored.
//            A form holds one descriptor at most, however many parts it has.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/files/open_file.hpp"
#include "katana/http/forms/form_limits.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/http/handlers/streaming.hpp"
#include "katana/wire/http/multipart.hpp"

namespace katana {

class Folder;
struct SavedFile;  // http/handlers/save_content.hpp
struct SaveOptions;

// The file of one form, counted over the process while it is open. Parts read it by offset (pread),
// so readers on any thread do not disturb each other.
class SpillFile {
 public:
  // Fails with resource_exhausted when forms have as many open files as `limits` allows.
  static Result<std::shared_ptr<SpillFile>> create(const FormLimits& limits);
  // Sets the limit of the process for forms without their own limit: http.form_files_max.
  static void set_files_max(std::size_t files) noexcept;
  static std::size_t files_max() noexcept;
  // Files that forms of this process have open.
  static std::size_t count_open() noexcept;

  SpillFile(SpillFile&&) = delete;
  ~SpillFile();

  // False: the file could not be written, for example because the disk is full.
  bool append(Bytes content) noexcept;
  std::uint64_t size() const noexcept { return size_; }
  // Fills `into` from `offset`; false when that much cannot be read.
  bool read(std::uint64_t offset, std::span<char> into) const noexcept;
  // For sendfile and the like. The file still owns it, and its position means nothing.
  int descriptor() const noexcept { return file_.get(); }

 private:
  SpillFile() noexcept;

  Descriptor file_;
  std::uint64_t size_ = 0;
};

// One field of a form, or one file.
struct FormPart {
  std::string name;           // of the form control; not unique: a form may repeat it
  std::string filename;       // as the client says it; never a path to write to
  bool has_filename = false;  // also true if filename is empty: a file control without a choice
  std::string content_type;   // as the client says it; empty: the part has no Content-Type
  std::uint64_t size = 0;
  std::string text;                 // empty when it is in a file
  std::shared_ptr<SpillFile> file;  // the file of the form, if the part is a range of it; null if
                                    // the part is in `text`
  std::uint64_t file_offset = 0;    // where its `size` bytes begin

  // Whether content() reads the file; false: it is in `text`.
  bool in_file() const noexcept { return file != nullptr; }
  // Returns the content from memory or the file. An Error: the file cannot be read.
  Result<std::string> content() const;
  // Stores the part as a file of the folder, as ContentReader::save_to() does, but at once and on
  // this thread. `options.pool` is not used.
  std::expected<SavedFile, Reply> save_to(const Folder& folder, std::string as) const;
  std::expected<SavedFile, Reply> save_to(const Folder& folder, std::string as,
                                          const SaveOptions& options) const;
};

// A whole form.
struct Form {
  std::vector<FormPart> parts;  // in the order of the request
  // The first part of that name; null: there is none.
  const FormPart* find(Bytes name) const noexcept;
};

// The form, or the reply that rejects it.
using FormResult = std::expected<Form, Reply>;

// Reads the whole body.
Task<FormResult> read_form(Request request, ContentReader content,
                           FormLimits limits = FormLimits::defaults());

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
