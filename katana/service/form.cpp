#include "katana/service/form.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

namespace katana {
namespace detail {

// Stores what a MultipartReader says.
class FormBuilder {
 public:
  explicit FormBuilder(const FormLimits& limits) noexcept : limits_(limits) {}

  // Nothing: go on. Else why not.
  std::optional<Reply> on_event(http::MultipartEvent event, const http::MultipartReader& reader) {
    using Event = http::MultipartEvent;
    if (event == Event::part) begin(reader.part());
    if (event == Event::content) return append(reader.content());
    if (event == Event::refused) return refusal_of(reader.refusal());
    return std::nullopt;
  }
  Form take() noexcept { return std::move(form_); }
  std::size_t memory() const noexcept { return memory_; }

 private:
  static Reply refusal_of(http::MultipartRefusal refusal) {
    switch (refusal) {
      case http::MultipartRefusal::head_too_large:
        return problem(413, "The head of a part is too large.");
      case http::MultipartRefusal::too_many_parts:
        return problem(413, "The form has too many parts.");
      case http::MultipartRefusal::part_too_large:
        return problem(413, "A part of the form is too large.");
      default: return problem(400, "The content is no multipart/form-data (RFC 7578).");
    }
  }

  void begin(const http::MultipartPart& part) {
    FormPart& made = form_.parts.emplace_back();
    made.name = part.name;
    made.filename = part.filename;
    made.has_filename = part.has_filename;
    made.content_type = part.content_type.empty() ? Bytes("text/plain") : part.content_type;
  }

  std::optional<Reply> append(Bytes content) {
    FormPart& part = form_.parts.back();
    bytes_ += content.size();
    if (bytes_ > limits_.bytes_max) return problem(413, "The form is too large.");
    const bool fits = part.text.size() + content.size() <= limits_.part_memory_bytes_max &&
                      memory_ + content.size() <= limits_.memory_bytes_max;
    if (!part.in_file() && fits) {
      part.text += content;
      memory_ += content.size();
    } else if ((!part.in_file() && !spill(part)) || !write(part, content)) {
      return problem(503, "The form cannot be stored at present.").with("Retry-After", "10");
    }
    part.size += content.size();
    return std::nullopt;
  }

  bool spill(FormPart& part) {
    constexpr int owner_only = 0600;
    part.file = Descriptor(::open(limits_.folder, O_TMPFILE | O_RDWR | O_CLOEXEC, owner_only));
    if (!part.in_file() || !write(part, part.text)) return false;
    memory_ -= part.text.size();
    part.text = {};
    return true;
  }

  static bool write(FormPart& part, Bytes content) {
    while (!content.empty()) {
      const ssize_t count = ::write(part.file.get(), content.data(), content.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      content.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  const FormLimits& limits_;
  Form form_;
  std::uint64_t bytes_ = 0;
  std::size_t memory_ = 0;
};

}  // namespace detail

Result<std::string> FormPart::content() const {
  if (!in_file()) return text;
  std::string all(size, '\0');
  for (std::size_t at = 0; at < all.size();) {
    const ssize_t count =
        ::pread(file.get(), all.data() + at, all.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(Code::data_loss, "a part of a form cannot be read from its file");
    at += static_cast<std::size_t>(count);
  }
  return all;
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
        problem(415, "A form is wanted here: multipart/form-data with a boundary."));
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
    content.note_kept(builder.memory() + carried.capacity());
  }
  if (!reader.ended()) co_return std::unexpected(problem(400, "The form ends too soon."));
  co_return builder.take();
}

Task<void> send(ReplyWriter writer, Reply whole) {
  writer.begin(whole, static_cast<std::int64_t>(whole.content().size()));
  co_await writer.write(whole.content());
}

}  // namespace katana
