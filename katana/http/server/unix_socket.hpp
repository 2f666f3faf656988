// UnixSocket: a listening Unix socket, and its file.
//
// The file of a server that was killed stays: one without a listener is replaced. Two programs
// that replace the same file in the same moment are not told from one another; sockets of the
// service manager are.
//
// Owns       the socket, and the file, which is removed as long as it is the one that was made.
// Thread     one.
// Allocates  when made.
// Fails      open() with the path, the reason and the remedy: a program listens there, the file is
//            no socket, no such folder, no right.
// Invariant  no client can connect before the file has its mode and its owner.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "katana/base/system/result.hpp"

namespace katana::server {

// Owner and group of a file; none: it stays as it is.
struct FileOwner {
  std::optional<uid_t> user;   // none: the user of the process
  std::optional<gid_t> group;  // none: the group of the process
};

// "0660", "660"; octal, at most 0777. An Error names the remedy only.
Result<mode_t> parse_file_mode(std::string_view text);
// "USER", "USER:GROUP", ":GROUP" as names or numbers; empty: unchanged. An Error as above.
Result<FileOwner> parse_file_owner(std::string_view text);

class UnixSocket {
 public:
  // REQUIRES a path of 1 to socket_path_bytes_max bytes without NUL.
  static Result<UnixSocket> open(const std::string& path, mode_t mode, const FileOwner& owner,
                                 int backlog);
  // A socket that listens there already, of the program before: a copy of it. Mode and owner are
  // set again; the file is the other's until take_file().
  static Result<UnixSocket> adopt(const std::string& path, int socket, mode_t mode,
                                  const FileOwner& owner);
  ~UnixSocket();
  UnixSocket(UnixSocket&& other) noexcept
      : path_(std::move(other.path_)),
        socket_(std::exchange(other.socket_, -1)),
        device_(other.device_),
        file_(std::exchange(other.file_, 0)),
        adopted_(other.adopted_) {}
  UnixSocket& operator=(UnixSocket&&) = delete;

  int socket() const noexcept { return socket_; }  // the descriptor; listening
  // For an adopted one: the file is this one's from here on, and removed with it.
  void take_file() noexcept { file_ = adopted_ != 0 ? std::exchange(adopted_, 0) : file_; }
  // The file is the next program's.
  void leave_file() noexcept { file_ = 0; }
  // No client connects from now on; what waits can still be accepted. Called again, it does
  // nothing.
  void remove_file() noexcept;

 private:
  // The file is this one's from here on.
  Result<void> enter_file(mode_t mode, const FileOwner& owner);
  UnixSocket(std::string path, int socket) : path_(std::move(path)), socket_(socket) {}

  std::string path_;
  int socket_ = -1;
  dev_t device_ = 0;
  ino_t file_ = 0;     // 0: none of ours
  ino_t adopted_ = 0;  // it will be ours
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
