#include "katana/service/static_files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <utility>

#include "katana/service/router.hpp"
#include "katana/wire/http/conditional.hpp"
#include "katana/wire/http/range.hpp"

namespace katana::detail {
namespace {

using http::Coding;

constexpr std::size_t path_bytes_max = 1024;

// A file's path below its folder, made of what a pattern's rest stands for.
class FilePath {
 public:
  // False: no file can have this name.
  bool assign(Bytes path, const FilesOptions& options) {
    if (path.size() + options.index.size() > path_bytes_max) return false;
    for (Bytes rest = path; !rest.empty();) {
      const std::size_t end = std::min(rest.find('/'), rest.size());
      if (!append_segment(rest.substr(0, end), options.hidden)) return false;
      if (end == rest.size()) break;
      push('/');
      rest.remove_prefix(end + 1);
    }
    is_folder_ = size_ == 0 || text_[size_ - 1] == '/';
    if (!is_folder_) return true;
    for (const char c : options.index) push(c);
    return !options.index.empty();
  }

  Bytes bytes() const noexcept { return {text_.data(), size_}; }
  // It was a folder that was named.
  bool is_folder() const noexcept { return is_folder_; }

 private:
  bool append_segment(Bytes segment, bool hidden) {
    if (segment.empty()) return false;
    const auto size = http::decode_segment(segment, std::span(text_).subspan(size_));
    if (!size) return false;
    const Bytes name(text_.data() + size_, *size);
    // Neither can come from a normal path; they are refused here too, because everything hangs on
    // it.
    if (name.find('/') != Bytes::npos || name.find('\0') != Bytes::npos || name == "..") {
      return false;
    }
    if (name.starts_with('.') && !hidden && name != ".well-known") return false;
    size_ += *size;
    return true;
  }
  void push(char c) noexcept { text_[size_++] = c; }

  std::array<char, path_bytes_max + 1> text_;
  std::size_t size_ = 0;
  bool is_folder_ = false;
};

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

Reply not_found() { return problem(404, "There is no such file."); }

Reply opened_later(const Error& error) {
  Reply reply = problem(503, "The file cannot be opened at present.");
  reply.add_field("Retry-After", "1");
  detail::PreparedReply::set_cause(reply, error);
  return reply;
}

Reply failure_of(const Error& error) {
  switch (error.code()) {
    case Code::permission_denied: return problem(403, "The file may not be read.");
    case Code::resource_exhausted:
    case Code::unavailable: return opened_later(error);
    default: return not_found();
  }
}

// To the same name with a slash, relative to what was asked for: nothing in it can name another
// host.
Reply redirect_to_folder(Bytes path, Bytes query) {
  const Bytes name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  Text location(Bytes("./"));
  for (const char c : name) {
    constexpr Bytes plain = "-._~";
    const bool is_plain = http::is(c, http::digit_character) || plain.find(c) != Bytes::npos ||
                          (http::to_lower(c) >= 'a' && http::to_lower(c) <= 'z');
    if (is_plain) {
      location.push_back(c);
    } else {
      location.append(format_text("%{:02X}", static_cast<unsigned char>(c)).bytes());
    }
  }
  location.push_back('/');
  constexpr std::size_t query_bytes_max = 1024;  // the fields of a reply have to fit its head
  if (!query.empty() && query.size() <= query_bytes_max) {
    location.push_back('?');
    location.append(query);
  }
  return Reply(308).with("Location", location.bytes());
}

// Not in the file but by a chance that nobody can raise: it depends on the nanosecond.
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

Reply answer_with(const FileSet& set, const http::Head& head, Instant now) {
  http::Codings only_plain;
  only_plain.insert(Coding::identity);
  const http::Codings codings = set.codings();
  // A peer that accepts nothing of what there is gets the file as it is (RFC 9110 §12.5.3).
  const Coding coding =
      codings == only_plain
          ? Coding::identity
          : http::AcceptedCodings(head).best_of(codings).value_or(Coding::identity);
  const FileReference& file = set.in(coding);
  const http::Validators validators{file->entity_tag, file->modified_s(), file->is_strong};
  const http::Condition condition = http::evaluate_conditions(head, validators);
  if (condition != http::Condition::proceed) {
    const bool failed = condition == http::Condition::failed;
    Reply reply =
        failed ? problem(412, "The file is not the one that the request is about.") : Reply(304);
    PreparedReply::append_fields(reply, file->fields);
    return reply;
  }
  const auto range = head.method() == http::Method::get ? head.find("Range") : std::nullopt;
  if (!range || !http::range_applies(head, validators)) return whole(file);
  const http::Ranges ranges = http::Ranges::parse(*range, file->identity.size);
  switch (ranges.kind()) {
    case http::RangeKind::satisfiable: return partial(file, ranges.all(), now);
    case http::RangeKind::none: return whole(file);
    case http::RangeKind::unsatisfiable: break;
  }
  return problem(416, "The file has none of the bytes that were asked for.")
      .with("Content-Range", format_text("bytes */{}", file->identity.size).bytes());
}

FilesOptions checked(FilesOptions options) {
  options.open_files_max = std::max<std::size_t>(1, options.open_files_max);
  return options;
}

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // only that no two are the same
}

}  // namespace

FilesHandler::FilesHandler(Folder folder, FilesOptions options)
    : Handler(ContentWanted::no),
      folder_(std::move(folder)),
      options_(checked(std::move(options))),
      number_(next_number()) {}

void FilesHandler::serve(session::Exchange& exchange, const Route& route,
                         const RequestView& request) const {
  const core::Reactor& reactor = exchange.reactor();
  send_reply(exchange, route, &request, answer(request, {reactor.now(), reactor.wall_clock_s()}));
}

Reply FilesHandler::answer(const RequestView& request, FileCache::Clock clock) const {
  const PathParameters& parameters = request.parameters();
  FilePath path;
  if (!path.assign(parameters[parameters.size() - 1].value, options_)) return not_found();
  const auto set = cache().find(path.bytes(), clock);
  if (!set) return failure_of(set.error());
  if (*set != nullptr) return answer_with(**set, request.head(), clock.now);
  if (path.is_folder() || options_.index.empty()) return not_found();
  return redirect_to_folder(path.bytes(), request.query());
}

FileCache& FilesHandler::cache() const {
  struct Known {
    std::uint64_t number;
    FileCache* cache;
  };
  // A handler that is gone leaves an entry that nobody asks for again.
  static thread_local std::vector<Known> known;
  for (const Known& each : known) {
    if (each.number == number_) return *each.cache;
  }
  auto made = std::make_unique<FileCache>(folder_, options_);
  FileCache& cache = *made;
  const std::lock_guard lock(mutex_);
  caches_.push_back(std::move(made));
  known.push_back({number_, &cache});
  return cache;
}

}  // namespace katana::detail

namespace katana {

Group& Group::files(std::string_view prefix, const std::string& folder, FilesOptions options) {
  auto opened = Folder::open(folder);
  if (!opened) {
    parts_->mistakes.push_back(
        opened.error().within("files at '" + prefix_ + std::string(prefix) + "'"));
    return *this;
  }
  std::string pattern(prefix);
  if (!pattern.ends_with('/')) pattern += '/';
  add(http::Method::get, pattern + "{path...}",
      std::make_unique<detail::FilesHandler>(*std::move(opened), std::move(options)),
      {}, {});
  return *this;
}

}  // namespace katana
