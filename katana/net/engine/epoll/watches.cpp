#include "katana/net/engine/epoll/watches.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "katana/base/system/check.hpp"
#include "katana/net/engine/sockets.hpp"

namespace katana::engine {
namespace {

constexpr std::uint32_t index_mask = 0xffff;
constexpr std::uint32_t generation_mask = 0x7fff;

}  // namespace

Result<void> EpollWatches::set(int epoll, int fd, Readiness wanted, Watcher& watcher) {
  KATANA_REQUIRE(wanted != Readiness{});
  if (Watched* const place = find(fd)) {
    place->wanted = wanted;
    place->watcher = &watcher;
    if (control(epoll, EPOLL_CTL_MOD, *place) == 0) return {};
    release(*place);  // the file that it was is closed: the number is another one's
  }
  Watched* place = find(-1);
  if (place == nullptr && watched_.size() > index_mask) {
    return fail(Code::resource_exhausted, "watch a descriptor: 65,536 are watched");
  }
  if (place == nullptr) place = &watched_.emplace_back();
  *place = {fd, place->generation, wanted, &watcher};
  if (control(epoll, EPOLL_CTL_ADD, *place) == 0) return {};
  const Error error = system_error("watch a descriptor", errno);
  release(*place);
  return std::unexpected(error);
}

void EpollWatches::remove(int epoll, int fd) {
  Watched* const place = find(fd);
  if (fd < 0 || place == nullptr) return;
  // Ignored: it fails only for a descriptor that was closed.
  (void)control(epoll, EPOLL_CTL_DEL, *place);
  release(*place);
}

void EpollWatches::ready(std::uint32_t data, std::uint32_t events) {
  const Watched& each = watched_[data & index_mask];
  if (each.fd < 0 || each.generation != data >> 16) return;
  const Readiness ready = {each.wanted.read && (events & ~std::uint32_t{EPOLLOUT}) != 0,
                           each.wanted.write && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0};
  if (ready != Readiness{}) each.watcher->on_ready(ready);
}

// Not indexed: calls are rare, and events carry their place.
EpollWatches::Watched* EpollWatches::find(int fd) {
  const auto place = std::ranges::find(watched_, fd, &Watched::fd);
  return place == watched_.end() ? nullptr : &*place;
}

void EpollWatches::release(Watched& place) {
  place = {.generation = (place.generation + 1) & generation_mask};
}

int EpollWatches::control(int epoll, int operation, const Watched& place) const {
  epoll_event event{};
  event.events = (place.wanted.read ? std::uint32_t{EPOLLIN} : 0u) |
                 (place.wanted.write ? std::uint32_t{EPOLLOUT} : 0u);
  event.data.u64 =
      kind | place.generation << 16 | static_cast<std::uint32_t>(&place - watched_.data());
  return epoll_ctl(epoll, operation, place.fd, &event);
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
