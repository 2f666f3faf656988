#include "katana/http/handlers/file_reply.hpp"

#include <ctime>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/http/files/file_fields.hpp"
#include "katana/http/files/media_types.hpp"
#include "katana/http/handlers/content_disposition.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/wire/http/conditional.hpp"
#include "katana/wire/http/range.hpp"

namespace katana::detail {
namespace {

class WholeFile final : public ContentSource {
 public:
  WholeFile(FileReference file, http::ByteRange range) noexcept
      : file_(std::move(file)), part_(file_->part(range.first, range.size)) {}
  bool produce(ContentSink& sink) override { return sink.write_file(part_); }

 private:
  FileReference file_;
  FilePart part_;
};

// multipart/byteranges, RFC 9110 §14.6.
class SeveralRanges final : public ContentSource {
 public:
  SeveralRanges(FileReference file, std::span<const http::ByteRange> ranges, Bytes boundary)
      : file_(std::move(file)) {
    const std::uint64_t size = file_->identity.size;
    for (const http::ByteRange& range : ranges) {
      pieces_.push_back(
          {format_text("\r\n--{}\r\nContent-Type: {}\r\nContent-Range: bytes "
                       "{}-{}/{}\r\n\r\n",
                       boundary, file_->content_type, range.first, range.last(), size),
           file_->part(range.first, range.size)});
    }
    pieces_.push_back({format_text("\r\n--{}--\r\n", boundary), FilePart{}});
    for (const Piece& piece : pieces_) length_ += piece.head.size() + piece.part.size;
  }
  std::uint64_t length() const noexcept { return length_; }

  bool produce(ContentSink& sink) override {
    for (; next_ < pieces_.size(); ++next_, head_sent_ = false) {
      Piece& piece = pieces_[next_];
      if (!head_sent_ && !sink.write(piece.head.bytes())) return false;
      head_sent_ = true;
      if (!sink.write_file(piece.part)) return false;
    }
    return true;
  }

 private:
  struct Piece {
    Text head;
    FilePart part;
  };
  FileReference file_;
  std::vector<Piece> pieces_;
  std::uint64_t length_ = 0;
  std::size_t next_ = 0;
  bool head_sent_ = false;
};

// The file contains the boundary only by a chance that an attacker cannot raise: it depends on the
// nanosecond.
Text make_boundary(const OpenFile& file, Instant now) {
  const std::size_t hash = std::hash<std::string>()(file.entity_tag);
  const auto moment = static_cast<std::uint64_t>(now.ns) * 0x9e37'79b9'7f4a'7c15U;
  return format_text("katana-{:016x}{:016x}", hash, moment);
}

Reply with_content(unsigned status, const FileReference& file, std::int64_t length,
                   std::unique_ptr<ContentSource> source) {
  Reply reply(status);
  PreparedReply::refer_content_type(reply, file->content_type);
  PreparedReply::append_fields(reply, file->fields);
  PreparedReply::append_fields(reply, file->content_fields);
  PreparedReply::set_source(reply, length, std::move(source));
  return reply;
}

Reply whole(const FileReference& file) {
  const std::uint64_t size = file->identity.size;
  return with_content(200, file, static_cast<std::int64_t>(size),
                      std::make_unique<WholeFile>(file, http::ByteRange{0, size}));
}

Reply partial(const FileReference& file, std::span<const http::ByteRange> ranges, Instant now) {
  if (ranges.size() == 1) {
    const http::ByteRange range = ranges[0];
    Reply reply = with_content(206, file, static_cast<std::int64_t>(range.size),
                               std::make_unique<WholeFile>(file, range));
    PreparedReply::append_fields(reply, format_text("Content-Range: bytes {}-{}/{}\r\n",
                                                    range.first, range.last(), file->identity.size)
                                            .bytes());
    return reply;
  }
  const Text boundary = make_boundary(*file, now);
  auto source = std::make_unique<SeveralRanges>(file, ranges, boundary.bytes());
  const auto length = static_cast<std::int64_t>(source->length());
  Reply reply = with_content(206, file, length, std::move(source));
  reply.set_content_type(
      format_text("multipart/byteranges; boundary={}", boundary.bytes()).bytes());
  return reply;
}

Reply opened_later(const Error& error) {
  Reply reply = problem(problem_types::unavailable, "The file cannot be opened at present.");
  reply.add_field("Retry-After", "1");
  detail::PreparedReply::set_cause(reply, error);
  return reply;
}

struct Clock {
  Instant now;
  std::int64_t wall_clock_s;
};

Clock clock_here() noexcept {
  const net::Reactor* const reactor = net::Reactor::current();
  if (reactor != nullptr) return {reactor->now(), reactor->wall_clock_s()};
  return {monotonic_now(), std::time(nullptr)};  // a test calls the handler
}

// Returns a reply with the fields of the options; it is invalid if an option is.
Reply with_given_fields(const FileReplyOptions& options) {
  Reply reply;
  if (!options.content_type.empty()) reply.set_content_type(options.content_type);
  if (!options.cache_control.empty()) reply.add_field("Cache-Control", options.cache_control);
  if (!options.download_as.empty()) {
    reply.add_field("Content-Disposition",
                    content_disposition("attachment", options.download_as).bytes());
  }
  return reply;
}

Reply answer_file(Result<Folder::Found> found, const RequestView& request, Bytes name,
                  const FileReplyOptions& options) {
  if (!found) return file_failure(found.error());
  if (found->kind == Folder::Kind::folder) return no_such_file();
  Reply given = with_given_fields(options);
  if (given.invalid()) return given;
  const FileReference file(new OpenFile(std::move(found->descriptor), found->identity));
  const Clock clock = clock_here();
  file->given_type = options.content_type;
  describe_file(
      *file,
      {.content_type = file->given_type.empty() ? media_type_of(name) : Bytes(file->given_type),
       .cache_control = options.cache_control},
      clock.wall_clock_s);
  if (!options.download_as.empty()) {
    file->content_fields += "Content-Disposition: ";
    file->content_fields += content_disposition("attachment", options.download_as).bytes();
    file->content_fields += "\r\n";
  }
  return reply_with_file(file, request.head(), clock.now);
}

}  // namespace

Reply no_such_file() { return problem(problem_types::not_found, "There is no such file."); }

Reply file_failure(const Error& error) {
  switch (error.code()) {
    case Code::permission_denied:
      return problem(problem_types::forbidden, "The file may not be read.");
    case Code::resource_exhausted:
    case Code::unavailable: return opened_later(error);
    default: return no_such_file();
  }
}

Reply reply_with_file(const FileReference& file, const http::Head& head, Instant now) {
  const http::Validators validators{file->entity_tag, file->told_modified_s(),
                                    file->is_date_strong};
  const http::Condition condition = http::evaluate_conditions(head, validators);
  if (condition != http::Condition::proceed) {
    const bool failed = condition == http::Condition::failed;
    Reply reply = failed ? problem(problem_types::precondition_failed,
                                   "The file is not the one that the request is about.")
                         : Reply(304);
    PreparedReply::append_fields(reply, file->fields);
    return reply;
  }
  const auto range =
      head.method() == http::Method::get ? http::find_only(head, "Range") : std::nullopt;
  if (!range || !http::range_applies(head, validators)) return whole(file);
  const http::Ranges ranges = http::Ranges::parse(*range, file->identity.size);
  switch (ranges.kind()) {
    case http::RangeKind::satisfiable: return partial(file, ranges.all(), now);
    case http::RangeKind::none: return whole(file);
    case http::RangeKind::unsatisfiable: break;
  }
  return problem(problem_types::range_not_satisfiable,
                 "The file has none of the bytes that were asked for.")
      .with("Content-Range", format_text("bytes */{}", file->identity.size).bytes());
}

}  // namespace katana::detail

namespace katana {

Reply Reply::file(const RequestView& request, const std::string& path,
                  const FileReplyOptions& options) {
  return detail::answer_file(find_file(path), request, path, options);
}
Reply Reply::file(const RequestView& request, const std::string& path) {
  return file(request, path, {});
}

Reply Reply::file(const RequestView& request, const Folder& folder, Bytes name,
                  const FileReplyOptions& options) {
  if (name.contains('\0')) return detail::no_such_file();
  return detail::answer_file(folder.find(std::string(name).c_str()), request, name, options);
}
Reply Reply::file(const RequestView& request, const Folder& folder, Bytes name) {
  return file(request, folder, name, {});
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
