// receive_from(), send_to(), send_gathered() and wait_for_events(): recv(2), send(2), sendmsg(2)
// and epoll_pwait2(2), straight to the kernel.
//
// The C library's functions are points at which pthread_cancel(3) may end a thread. As soon as a
// process has had a second thread, each call pays some 50 instructions for that. Nothing here is
// ever cancelled. Under a sanitizer, and on other processors than x86-64, they are the C library's.
//
// Thread     any.
// Fails      -1, and errno says why.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <ctime>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
// Defined: calls go through the C library, where sanitizers see them.
#define KATANA_CALLS_OF_THE_C_LIBRARY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KATANA_CALLS_OF_THE_C_LIBRARY 1
#endif
#endif

namespace katana::engine {

// Since Linux 5.11; the number is the same on every processor.
inline constexpr long epoll_pwait2_number = 441;

#if defined(KATANA_CALLS_OF_THE_C_LIBRARY)
inline ssize_t receive_from(int socket, void* into, std::size_t room) noexcept {
  return ::recv(socket, into, room, 0);
}
inline ssize_t send_to(int socket, const void* bytes, std::size_t count, int flags) noexcept {
  return ::send(socket, bytes, count, flags);
}
inline ssize_t send_gathered(int socket, const msghdr& message, int flags) noexcept {
  return ::sendmsg(socket, &message, flags);
}
// The C library has epoll_pwait2() only since glibc 2.35.
inline int wait_for_events(int epoll, epoll_event* events, int events_max,
                           const timespec& wait_max) noexcept {
  return static_cast<int>(::syscall(epoll_pwait2_number, epoll, events, events_max, &wait_max,
                                    nullptr, std::size_t{0}));
}
inline int wait_for_events_ms(int epoll, epoll_event* events, int events_max,
                              int wait_max_ms) noexcept {
  return ::epoll_wait(epoll, events, events_max, wait_max_ms);
}
#else
// The kernel's convention (syscall(2), "Architecture calling conventions").
inline ssize_t kernel_call(long number, int descriptor, const void* memory, std::size_t third,
                           long fourth_argument) noexcept {
  long result = number;
  register long fourth asm("r10") = fourth_argument;
  register long fifth asm("r8") = 0;
  register long sixth asm("r9") = 0;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(static_cast<long>(descriptor)), "S"(memory), "d"(third), "r"(fourth),
                 "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  if (result < 0) [[unlikely]] {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}
inline ssize_t receive_from(int socket, void* into, std::size_t room) noexcept {
  return kernel_call(SYS_recvfrom, socket, into, room, 0);
}
inline ssize_t send_to(int socket, const void* bytes, std::size_t count, int flags) noexcept {
  return kernel_call(SYS_sendto, socket, bytes, count, flags);
}
inline ssize_t send_gathered(int socket, const msghdr& message, int flags) noexcept {
  return kernel_call(SYS_sendmsg, socket, &message, static_cast<std::size_t>(flags), 0);
}
inline int wait_for_events(int epoll, epoll_event* events, int events_max,
                           const timespec& wait_max) noexcept {
  return static_cast<int>(kernel_call(epoll_pwait2_number, epoll, events,
                                      static_cast<std::size_t>(events_max),
                                      reinterpret_cast<long>(&wait_max)));
}
inline int wait_for_events_ms(int epoll, epoll_event* events, int events_max,
                              int wait_max_ms) noexcept {
  return static_cast<int>(kernel_call(SYS_epoll_wait, epoll, events,
                                      static_cast<std::size_t>(events_max), wait_max_ms));
}
#endif

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
