#include "katana/audit/audit_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "katana/audit/audit_event.hpp"

namespace katana::audit {
namespace {

constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
constexpr mode_t owner_alone = 0600;
// A line, with what the chain adds to it.
constexpr std::size_t tail_bytes = 2 * line_bytes_max;

Result<std::string> read_at(int file, std::uint64_t from, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t size = 0;
  while (size < bytes) {
    const ssize_t got =
        ::pread(file, text.data() + size, bytes - size, static_cast<off_t>(from + size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Code::unavailable, std::strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

// The name in a folder is durable only when the folder is.
void sync_folder(const std::string& path) noexcept {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);  // where it fails, a loss of power may take the name, and FILE.head shows it
  ::close(opened);
}

}  // namespace

std::unexpected<Error> AuditFile::failed(std::string_view what) const {
  return fail(Code::unavailable,
              fmt::format("audit: cannot {} '{}': {}", what, path_, std::strerror(errno)));
}

Result<std::unique_ptr<AuditFile>> AuditFile::open(std::string path, Bytes key,
                                                   std::uint64_t file_bytes_max) {
  std::unique_ptr<AuditFile> file(new AuditFile(std::move(path), key, file_bytes_max));
  if (auto opened = file->open_file(); !opened) return std::unexpected(opened.error());
  if (auto opened = file->open_head(); !opened) return std::unexpected(opened.error());
  if (auto resumed = file->resume(); !resumed) return std::unexpected(resumed.error());
  return file;
}

AuditFile::~AuditFile() {
  if (file_ >= 0) ::close(file_);
  if (head_file_ >= 0) ::close(head_file_);
}

Result<void> AuditFile::open_file() {
  file_ = ::open(path_.c_str(), flags | O_APPEND, owner_alone);
  if (file_ < 0) return failed("open");
  struct stat found{};
  if (::fstat(file_, &found) != 0) return failed("look at");
  if (!S_ISREG(found.st_mode) || (found.st_mode & 077) != 0) {
    return fail(
        Code::permission_denied,
        fmt::format("audit: '{}' is no file that its owner alone may read; chmod 600 it", path_));
  }
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    return fail(Code::unavailable,
                fmt::format("audit: another process writes '{}'; each instance has a file of its "
                            "own",
                            path_));
  }
  size_ = static_cast<std::uint64_t>(found.st_size);
  return {};
}

Result<void> AuditFile::open_head() {
  head_file_ = ::open((path_ + ".head").c_str(), flags, owner_alone);
  if (head_file_ < 0) return failed("open the .head of");
  return {};
}

// Of a file whose name was changed, and that none had followed yet when the process ended.
Result<void> AuditFile::resume_behind_rotated() {
  const auto text = read_at(head_file_, 0, 128);
  const auto kept = text ? parse_head(*text) : std::nullopt;
  if (!kept || kept->next == 0) return {};
  const std::string before = fmt::format("{}.{}", path_, kept->next - 1);
  const int file = ::open(before.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return {};  // check_head() says what is missing
  struct stat found{};
  const bool is_there = ::fstat(file, &found) == 0;
  const auto size = is_there ? static_cast<std::uint64_t>(found.st_size) : 0;
  const std::uint64_t from = size - std::min<std::uint64_t>(size, tail_bytes);
  const auto tail = read_at(file, from, static_cast<std::size_t>(size - from));
  ::close(file);
  if (!tail || !tail->ends_with('\n')) return {};
  const Bytes whole = Bytes(*tail).substr(0, tail->size() - 1);
  const auto line = parse_line(whole.substr(whole.rfind('\n') + 1));
  if (line) head_ = {line->number + 1, line->chain};
  return {};
}

Result<void> AuditFile::resume() {
  const std::uint64_t from = size_ - std::min<std::uint64_t>(size_, tail_bytes);
  const auto tail = read_at(file_, from, static_cast<std::size_t>(size_ - from));
  if (!tail) return std::unexpected(tail.error().within("audit: cannot read '" + path_ + "'"));
  const std::size_t end = tail->rfind('\n');
  const std::size_t torn = end == std::string::npos ? tail->size() : tail->size() - end - 1;
  if (end == std::string::npos && from != 0) {
    return fail(Code::data_loss, fmt::format("audit: '{}' is no audit log; move it away", path_));
  }
  if (end != std::string::npos) {
    const Bytes whole = Bytes(*tail).substr(0, end);
    const auto line = parse_line(whole.substr(whole.rfind('\n') + 1));
    if (!line) {
      return fail(
          Code::data_loss,
          fmt::format("audit: the last line of '{}' is no line of an audit log; see `katana "
                      "audit verify`, and move the file away",
                      path_));
    }
    head_ = {line->number + 1, line->chain};
  }
  if (torn != 0) {
    size_ -= torn;
    if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) return failed("cut off the end of");
  }
  if (size_ == 0) {
    if (auto resumed = resume_behind_rotated(); !resumed) return resumed;
  }
  if (auto checked = check_head(); !checked) return checked;
  if (size_ == 0) {
    if (auto begun = begin_file(); !begun) return begun;
  }
  if (auto told = append_own("audit.opened", "removed_bytes", fmt::format("{}", torn)); !told) {
    return told;
  }
  return sync();
}

// Lines that were durable are gone: somebody, or a disk, has taken them.
Result<void> AuditFile::check_head() const {
  const auto text = read_at(head_file_, 0, 128);
  if (!text) return std::unexpected(text.error().within("audit: cannot read '" + path_ + ".head'"));
  const auto kept = parse_head(*text);
  if (kept && (kept->next < head_.next || *kept == head_)) return {};
  return fail(Code::data_loss,
              fmt::format("audit: '{}' does not have what '{}.head' says it had ({}); see `katana "
                          "audit verify`, and move both away",
                          path_, path_, kept ? write_head(*kept) : "it is broken"));
}

// So that a file can be verified without those before it.
Result<void> AuditFile::begin_file() {
  return append_own("audit.file_begun", "previous", write_digest(head_.chain));
}

Result<void> AuditFile::append_own(std::string_view action, std::string_view name,
                                   std::string_view value) {
  AuditEvent event;
  event.action = action;
  event.details = {{std::string(name), std::string(value)}};
  const auto members = render(event, current_time());
  if (!members) return std::unexpected(members.error());
  AuditHead head = head_;
  std::string line;
  chain_.append_line(line, *members, head);
  if (auto written = write(line); !written) return written;
  head_ = head;
  return {};
}

Result<void> AuditFile::rotate() {
  if (auto synced = sync(); !synced) return synced;
  const std::string before = fmt::format("{}.{}", path_, head_.next - 1);
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, before.c_str(), RENAME_NOREPLACE) != 0) {
    return failed("rename");
  }
  const int old = std::exchange(file_, -1);
  auto opened = open_file();
  ::close(old);
  if (opened) opened = begin_file();
  if (!opened) {
    broken_ = true;
    return opened;
  }
  sync_folder(path_);
  return {};
}

Result<void> AuditFile::write(const std::string& lines) {
  for (std::size_t size = 0; size < lines.size();) {
    const ssize_t put = ::write(file_, lines.data() + size, lines.size() - size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      const auto error = failed("write");
      broken_ = size != 0 && ::ftruncate(file_, static_cast<off_t>(size_)) != 0;
      return error;
    }
    size += static_cast<std::size_t>(put);
  }
  size_ += lines.size();
  return {};
}

Result<void> AuditFile::append(std::span<const std::string> members) {
  if (broken_) {
    return fail(Code::data_loss,
                fmt::format("audit: what the disk has of '{}' is not known after a failure; see "
                            "the log, and restart",
                            path_));
  }
  if (size_ >= file_bytes_max_) {
    if (auto rotated = rotate(); !rotated) return rotated;
  }
  AuditHead head = head_;
  std::string lines;
  for (const std::string& each : members) chain_.append_line(lines, each, head);
  if (auto written = write(lines); !written) return written;
  head_ = head;
  return {};
}

Result<void> AuditFile::sync() {
  if (::fdatasync(file_) != 0) {
    broken_ = true;  // the kernel has forgotten which pages it could not write
    return failed("flush");
  }
  const std::string text = write_head(head_) + "\n";
  if (::pwrite(head_file_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return failed("write the .head of");
  }
  if (::ftruncate(head_file_, static_cast<off_t>(text.size())) != 0) {
    return failed("write the .head of");
  }
  return {};
}

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
