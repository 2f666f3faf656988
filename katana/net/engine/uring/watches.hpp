// UringWatches: descriptors of other owners, and their watchers.
//
// Owns       nothing but its notes; descriptors and watchers are borrowed until remove().
// Thread     the ring's.
// Allocates  for each descriptor beyond the most that were watched before.
// Fails      set() says why a descriptor cannot be watched.
// Invariant  a poll reports once and is armed again; a late one finds another generation. A
//            multishot poll reports arrivals only: input that a watcher leaves would be forgotten.
#pragma once

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/sockets.hpp"
#include "katana/net/engine/uring/entries.hpp"
#include "katana/net/engine/uring/state.hpp"

namespace katana::engine {

class UringWatches {
 public:
  // See Engine::watch(). Appends the poll of an earlier watch to `cancels`.
  Result<void> set(int fd, Readiness wanted, Watcher& watcher,
                   std::vector<std::uint64_t>& cancels) {
    KATANA_REQUIRE(wanted != Readiness{});
    remove(fd, cancels);
    struct stat status;
    if (fstat(fd, &status) != 0) return std::unexpected(system_error("watch a descriptor", errno));
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
      return std::unexpected(system_error("watch a descriptor", EPERM));  // it is always ready
    }
    const auto place = std::ranges::find(watched_, nullptr, &UringWatched::watcher);
    const auto index = static_cast<std::uint32_t>(place - watched_.begin());
    if (place == watched_.end()) watched_.push_back({});
    watched_[index].fd = fd;
    watched_[index].watcher = &watcher;
    watched_[index].wanted = wanted;
    due_.push_back(index);
    return {};
  }

  // See Engine::unwatch(). Appends its poll to `cancels`.
  void remove(int fd, std::vector<std::uint64_t>& cancels) {
    for (std::uint32_t index = 0; index < watched_.size(); ++index) {
      UringWatched& each = watched_[index];
      if (each.watcher == nullptr || each.fd != fd) continue;
      if (each.armed) cancels.push_back(tag(UringKind::watch, index, each.generation));
      each = {.generation = each.generation + 1};
    }
  }

  // False: the submission queue is full; the rest waits for the next turn.
  bool submit(Ring& ring) {
    for (; !due_.empty(); due_.pop_back()) {
      const std::uint32_t index = due_.back();
      UringWatched& each = watched_[index];
      if (each.watcher == nullptr || each.armed) continue;
      const unsigned events = (each.wanted.read ? POLLIN : 0u) | (each.wanted.write ? POLLOUT : 0u);
      each.armed =
          submit_poll(ring, each.fd, events, tag(UringKind::watch, index, each.generation));
      if (!each.armed) return false;
    }
    return true;
  }

  // A poll has completed. Its failure is reported as all that is wanted, which then fails.
  void ready(Link tagged, int result) {
    UringWatched& each = watched_[tagged.index];
    if (each.watcher == nullptr || each.generation != tagged.generation) return;
    each.armed = false;
    due_.push_back(tagged.index);
    const int events = result < 0 ? POLLIN | POLLOUT : result;
    const Readiness ready = {each.wanted.read && (events & ~POLLOUT) != 0,
                             each.wanted.write && (events & (POLLOUT | POLLERR | POLLHUP)) != 0};
    if (ready != Readiness{}) each.watcher->on_ready(ready);
  }

 private:
  std::vector<UringWatched> watched_;
  std::vector<std::uint32_t> due_;  // to be armed
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
