// Descriptor: a file descriptor that is closed with its owner; Doorbell: an eventfd that wakes
// the threads that wait on it.
//
// Thread     Doorbell::ring may be called by any; the rest belongs to the owner.
// Fails      a Doorbell that cannot be made throws std::system_error: without one no run begins.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace katana::load {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

class Doorbell {
 public:
  Doorbell() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (fd_.get() < 0) throw std::system_error(errno, std::system_category(), "eventfd");
  }
  void ring() noexcept {
    const std::uint64_t one = 1;
    // Ignored: it fails only when 2^64 - 1 rings are pending, and then it rings already.
    [[maybe_unused]] const auto written = ::write(fd_.get(), &one, sizeof one);
  }
  void silence() noexcept {
    std::uint64_t rings = 0;
    // Ignored: nothing to read is silence, too.
    [[maybe_unused]] const auto got = ::read(fd_.get(), &rings, sizeof rings);
  }
  int fd() const noexcept { return fd_.get(); }

 private:
  Descriptor fd_;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
