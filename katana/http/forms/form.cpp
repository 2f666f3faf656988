#include "katana/http/forms/form.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

#include "katana/base/system/propagate.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/save_content.hpp"

namespace katana {
namespace detail {

// Stores the events of a MultipartReader.
class FormBuilder {
 public:
  explicit FormBuilder(const FormLimits& limits) noexcept : limits_(limits) {}

  // Returns nothing to continue, otherwise the refusal.
  std::optional<Reply> on_event(http::MultipartEvent event, const http::MultipartReader& reader) {
    using Event = http::MultipartEvent;
    if (event == Event::part) begin(reader.part());
    if (event == Event::content) return append(reader.content());
    if (event == Event::refused) return refusal_of(reader.refusal());
    return std::nullopt;
  }
  Form take() noexcept { return std::move(form_); }
  // The bytes that the form takes: contents, and heads by their capacity. A few bytes of a client
  // can make a head that takes a hundred times as much.
  std::size_t kept_bytes() const noexcept {
    std::size_t bytes = memory_ + heads_ + form_.parts.capacity() * sizeof(FormPart);
    if (!form_.parts.empty()) bytes += form_.parts.back().text.capacity();
    return bytes;
  }

 private:
  static Reply refusal_of(http::MultipartRefusal refusal) {
    switch (refusal) {
      case http::MultipartRefusal::head_too_large:
        return problem(problem_types::content_too_large, "The head of a part is too large.");
      case http::MultipartRefusal::too_many_parts:
        return problem(problem_types::content_too_large, "The form has too many parts.");
      case http::MultipartRefusal::part_too_large:
        return problem(problem_types::content_too_large, "A part of the form is too large.");
      default:
        return problem(problem_types::malformed_body,
                       "The content is no multipart/form-data (RFC 7578).");
    }
  }

  void begin(const http::MultipartPart& part) {
    if (!form_.parts.empty()) form_.parts.back().text.shrink_to_fit();
    FormPart& made = form_.parts.emplace_back();
    made.name = part.name;
    made.filename = part.filename;
    made.has_filename = part.has_filename;
    made.content_type = part.content_type.empty() ? Bytes("text/plain") : part.content_type;
    heads_ += made.name.capacity() + made.filename.capacity() + made.content_type.capacity();
  }

  std::optional<Reply> append(Bytes content) {
    FormPart& part = form_.parts.back();
    bytes_ += content.size();
    if (bytes_ > limits_.bytes_max)
      return problem(problem_types::content_too_large, "The form is too large.");
    const bool fits = part.text.size() + content.size() <= limits_.part_memory_bytes_max &&
                      memory_ + content.size() <= limits_.memory_bytes_max;
    if (!part.in_file() && fits) {
      part.text += content;
      memory_ += content.size();
    } else if ((!part.in_file() && !spill(part)) || !part.file->append(content)) {
      return problem(problem_types::unavailable, "The form cannot be stored at present.")
          .with("Retry-After", "10");
    }
    part.size += content.size();
    return std::nullopt;
  }

  // Moves the current part to the end of the form's file. Parts come one after another, and the
  // content of one stays together.
  bool spill(FormPart& part) {
    if (file_ == nullptr) {
      auto made = SpillFile::create(limits_);
      if (!made) return false;
      file_ = *std::move(made);
    }
    part.file_offset = file_->size();
    if (!file_->append(part.text)) return false;
    part.file = file_;
    memory_ -= part.text.size();
    part.text = {};
    return true;
  }

  const FormLimits& limits_;
  Form form_;
  std::shared_ptr<SpillFile> file_;  // null until a part does not fit into memory
  std::uint64_t bytes_ = 0;
  std::size_t memory_ = 0;  // of contents
  std::size_t heads_ = 0;
};

}  // namespace detail

namespace {

// Relaxed: only a count, which orders nothing else.
std::atomic<std::size_t> files_open = 0;
std::atomic<std::size_t> files_open_max = 256;

std::size_t allowed_files(const FormLimits& limits) noexcept {
  const std::size_t most = limits.files_max != 0 ? limits.files_max : SpillFile::files_max();
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return most;
  return std::min<std::size_t>(most, descriptors.rlim_cur / 4);
}

}  // namespace

SpillFile::SpillFile() noexcept { files_open.fetch_add(1, std::memory_order_relaxed); }
SpillFile::~SpillFile() { files_open.fetch_sub(1, std::memory_order_relaxed); }

std::size_t SpillFile::count_open() noexcept { return files_open.load(std::memory_order_relaxed); }

void SpillFile::set_files_max(std::size_t files) noexcept {
  files_open_max.store(files, std::memory_order_relaxed);
}
std::size_t SpillFile::files_max() noexcept {
  return files_open_max.load(std::memory_order_relaxed);
}

namespace {

FormLimits& form_defaults() noexcept {
  static FormLimits limits;
  return limits;
}

}  // namespace

const FormLimits& FormLimits::defaults() noexcept { return form_defaults(); }

void FormLimits::set_defaults(FormLimits limits) { form_defaults() = std::move(limits); }

Result<std::shared_ptr<SpillFile>> SpillFile::create(const FormLimits& limits) {
  std::shared_ptr<SpillFile> made(new SpillFile);
  // Counts first, then compares: two threads cannot both take the last file.
  if (count_open() > allowed_files(limits)) {
    return fail(Code::resource_exhausted,
                "the limit of open files for forms (http.form_files_max) is reached");
  }
  constexpr int owner_only = 0600;
  made->file_ =
      Descriptor(::open(limits.folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, owner_only));
  if (made->file_.get() < 0) {
    return fail(Code::unavailable, "cannot create a temporary file for a form in its folder");
  }
  return made;
}

bool SpillFile::append(Bytes content) noexcept {
  while (!content.empty()) {
    const ssize_t count =
        ::pwrite(file_.get(), content.data(), content.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    size_ += static_cast<std::size_t>(count);
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool SpillFile::read(std::uint64_t offset, std::span<char> into) const noexcept {
  while (!into.empty()) {
    const ssize_t count =
        ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    offset += static_cast<std::size_t>(count);
    into = into.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

Result<std::string> FormPart::content() const {
  if (!in_file()) return text;
  std::string all(size, '\0');
  if (!file->read(file_offset, all)) {
    return fail(Code::data_loss, "cannot read a part of a form from its temporary file");
  }
  return all;
}

SaveResult FormPart::save_to(const Folder& folder, std::string as) const {
  return save_to(folder, std::move(as), {});
}

SaveResult FormPart::save_to(const Folder& folder, std::string as,
                             const SaveOptions& options) const {
  if (options.bytes_max && size > *options.bytes_max) {
    return std::unexpected(detail::save_too_large(*options.bytes_max));
  }
  const auto store = [&]() -> Result<void> {
    KATANA_TRY(NewFile created, NewFile::create(folder, as));
    KATANA_TRY_DONE(created.append(text));
    std::string piece;
    for (std::uint64_t at = 0; in_file() && at < size; at += piece.size()) {
      piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size - at, 64 * 1024)));
      if (!file->read(file_offset + at, piece)) {
        return fail(Code::data_loss, "cannot read a part of a form from its temporary file");
      }
      KATANA_TRY_DONE(created.append(piece));
    }
    if (options.sync) {
      KATANA_TRY_DONE(created.sync());
    }
    KATANA_TRY_DONE(created.publish(options.existing));
    if (options.sync) {
      KATANA_TRY_DONE(created.sync_name());
    }
    return {};
  };
  if (auto stored = store(); !stored) return std::unexpected(detail::reply_of_save(stored.error()));
  return SavedFile{.name = std::move(as), .size = size};
}

const FormPart* Form::find(Bytes name) const noexcept {
  for (const FormPart& part : parts) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

Task<FormResult> read_form(Request request, ContentReader content, FormLimits limits) {
  const Bytes type = request.field("content-type").value_or("");
  const auto boundary = http::MultipartReader::boundary_of(type);
  if (!boundary) {
    co_return std::unexpected(
        problem(problem_types::unsupported_media_type,
                "A form is wanted here: multipart/form-data with a boundary."));
  }
  http::MultipartReader reader(*boundary, limits.part);
  detail::FormBuilder builder(limits);
  Text carried;
  for (;;) {
    Text piece = co_await content.read();
    if (piece.empty()) break;
    carried.append(piece.bytes());
    Bytes input = carried.bytes();
    for (bool more = true; more;) {
      const auto step = reader.next(input);
      std::optional<Reply> refused = builder.on_event(step.event, reader);
      if (refused) co_return std::unexpected(*std::move(refused));
      input.remove_prefix(step.consumed);
      more =
          !input.empty() && (step.event != http::MultipartEvent::need_bytes || step.consumed > 0);
    }
    Text rest(input);
    carried = std::move(rest);
    content.note_kept(builder.kept_bytes() + carried.capacity());
  }
  if (!reader.ended())
    co_return std::unexpected(problem(problem_types::malformed_body, "The form ends too soon."));
  content.note_kept(builder.kept_bytes());  // until the handler ends
  co_return builder.take();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
