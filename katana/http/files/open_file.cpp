#include "katana/http/files/open_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "katana/base/values/instant.hpp"

namespace katana {
namespace {

std::int64_t nanoseconds_of(const timespec& time) noexcept {
  return std::int64_t{time.tv_sec} * seconds(1).ns + time.tv_nsec;
}

Descriptor open_beneath(int folder, const char* path, std::uint64_t flags) noexcept {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: a name in the path changed meanwhile, and the kernel cannot tell where it leads.
  constexpr int attempts = 8;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const long opened = ::syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (opened >= 0) return Descriptor(static_cast<int>(opened));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return {};
}

Code code_of(int error_number) noexcept {
  switch (error_number) {
    case EACCES:
    case EPERM: return Code::permission_denied;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Code::resource_exhausted;
    case EAGAIN:
    case EIO: return Code::unavailable;
    default: return Code::not_found;  // missing, outside of the folder, too long, …
  }
}

std::string reason_of(int error_number) { return std::generic_category().message(error_number); }

// O_NONBLOCK: without it open() would wait for the writer of a fifo.
constexpr int open_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;

// Describes the descriptor that was opened; without one, errno gives the reason.
Result<Folder::Found> examine(Descriptor opened) {
  if (opened.get() < 0) return fail(code_of(errno));
  struct stat status;
  if (::fstat(opened.get(), &status) != 0) return fail(code_of(errno));
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return fail(Code::not_found);
  return Folder::Found{S_ISREG(status.st_mode) ? Folder::Kind::file : Folder::Kind::folder,
                       std::move(opened),
                       {.device = status.st_dev,
                        .inode = status.st_ino,
                        .size = static_cast<std::uint64_t>(status.st_size),
                        .modified_ns = nanoseconds_of(status.st_mtim),
                        .changed_ns = nanoseconds_of(status.st_ctim)}};
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Folder> Folder::open(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) {
    const int reason = errno;
    return fail(code_of(reason), fmt::format("open folder '{}': {}; name a folder that exists",
                                             path, reason_of(reason)));
  }
  if (open_beneath(descriptor.get(), ".", O_PATH).get() < 0) {
    const int reason = errno;
    return fail(Code::unsupported,
                fmt::format("open folder '{}' with openat2: {}; files are served on Linux 5.6 or "
                            "later, where no seccomp filter forbids openat2",
                            path, reason_of(reason)));
  }
  return Folder(std::move(descriptor));
}

Result<Folder::Found> Folder::find(const char* path) const {
  return examine(open_beneath(descriptor_.get(), path, open_flags));
}

Result<Folder::Found> find_file(const std::string& path) {
  if (path.contains('\0')) return fail(Code::not_found);
  return examine(Descriptor(::open(path.c_str(), open_flags | O_CLOEXEC)));
}

OpenFile::OpenFile(Descriptor opened, const FileIdentity& known) noexcept
    : Retained(close), identity(known) {
  descriptor = opened.release();
}

OpenFile::~OpenFile() { ::close(descriptor); }

void OpenFile::close(Retained& file) noexcept { delete static_cast<OpenFile*>(&file); }

std::int64_t OpenFile::modified_s() const noexcept {
  // Rounded down, also before 1970.
  const std::int64_t rest = identity.modified_ns % seconds(1).ns;
  return identity.modified_ns / seconds(1).ns - (rest < 0 ? 1 : 0);
}

std::optional<std::int64_t> OpenFile::told_modified_s() const noexcept {
  constexpr std::int64_t year_1981_s = 347'155'200;
  if (identity.modified_ns < year_1981_s * seconds(1).ns) return std::nullopt;
  return std::min(modified_s(), described_s);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
