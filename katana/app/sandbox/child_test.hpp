// Runs the part of a test that cannot be undone in its own process.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace katana::sandbox {

// How a child that calls `act` ended: its result, 0 to 255, or minus the signal.
template <class F>
int in_child(F&& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(std::forward<F>(act)());
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// The errno of binding a TCP socket to a port of 127.0.0.1; 0: it is bound.
inline int bind_error(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int result = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address);
  const int error = result == 0 ? 0 : errno;
  ::close(socket);
  return error;
}

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
