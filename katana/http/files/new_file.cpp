#include "katana/http/files/new_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace katana {
namespace {

constexpr Bytes partial_prefix = ".katana-";
constexpr Bytes partial_suffix = ".part";

Code code_of_write(int error_number) noexcept {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE: return Code::resource_exhausted;
    case EEXIST:
    case EISDIR:
    case ENOTEMPTY: return Code::already_exists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::permission_denied;
    default: return Code::unavailable;
  }
}

std::unexpected<Error> failed(const char* what, Bytes name) {
  const int reason = errno;
  return fail(code_of_write(reason),
              fmt::format("{} '{}': {}", what, name, std::generic_category().message(reason)));
}

bool is_partial(Bytes name) noexcept {
  return name.starts_with(partial_prefix) && name.ends_with(partial_suffix);
}

Descriptor readable(int folder) noexcept {
  return Descriptor(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

bool is_file_name(Bytes name) noexcept {
  if (name.empty() || name.size() > 255 || name == "." || name == "..") return false;
  if (is_partial(name)) return false;
  return std::ranges::none_of(
      name, [](char c) { return c == '/' || static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

NewFile::NewFile(Descriptor folder, Descriptor file, std::string partial, std::string name) noexcept
    : folder_(std::move(folder)),
      file_(std::move(file)),
      partial_(std::move(partial)),
      name_(std::move(name)) {}

NewFile::NewFile(NewFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      file_(std::move(other.file_)),
      partial_(std::exchange(other.partial_, {})),
      name_(std::move(other.name_)),
      size_(other.size_) {}

NewFile::~NewFile() {
  if (!partial_.empty()) ::unlinkat(folder_.get(), partial_.c_str(), 0);
}

Result<NewFile> NewFile::create(const Folder& folder, std::string name) {
  if (!is_file_name(name)) {
    return fail(Code::invalid_argument,
                "the name of a file has at most 255 bytes and neither '/' nor control characters");
  }
  Descriptor own = readable(folder.descriptor_.get());
  if (own.get() < 0) return failed("open the folder of", name);
  constexpr int attempts = 8;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) return failed("name", name);
    std::string partial = fmt::format("{}{:016x}{}", partial_prefix, number, partial_suffix);
    Descriptor file(::openat(own.get(), partial.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() >= 0) {
      return NewFile(std::move(own), std::move(file), std::move(partial), std::move(name));
    }
    if (errno != EEXIST) break;
  }
  return failed("create", name);
}

Result<void> NewFile::append(Bytes content) {
  size_ += content.size();
  while (!content.empty()) {
    const ssize_t written = ::write(file_.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("write", name_);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> NewFile::sync(int descriptor) {
  if (::fsync(descriptor) == 0) return {};
  return failed("sync", "a file");
}

Result<Descriptor> NewFile::copy(const Descriptor& of) {
  Descriptor copied(::fcntl(of.get(), F_DUPFD_CLOEXEC, 0));
  if (copied.get() < 0) return failed("copy", "a descriptor");
  return copied;
}

Result<void> NewFile::publish(Existing existing) {
  if (existing == Existing::replace) {
    if (::renameat(folder_.get(), partial_.c_str(), folder_.get(), name_.c_str()) != 0) {
      return failed("name", name_);
    }
  } else {
    // Making a link fails if the name is taken, in one step.
    if (::linkat(folder_.get(), partial_.c_str(), folder_.get(), name_.c_str(), 0) != 0) {
      return failed("name", name_);
    }
    ::unlinkat(folder_.get(), partial_.c_str(), 0);
  }
  partial_.clear();
  return {};
}

Result<std::size_t> Folder::remove_partial_files() const {
  Descriptor own = readable(descriptor_.get());
  if (own.get() < 0) return failed("open", "the folder");
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(own.get()), &::closedir);
  if (entries == nullptr) return failed("read", "the folder");
  own.release();
  std::size_t removed = 0;
  while (const dirent* const entry = ::readdir(entries.get())) {
    if (!is_partial(entry->d_name)) continue;
    if (::unlinkat(::dirfd(entries.get()), entry->d_name, 0) == 0) ++removed;
  }
  return removed;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
