// system_calls: how often this program called the kernel for its sockets, for tests of what an
// engine costs.
//
// Thread     counted by one thread; read by it.
// Fails      counts nothing under ThreadSanitizer, which replaces these functions by its own, and
//            nothing where the engine calls the kernel itself: a test of counts is skipped there.
// Invariant  replaces functions of the C library, so exactly one file of a test program
//            includes it.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "katana/base/system/thread_sanitizer_test.hpp"
#include "katana/net/engine/system_calls.hpp"

namespace katana::engine {

struct SystemCalls {
  std::uint64_t accept = 0;
  std::uint64_t receive = 0;
  std::uint64_t send = 0;
  std::uint64_t control = 0;  // epoll_ctl
  std::uint64_t option = 0;   // setsockopt
  std::uint64_t peer = 0;     // getpeername
};

inline constinit thread_local SystemCalls system_calls{};

#if defined(KATANA_THREAD_SANITIZER) || !defined(KATANA_CALLS_OF_THE_C_LIBRARY)
inline constexpr bool system_calls_are_counted = false;
#else
inline constexpr bool system_calls_are_counted = true;
#endif

}  // namespace katana::engine

#if !defined(KATANA_THREAD_SANITIZER)
extern "C" {

ssize_t recv(int fd, void* buffer, size_t bytes, int flags) {
  ++katana::engine::system_calls.receive;
  return syscall(SYS_recvfrom, fd, buffer, bytes, flags, nullptr, nullptr);
}

ssize_t send(int fd, const void* buffer, size_t bytes, int flags) {
  ++katana::engine::system_calls.send;
  return syscall(SYS_sendto, fd, buffer, bytes, flags, nullptr, 0);
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  ++katana::engine::system_calls.send;
  return syscall(SYS_sendmsg, fd, message, flags);
}

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  ++katana::engine::system_calls.accept;
  return static_cast<int>(syscall(SYS_accept4, fd, address, size, flags));
}

int getpeername(int fd, sockaddr* address, socklen_t* size) noexcept {
  ++katana::engine::system_calls.peer;
  return static_cast<int>(syscall(SYS_getpeername, fd, address, size));
}

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  ++katana::engine::system_calls.control;
  return static_cast<int>(syscall(SYS_epoll_ctl, epoll, operation, fd, event));
}

int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  ++katana::engine::system_calls.option;
  return static_cast<int>(syscall(SYS_setsockopt, fd, level, name, value, size));
}

}  // extern "C"
#endif

// SPDX-License-Identifier: Apache-2.0
