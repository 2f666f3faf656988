// UnixSocket: a listening Unix socket, and its file.
//
// The file of a killed server stays: a file without a listener is replaced. If two programs replace
// the same file at the same moment, neither notices the other. Sockets of the service manager do
// not have this problem.
//
// Owns       the socket, and the file. It removes the file only if it is the one that it made.
// Thread     one.
// Allocates  when made.
// Fails      open() with the path, the reason and the remedy. Reasons: a program listens there, the
//            file is no socket, the folder is missing, or the access is denied.
// Invariant  no client can connect before the file has its mode and its owner.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "katana/base/system/result.hpp"

namespace katana::server {

// Owner and group of a file; empty: unchanged.
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
  // Makes a copy of a socket of the replaced program that listens there already. Mode and owner are
  // set again; the file belongs to the other program until take_file().
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
  // For an adopted socket: the file belongs to this object from now on, and is removed with it.
  void take_file() noexcept { file_ = adopted_ != 0 ? std::exchange(adopted_, 0) : file_; }
  // The file belongs to the next program.
  void leave_file() noexcept { file_ = 0; }
  // No client can connect from now on; waiting connections can still be accepted. A second call
  // does nothing.
  void remove_file() noexcept;

 private:
  // The file belongs to this object from now on.
  Result<void> enter_file(mode_t mode, const FileOwner& owner);
  UnixSocket(std::string path, int socket) : path_(std::move(path)), socket_(socket) {}

  std::string path_;
  int socket_ = -1;
  dev_t device_ = 0;
  ino_t file_ = 0;     // 0: no file
  ino_t adopted_ = 0;  // will become file_
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
