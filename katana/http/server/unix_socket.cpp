#include "katana/http/server/unix_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "katana/base/system/check.hpp"
#include "katana/http/server/listener_options.hpp"
#include "katana/net/engine/sockets.hpp"

namespace katana::server {
namespace {

std::optional<unsigned> number_in(std::string_view text, int base) {
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

// Names are looked up in the databases of the machine (nsswitch.conf), only at the start.
std::optional<uid_t> user_of(const std::string& name) {
  if (const auto number = number_in(name, 10)) return *number;
  std::array<char, 16 * 1024> room;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, room.data(), room.size(), &found) != 0) return std::nullopt;
  return found != nullptr ? std::optional(found->pw_uid) : std::nullopt;
}

std::optional<gid_t> group_of(const std::string& name) {
  if (const auto number = number_in(name, 10)) return *number;
  std::array<char, 64 * 1024> room;  // includes its members
  group entry{};
  group* found = nullptr;
  if (getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found) != 0) return std::nullopt;
  return found != nullptr ? std::optional(found->gr_gid) : std::nullopt;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int open_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

std::string action_of(const std::string& path) { return fmt::format("listen on unix:{}", path); }

std::unexpected<Error> system_failure(const std::string& path, int error_number) {
  Error error = engine::system_error(action_of(path).c_str(), error_number);
  const char* remedy = nullptr;
  if (error_number == ENOENT || error_number == ENOTDIR) remedy = "make its folder first";
  if (error_number == EACCES || error_number == EPERM) {
    remedy = "this user has no right to that; see the owner and the mode of the folder";
  }
  if (remedy == nullptr) return std::unexpected(std::move(error));
  return std::unexpected(
      Error(error.code(), fmt::format("{}: {}; {}", action_of(path),
                                      std::generic_category().message(error_number), remedy)));
}

// Checks the path: it must be free, or the socket of a server that has ended, which is removed.
Result<void> make_way(const std::string& path) {
  struct stat present;
  if (::lstat(path.c_str(), &present) != 0) {
    if (errno == ENOENT) return {};
    return system_failure(path, errno);
  }
  if (!S_ISSOCK(present.st_mode)) {
    return fail(Code::already_exists,
                fmt::format("{}: the file that is there is no socket, and is left alone; choose "
                            "another path, or move it away",
                            action_of(path)));
  }
  const int probe = open_socket();
  if (probe < 0) return system_failure(path, errno);
  const sockaddr_un address = address_of(path);
  const int failure =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0
                                                                                         : errno;
  ::close(probe);
  // EAGAIN: the queue of the listening process is full.
  if (failure == 0 || failure == EAGAIN || failure == EPROTOTYPE) {
    return fail(Code::already_exists,
                fmt::format("{}: another program listens there: stop it or choose another path",
                            action_of(path)));
  }
  if (failure != ECONNREFUSED) return system_failure(path, failure);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_failure(path, errno);
  return {};
}

}  // namespace

Result<mode_t> parse_file_mode(std::string_view text) {
  const auto mode = number_in(text, 8);
  if (!mode || *mode > 0777) {
    return fail(Code::invalid_argument, "give an octal mode up to 0777, such as 0660");
  }
  return static_cast<mode_t>(*mode);
}

Result<FileOwner> parse_file_owner(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string user(text.substr(0, colon));
  const std::string group(colon == std::string_view::npos ? "" : text.substr(colon + 1));
  FileOwner owner;
  if (!user.empty() && !(owner.user = user_of(user))) {
    return fail(
        Code::invalid_argument,
        fmt::format("this machine has no user '{}': give USER, USER:GROUP or :GROUP", user));
  }
  if (!group.empty() && !(owner.group = group_of(group))) {
    return fail(
        Code::invalid_argument,
        fmt::format("this machine has no group '{}': give USER, USER:GROUP or :GROUP", group));
  }
  return owner;
}

Result<UnixSocket> UnixSocket::open(const std::string& path, mode_t mode, const FileOwner& owner,
                                    int backlog) {
  KATANA_REQUIRE(!path.empty() && path.size() <= socket_path_bytes_max);
  if (auto free = make_way(path); !free) return std::unexpected(free.error());
  UnixSocket made(path, open_socket());
  if (made.socket_ < 0) return system_failure(path, errno);
  const sockaddr_un address = address_of(path);
  if (::bind(made.socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return system_failure(path, errno);
  }
  // Before listen(): until then a connect() is refused, whatever the file allows.
  if (auto entered = made.enter_file(mode, owner); !entered)
    return std::unexpected(entered.error());
  if (::listen(made.socket_, backlog) != 0) return system_failure(path, errno);
  return made;
}

Result<UnixSocket> UnixSocket::adopt(const std::string& path, int socket, mode_t mode,
                                     const FileOwner& owner) {
  UnixSocket made(path, ::fcntl(socket, F_DUPFD_CLOEXEC, 0));
  if (made.socket_ < 0) return system_failure(path, errno);
  auto entered = made.enter_file(mode, owner);
  // The other program removes the file until this one serves.
  made.adopted_ = std::exchange(made.file_, 0);
  if (!entered) return std::unexpected(entered.error());
  return made;
}

Result<void> UnixSocket::enter_file(mode_t mode, const FileOwner& owner) {
  struct stat file;
  if (::lstat(path_.c_str(), &file) != 0) return system_failure(path_, errno);
  device_ = file.st_dev;
  file_ = file.st_ino;
  if ((owner.user || owner.group) && ::lchown(path_.c_str(), owner.user.value_or(uid_t(-1)),
                                              owner.group.value_or(gid_t(-1))) != 0) {
    return system_failure(path_, errno);
  }
  if (::chmod(path_.c_str(), mode) != 0) return system_failure(path_, errno);
  return {};
}

UnixSocket::~UnixSocket() {
  remove_file();
  if (socket_ >= 0) ::close(socket_);
}

void UnixSocket::remove_file() noexcept {
  if (file_ == 0) return;
  struct stat present;
  // The file of another program, which replaced it, stays. A failure is ignored: the next start
  // replaces it.
  if (::lstat(path_.c_str(), &present) == 0 && present.st_dev == device_ &&
      present.st_ino == file_) {
    (void)::unlink(path_.c_str());
  }
  file_ = 0;
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
