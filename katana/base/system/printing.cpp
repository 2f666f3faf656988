#include "katana/base/system/printing.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"

namespace katana {
namespace {

// True: a pipe accepts at least PIPE_BUF bytes, and a terminal at least one.
bool is_writable(int descriptor, Duration wait) noexcept {
  pollfd asked = {descriptor, POLLOUT, 0};
  const auto ms = static_cast<int>(std::clamp<std::int64_t>(wait.count_ms(), 0, 60'000));
  if (::poll(&asked, 1, ms) <= 0) {
    errno = EAGAIN;
    return false;
  }
  if ((asked.revents & (POLLERR | POLLNVAL)) == 0) return true;
  errno = EPIPE;
  return false;
}

// Returns as write() does; EAGAIN if a write() would block.
ssize_t write_some(int descriptor, mode_t kind, Bytes text, Duration wait) noexcept {
  if (S_ISREG(kind)) return ::write(descriptor, text.data(), text.size());
  if (!is_writable(descriptor, wait)) return -1;
  const std::size_t size = std::min<std::size_t>(text.size(), PIPE_BUF);
  if (S_ISSOCK(kind)) {
    return ::send(descriptor, text.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  // Another process may have filled the pipe meanwhile. The kernel is therefore told not to wait.
  // For a terminal no such flag exists.
  const iovec part = {const_cast<char*>(text.data()), size};
  const ssize_t count = ::pwritev2(descriptor, &part, 1, -1, RWF_NOWAIT);
  const bool unknown =
      count < 0 && (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS || errno == ESPIPE);
  return unknown ? ::write(descriptor, text.data(), size) : count;
}

}  // namespace

std::size_t print_without_waiting(int descriptor, Bytes text, Duration wait_max) noexcept {
  const int before = errno;  // a signal handler must preserve errno
  struct stat facts{};
  std::size_t done = 0;
  if (::fstat(descriptor, &facts) == 0) {
    const Instant end = monotonic_now() + wait_max;
    while (done < text.size()) {
      const Duration left = wait_max > Duration{} ? end - monotonic_now() : Duration{};
      const ssize_t count = write_some(descriptor, facts.st_mode, text.substr(done), left);
      if (count > 0) {
        done += static_cast<std::size_t>(count);
      } else if (count == 0 || errno != EINTR) {
        break;
      }
    }
  }
  errno = before;
  return done;
}

void print_soon(int descriptor, std::string text) noexcept {
  text.erase(0, print_without_waiting(descriptor, text));
  if (text.empty()) return;
  try {
    quiet_thread([descriptor, text = std::move(text)] {
      for (Bytes left = text; !left.empty();) {
        const ssize_t count = ::write(descriptor, left.data(), left.size());
        if (count > 0) {
          left.remove_prefix(static_cast<std::size_t>(count));
        } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
          return;
        } else if (errno == EAGAIN && !is_writable(descriptor, seconds(60)) && errno != EAGAIN) {
          return;
        }
      }
    }).detach();
  } catch (...) {
    // Without memory for a thread the line is lost. That is better than to block for its reader.
  }
}

void print_error_line(Bytes line, Duration wait_max) noexcept {
  // Written in one piece if it fits: lines of several threads then do not mix.
  std::array<char, 1024> copy;
  if (line.size() < copy.size()) {
    std::memcpy(copy.data(), line.data(), line.size());
    copy[line.size()] = '\n';
    print_without_waiting(STDERR_FILENO, {copy.data(), line.size() + 1}, wait_max);
    return;
  }
  if (print_without_waiting(STDERR_FILENO, line, wait_max) == line.size()) {
    print_without_waiting(STDERR_FILENO, "\n", wait_max);
  }
}

bool same_output(int first, int second) noexcept {
  struct stat one{};
  struct stat other{};
  return fstat(first, &one) == 0 && fstat(second, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

void keep_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number, which is this descriptor.
    const int opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY);
    if (opened > STDERR_FILENO) ::close(opened);
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
