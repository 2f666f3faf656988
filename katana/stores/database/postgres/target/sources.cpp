#include "katana/stores/database/postgres/target/sources.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

namespace katana::database::postgres::target {
namespace {

constexpr const char* usual_socket_folder = "/var/run/postgresql";
constexpr const char* usual_system_folder = "/etc/postgresql-common";

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);  // nothing was written that a failure could lose
  }
  int value() const { return value_; }

 private:
  const int value_;
};

// read(2) into one buffer: a stream would leave copies of passwords in its own.
SourceFile read_content(int descriptor, std::size_t size) {
  SourceFile file{.state = SourceFile::State::unreadable};
  std::string content(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t count = ::read(descriptor, content.data() + filled, size - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file;
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  file.content = SecretText(Bytes(content).substr(0, filled));
  file.state = SourceFile::State::read;
  erase_secret(content);
  return file;
}

SourceFile read_file(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe waits for a writer.
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.value() < 0) {
    const bool is_missing = errno == ENOENT || errno == ENOTDIR;
    return {.state = is_missing ? SourceFile::State::missing : SourceFile::State::unreadable};
  }
  struct stat facts = {};
  if (::fstat(descriptor.value(), &facts) != 0) return {.state = SourceFile::State::unreadable};
  SourceFile file{.state = SourceFile::State::unreadable};
  const bool is_plain = S_ISREG(facts.st_mode);
  const bool is_large = facts.st_size > static_cast<off_t>(source_file_bytes_max);
  if (is_plain && is_large) file.state = SourceFile::State::too_large;
  if (is_plain && !is_large) {
    file = read_content(descriptor.value(), static_cast<std::size_t>(facts.st_size));
  }
  file.is_plain = is_plain;
  file.is_private = (facts.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  return file;
}

std::optional<std::string> read_variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

bool is_folder(const char* path) {
  struct stat facts = {};
  return ::stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace

Sources system_sources() {
  Sources sources;
  sources.variable = read_variable;
  sources.file = read_file;
  std::vector<char> memory(16 * 1024);  // enough for any line of /etc/passwd in practice
  passwd entry = {};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, memory.data(), memory.size(), &found) == 0 && found) {
    sources.user = found->pw_name;
    sources.home = found->pw_dir;
  }
  if (auto home = read_variable("HOME"); home && !home->empty()) sources.home = *std::move(home);
  if (is_folder(usual_socket_folder)) sources.socket_folder = usual_socket_folder;
  sources.system_folder = usual_system_folder;
  return sources;
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
