#include "katana/observe/audit/audit_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "katana/observe/audit/audit_event.hpp"

namespace katana::audit {
namespace {

constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
constexpr mode_t owner_alone = 0600;
// The length of a line, with the text that the chain adds.
constexpr std::size_t whole_line_bytes_max = line_bytes_max + 256;
// Two whole lines, with a part of one before and behind them.
constexpr std::size_t tail_bytes = 4 * whole_line_bytes_max;
constexpr std::size_t step_bytes = 64 * 1024;
// The pause between two attempts: another process holds the lock for a write and a flush.
constexpr Duration lock_pause = microseconds(500);

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

// A name in a folder is durable only when the folder is.
void sync_folder(const std::string& path) noexcept {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);  // on failure a loss of power may take the name, and FILE.head shows it
  ::close(opened);
}

// Finds the last two whole lines at the end of a file, or the only one. Returns where they begin;
// nothing: there is no line. `is_all`: the text is the whole file.
std::optional<std::size_t> last_two_lines(Bytes tail, bool is_all) {
  const std::size_t end = tail.rfind('\n');
  if (end == Bytes::npos || end == 0) return std::nullopt;
  const std::size_t last = tail.rfind('\n', end - 1);
  if (last == Bytes::npos) return is_all ? std::optional<std::size_t>(0) : std::nullopt;
  const std::size_t before = last == 0 ? Bytes::npos : tail.rfind('\n', last - 1);
  if (before == Bytes::npos) return is_all ? 0 : last + 1;
  return before + 1;
}

// Unlocks a file at the end of a scope: the file that the member has then.
class Unlocking {
 public:
  explicit Unlocking(const int& file) : file_(file) {}
  ~Unlocking() {
    if (file_ >= 0) ::flock(file_, LOCK_UN);
  }
  Unlocking(const Unlocking&) = delete;
  Unlocking& operator=(const Unlocking&) = delete;

 private:
  const int& file_;
};

}  // namespace

std::unexpected<Error> AuditFile::failed(std::string_view what) const {
  return fail(Code::unavailable,
              fmt::format("audit: cannot {} '{}': {}", what, path_, std::strerror(errno)));
}

std::unexpected<Error> AuditFile::lost(std::string_view what) const {
  return fail(
      Code::data_loss,
      fmt::format(
          "audit: '{}' {}; see `katana audit verify`. Put it back, or move it and '{}.head' "
          "away and restart",
          path_, what, path_));
}

Result<std::unique_ptr<AuditFile>> AuditFile::open(std::string path, Bytes key, Options options) {
  std::unique_ptr<AuditFile> file(new AuditFile(std::move(path), key, options));
  if (auto opened = file->open_file(); !opened) return std::unexpected(opened.error());
  if (auto opened = file->open_head(); !opened) return std::unexpected(opened.error());
  if (auto locked = file->lock(); !locked) return std::unexpected(locked.error());
  const Unlocking unlocking(file->file_);
  auto told = file->tell_removed("audit.opened");
  if (told) told = file->flush();
  if (!told) return std::unexpected(told.error());
  return file;
}

AuditFile::~AuditFile() {
  close_file();
  if (head_file_ >= 0) ::close(head_file_);
}

void AuditFile::close_file() noexcept {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  is_read_ = false;
}

Result<void> AuditFile::open_file() {
  file_ = ::open(path_.c_str(), flags | O_APPEND, owner_alone);
  if (file_ < 0) return failed("open");
  struct stat found{};
  if (::fstat(file_, &found) != 0) return failed("look at");
  if (!S_ISREG(found.st_mode) || (found.st_mode & 077) != 0) {
    close_file();
    return fail(
        Code::permission_denied,
        fmt::format("audit: '{}' is no file that its owner alone may read; chmod 600 it", path_));
  }
  device_ = found.st_dev;
  inode_ = found.st_ino;
  return {};
}

Result<void> AuditFile::open_head() {
  head_file_ = ::open((path_ + ".head").c_str(), flags, owner_alone);
  if (head_file_ < 0) return failed("open the .head of");
  return {};
}

// flock(2) has no timeout, and a signal would affect the whole process: it is attempted again.
Result<void> AuditFile::wait_for_lock(int file, Duration& left) const {
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return failed("lock");
    if (left <= Duration{}) {
      return fail(Code::unavailable,
                  fmt::format("audit: another process holds the lock of '{}', also after {} ms; "
                              "find it with `fuser`, and give each program a file",
                              path_, options_.lock_wait.count_ms()));
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(lock_pause.ns));
    left.ns -= lock_pause.ns;
  }
  return {};
}

Result<void> AuditFile::lock() {
  if (broken_) {
    return fail(Code::data_loss,
                fmt::format("audit: what the disk has of '{}' is not known after a failure; see "
                            "the log, and restart",
                            path_));
  }
  Duration left = options_.lock_wait;
  // The process that waits for FILE holds FILE.head. A process that has just unlocked FILE and has
  // another batch waits behind it. Otherwise it would lock FILE again before each attempt.
  if (auto locked = wait_for_lock(head_file_, left); !locked) return locked;
  const Unlocking unlocking(head_file_);
  while (true) {
    if (file_ < 0) {
      if (auto opened = open_file(); !opened) return opened;
    }
    if (auto locked = wait_for_lock(file_, left); !locked) return locked;
    struct stat found{};
    const bool is_there = ::lstat(path_.c_str(), &found) == 0;
    Result<void> done;
    if (is_there && found.st_ino == inode_ && found.st_dev == device_) {
      const auto size = static_cast<std::uint64_t>(found.st_size);
      done = is_read_ ? catch_up(size) : resume(size);
      if (done) return done;
    } else {
      done = leave_rotated();
      if (done) continue;
    }
    ::flock(file_, LOCK_UN);
    return done;
  }
}

// The name belongs to another file. The log continues there if another process has rotated it.
Result<void> AuditFile::leave_rotated() {
  if (is_read_) {
    struct stat own{};
    if (::fstat(file_, &own) != 0) return failed("look at");
    const auto size = static_cast<std::uint64_t>(own.st_size);
    if (auto read = read_new_lines(size); !read) return read;
    const std::string rotated = fmt::format("{}.{}", path_, head_.next - 1);
    struct stat found{};
    const bool is_there = size_ == size && ::lstat(rotated.c_str(), &found) == 0;
    if (!is_there || found.st_ino != inode_ || found.st_dev != device_) {
      return lost("was moved, deleted or replaced while it was written");
    }
    // An error of the disk is reported once for each descriptor, and this one is closed.
    if (::fdatasync(file_) != 0) {
      broken_ = true;
      return failed("flush");
    }
  }
  close_file();
  return {};
}

// Continues behind a renamed file that had no successor when the process ended.
Result<void> AuditFile::resume_behind_rotated() {
  const auto text = read_at(head_file_, 0, 128);
  const auto kept = text ? parse_head(*text) : std::nullopt;
  if (!kept || kept->next == 0) return {};
  const std::string before = fmt::format("{}.{}", path_, kept->next - 1);
  const int file = ::open(before.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return {};  // check_head() names the missing lines
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

// Reads a file that is new to this process. A failure keeps the head, with which the next attempt
// compares.
Result<void> AuditFile::resume(std::uint64_t size) {
  const AuditHead before = head_;
  auto resumed = resume_behind(before, size);
  is_read_ = resumed.has_value();
  if (!resumed) head_ = before;
  return resumed;
}

Result<void> AuditFile::resume_behind(const AuditHead& before, std::uint64_t size) {
  const std::uint64_t from = size - std::min<std::uint64_t>(size, tail_bytes);
  const auto tail = read_at(file_, from, static_cast<std::size_t>(size - from));
  if (!tail) return std::unexpected(tail.error().within("audit: cannot read '" + path_ + "'"));
  const auto last_two = last_two_lines(*tail, from == 0);
  if (!last_two && from != 0) {
    return fail(Code::data_loss, fmt::format("audit: '{}' is no audit log; move it away", path_));
  }
  std::optional<AuditHead> head;
  if (auto read = read_lines(from + last_two.value_or(0), size, head); !read) return read;
  if (head) head_ = *head;
  if (size_ == 0) {
    if (auto resumed = resume_behind_rotated(); !resumed) return resumed;
  }
  if (head_.next < before.next || (head_.next == before.next && head_ != before)) {
    return lost("has not the lines that this process has written");
  }
  if (auto checked = check_head(); !checked) return checked;
  if (auto cut = cut_off(size); !cut) return cut;
  return size_ == 0 ? begin_file() : Result<void>();
}

// Reads the lines that other processes have appended.
Result<void> AuditFile::catch_up(std::uint64_t size) {
  if (auto read = read_new_lines(size); !read) return read;
  if (auto cut = cut_off(size); !cut) return cut;
  return removed_bytes_ == 0 ? Result<void>() : tell_removed("audit.repaired");
}

Result<void> AuditFile::read_new_lines(std::uint64_t size) {
  if (size < size_) return lost("has become shorter while it was written");
  std::optional<AuditHead> head = head_;
  if (auto read = read_lines(size_, size, head); !read) return read;
  head_ = *head;
  return {};
}

// Removes a line without its end. Its process was killed while it wrote it, and has acknowledged
// nothing.
Result<void> AuditFile::cut_off(std::uint64_t size) {
  if (size == size_) return {};
  if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) return failed("cut off the end of");
  removed_bytes_ += size - size_;
  return {};
}

Result<void> AuditFile::tell_removed(std::string_view action) {
  auto told = append_own(action, "removed_bytes", fmt::format("{}", removed_bytes_));
  if (told) removed_bytes_ = 0;
  return told;
}

// Moves size_ behind the last whole line.
Result<void> AuditFile::read_lines(std::uint64_t from, std::uint64_t size,
                                   std::optional<AuditHead>& head) {
  std::uint64_t end = from;  // of the last whole line
  while (end < size) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(size - end, step_bytes));
    const auto text = read_at(file_, end, step);
    if (!text) return std::unexpected(text.error().within("audit: cannot read '" + path_ + "'"));
    Bytes rest = *text;
    for (std::size_t line; (line = rest.find('\n')) != Bytes::npos; rest.remove_prefix(line + 1)) {
      if (auto read = read_line(rest.substr(0, line), head); !read) return read;
    }
    if (rest.size() == text->size()) break;  // no line ends here
    end += text->size() - rest.size();
  }
  if (size - end > whole_line_bytes_max) return lost("has a line that is too long");
  size_ = end;
  return {};
}

Result<void> AuditFile::read_line(Bytes text, std::optional<AuditHead>& head) const {
  const auto line = parse_line(text);
  if (!line) {
    return fail(Code::data_loss,
                fmt::format("audit: the last line of '{}' is no line of an audit log; see `katana "
                            "audit verify`, and move the file away",
                            path_));
  }
  if (head && (line->number != head->next || chain_.link(head->chain, line->text) != line->chain)) {
    return lost(
        "has a line that does not go on from the one before it: it was changed, or the key "
        "is another one");
  }
  head = AuditHead{line->number + 1, line->chain};
  return {};
}

// Durable lines are missing: a person or a disk has removed them.
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

// Writes the first line of a file: the file can then be verified without earlier ones. Its name is
// durable before any process acknowledges a line of it.
Result<void> AuditFile::begin_file() {
  auto begun = append_own("audit.file_begun", "previous", write_digest(head_.chain));
  if (begun) sync_folder(path_);
  return begun;
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
  if (auto synced = flush(); !synced) return synced;
  const std::string before = fmt::format("{}.{}", path_, head_.next - 1);
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, before.c_str(), RENAME_NOREPLACE) != 0) {
    return failed("rename");
  }
  // Another process may be the first in the new file: this one then continues behind its lines.
  close_file();
  return lock();
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

Result<void> AuditFile::append(std::span<const std::string> members, bool is_synced) {
  if (auto locked = lock(); !locked) return locked;
  const Unlocking unlocking(file_);
  if (size_ >= options_.file_bytes_max) {
    if (auto rotated = rotate(); !rotated) return rotated;
  }
  AuditHead head = head_;
  std::string lines;
  for (const std::string& each : members) chain_.append_line(lines, each, head);
  if (auto written = write(lines); !written) return written;
  head_ = head;
  return is_synced ? flush() : Result<void>();
}

Result<void> AuditFile::sync() {
  if (auto locked = lock(); !locked) return locked;
  const Unlocking unlocking(file_);
  return flush();
}

Result<void> AuditFile::flush() {
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
