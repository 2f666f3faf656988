#include "katana/stores/database/postgres/poller.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace katana::database::postgres {
namespace {

std::unexpected<katana::Error> failed(const char* what) {
  return katana::fail(Code::unavailable,
                      std::string(what) + ": " + std::generic_category().message(errno));
}

}  // namespace

katana::Result<std::unique_ptr<Poller>> Poller::create() {
  const int descriptor = epoll_create1(EPOLL_CLOEXEC);
  if (descriptor < 0) return failed("cannot make an epoll for connections to PostgreSQL");
  return std::unique_ptr<Poller>(new Poller(descriptor));
}

Poller::~Poller() { ::close(descriptor_); }

katana::Result<void> Poller::watch(int socket, bool read, bool write,
                                   SocketWatcher& watcher) noexcept {
  epoll_event event{};
  event.events = (read ? EPOLLIN | EPOLLRDHUP : 0u) | (write ? EPOLLOUT : 0u);
  event.data.u64 = watcher.token_;
  if (epoll_ctl(descriptor_, EPOLL_CTL_MOD, socket, &event) == 0) return {};
  if (errno == ENOENT) {
    watchers_.erase(watcher.token_);
    watcher.token_ = ++last_token_;
    watchers_.emplace(watcher.token_, &watcher);
    event.data.u64 = watcher.token_;
    if (epoll_ctl(descriptor_, EPOLL_CTL_ADD, socket, &event) == 0) return {};
  }
  return failed("cannot watch a connection to PostgreSQL");
}

void Poller::unwatch(int socket, SocketWatcher& watcher) noexcept {
  watchers_.erase(std::exchange(watcher.token_, 0));
  if (socket < 0) return;
  epoll_event none{};
  // Ignored: it fails only for a socket that was never watched.
  (void)epoll_ctl(descriptor_, EPOLL_CTL_DEL, socket, &none);
}

void Poller::dispatch(int timeout_ms) noexcept {
  std::array<epoll_event, 64> events;
  const int count =
      epoll_wait(descriptor_, events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int index = 0; index < count; ++index) {
    const epoll_event& event = events[static_cast<std::size_t>(index)];
    const bool readable = (event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0;
    const std::uint64_t token = event.data.u64;  // copied: the event is packed
    const auto found = watchers_.find(token);
    if (found != watchers_.end()) found->second->on_socket(readable);
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
