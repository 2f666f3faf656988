#include "katana/observe/log/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace katana::log {

namespace {

constexpr mode_t file_mode = 0640;  // logs name users
constexpr int first_of_files = STDERR_FILENO + 1;

Code code_of(int number) noexcept {
  switch (number) {
    case EACCES:
    case EPERM:
    case EROFS: return Code::permission_denied;
    case ENOENT: return Code::not_found;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return Code::resource_exhausted;
    default: return Code::unavailable;
  }
}

std::unexpected<Error> failed(Bytes what, int number) {
  return fail(code_of(number), fmt::format("{}: {}", what, std::strerror(number)));
}

// Returns the number of written bytes; if not all, errno gives the reason.
std::size_t write_all(int descriptor, Bytes octets) noexcept {
  std::size_t done = 0;
  while (done < octets.size()) {
    const ssize_t count = ::write(descriptor, octets.data() + done, octets.size() - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EAGAIN) {
      // A pipe or terminal that another program made non-blocking. The sink measures the time.
      pollfd writable = {descriptor, POLLOUT, 0};
      poll(&writable, 1, -1);
    } else if (count == 0 || errno != EINTR) {
      break;
    }
  }
  return done;
}

// /dev/stdout, /dev/fd/5 and /proc/self/fd/5 name a descriptor that others hold, even for a regular
// file. A rename would remove the name, and a cut would remove lines of other writers.
bool is_descriptor_path(Bytes path) noexcept {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         path.starts_with("/proc/");
}

// Holds the free numbers up to that of standard error, by descriptors that cannot be written to. A
// concurrent open() gets a higher number: output of another thread never gets into that file.
class LowNumbers {
 public:
  LowNumbers() noexcept {
    while (count_ < held_.size()) {
      const int descriptor = ::open("/", O_PATH | O_CLOEXEC);
      if (descriptor < 0) return;
      held_[count_++] = descriptor;
      if (descriptor > STDERR_FILENO) return;
    }
  }
  ~LowNumbers() {
    while (count_ > 0) ::close(held_[--count_]);
  }
  LowNumbers(const LowNumbers&) = delete;
  LowNumbers& operator=(const LowNumbers&) = delete;

 private:
  std::array<int, STDERR_FILENO + 2> held_{};
  std::size_t count_ = 0;
};

int open_file(const std::string& path) noexcept {
  // A socket, as systemd provides, can be written to but not opened by its name.
  if (path == "/dev/stdout") return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, first_of_files);
  if (path == "/dev/stderr") return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, first_of_files);
  const LowNumbers held;
  constexpr int flags = O_APPEND | O_CLOEXEC | O_NOCTTY;
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | flags, file_mode);
  if (descriptor >= 0 || errno != EACCES) return descriptor;
  return ::open(path.c_str(), O_WRONLY | flags);
}

}  // namespace

Result<void> DescriptorOutput::write(Bytes records) {
  if (write_all(descriptor_, records) == records.size()) return {};
  return failed("write", errno);
}

void FileOutput::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

Result<void> FileOutput::open(const Layout& layout) {
  close();
  // Open for reading too: the rest of a killed process is examined.
  descriptor_ = open_file(path_);
  if (descriptor_ < 0) return failed("open", errno);
  struct stat facts{};
  if (fstat(descriptor_, &facts) != 0) return failed("fstat", errno);
  regular_ = S_ISREG(facts.st_mode) && !is_descriptor_path(path_);
  size_ = regular_ ? static_cast<std::uint64_t>(facts.st_size) : 0;
  // There is no portable creation time; the last change is the nearest known time.
  begun_wall_ns_ = size_ != 0 ? std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 : 0;
  return size_ != 0 ? continue_behind(layout) : Result<void>();
}

// Cuts off a half-written record of a killed process, or separates it from the next one.
Result<void> FileOutput::continue_behind(const Layout& layout) {
  void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (mapped == MAP_FAILED) return {};  // cannot be read: records are only appended
  const Bytes file(static_cast<const char*>(mapped), size_);
  const std::size_t whole = layout.whole_bytes(file);
  const Bytes separator = layout.separator(file.back());
  munmap(mapped, size_);
  if (whole < size_) {
    if (ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) return failed("ftruncate", errno);
    size_ = whole;
  } else if (!separator.empty()) {
    return write(separator);
  }
  return {};
}

Result<void> FileOutput::write(Bytes records) {
  if (begun_wall_ns_ == 0) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    begun_wall_ns_ = std::int64_t{now.tv_sec} * 1'000'000'000;
  }
  const std::size_t done = write_all(descriptor_, records);
  if (done == records.size()) {
    size_ += done;
    return {};
  }
  const int number = errno;
  // Half a batch is cut off again: the file then ends with a whole record.
  if (done > 0 && regular_ && ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) size_ += done;
  return failed("write", number);
}

Result<void> FileOutput::rotate(unsigned keep, const Layout& layout) {
  if (!regular_) {  // a pipe or device has no earlier files and does not grow
    size_ = 0;
    begun_wall_ns_ = 0;
    return {};
  }
  const auto old = [this](unsigned number) { return fmt::format("{}.{}", path_, number); };
  if (keep == 0 && unlink(path_.c_str()) != 0) return failed("unlink", errno);
  for (unsigned number = keep; number > 1; --number) {
    const bool moved = std::rename(old(number - 1).c_str(), old(number).c_str()) == 0;
    if (!moved && errno != ENOENT) return failed(fmt::format("rename to {}", old(number)), errno);
  }
  if (keep > 0 && std::rename(path_.c_str(), old(1).c_str()) != 0) {
    return failed(fmt::format("rename to {}", old(1)), errno);
  }
  return open(layout);
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
