#include "katana/http/handlers/static_files.hpp"
#include "katana/http/handlers/built_service.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "katana/http/handlers/file_reply.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::detail {
namespace {

using http::Coding;

constexpr std::size_t path_bytes_max = 1024;

// A file's path below its folder, made from the value of the pattern's rest parameter.
class FilePath {
 public:
  // Returns false if no file can have this name.
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
  // True if the path names a folder.
  bool is_folder() const noexcept { return is_folder_; }

 private:
  bool append_segment(Bytes segment, bool hidden) {
    if (segment.empty()) return false;
    const auto size = http::decode_segment(segment, std::span(text_).subspan(size_));
    if (!size) return false;
    const Bytes name(text_.data() + size_, *size);
    // Neither can come from a normal path. They are refused here as well, because the safety of the
    // folder depends on it.
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

// Redirects to the same name with a slash, relative to the request: it cannot lead to another host.
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
  constexpr std::size_t query_bytes_max = 1024;  // the fields of a reply must fit its head
  if (!query.empty() && query.size() <= query_bytes_max) {
    location.push_back('?');
    location.append(query);
  }
  return Reply(308).with("Location", location.bytes());
}

Reply answer_with(const FileSet& set, const http::Head& head, Instant now) {
  http::Codings only_plain;
  only_plain.insert(Coding::identity);
  const http::Codings codings = set.codings();
  // A client that accepts none of the codings gets the file without one (RFC 9110 §12.5.3).
  const Coding coding =
      codings == only_plain
          ? Coding::identity
          : http::AcceptedCodings(head).best_of(codings).value_or(Coding::identity);
  return reply_with_file(set.in(coding), head, now);
}

FilesOptions checked(FilesOptions options) {
  options.open_files_max = std::max<std::size_t>(1, options.open_files_max);
  return options;
}

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // only the uniqueness matters
}

}  // namespace

FilesHandler::FilesHandler(Folder folder, FilesOptions options)
    : Handler(ContentWanted::no),
      folder_(std::move(folder)),
      options_(checked(std::move(options))),
      number_(next_number()) {}

void FilesHandler::serve(session::Exchange& exchange, const Route& route,
                         const RequestView& request) const {
  const net::Reactor& reactor = exchange.reactor();
  send_reply(exchange, route, &request, answer(request, {reactor.now(), reactor.wall_clock_s()}));
}

Reply FilesHandler::answer(const RequestView& request, FileCache::Clock clock) const {
  const PathParameters& parameters = request.parameters();
  FilePath path;
  if (!path.assign(parameters[parameters.size() - 1].value, options_)) return no_such_file();
  const auto set = cache().find(path.bytes(), clock);
  if (!set) return file_failure(set.error());
  if (*set != nullptr) return answer_with(**set, request.head(), clock.now);
  if (path.is_folder() || options_.index.empty()) return no_such_file();
  return redirect_to_folder(path.bytes(), request.query());
}

FileCache& FilesHandler::cache() const {
  struct Known {
    std::uint64_t number;
    FileCache* cache;
  };
  // A destroyed handler leaves an unused entry.
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
      std::make_unique<detail::FilesHandler>(*std::move(opened), std::move(options)), {}, {});
  return *this;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
