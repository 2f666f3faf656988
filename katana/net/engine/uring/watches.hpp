// UringWatches: descriptors of other owners, and the watchers to call when they are readable.
//
// Owns       nothing but its notes; descriptors and watchers are borrowed until remove().
// Thread     the ring's.
// Allocates  for each descriptor beyond the most that were watched before.
// Fails      add() says why a descriptor cannot be watched.
// Invariant  a poll reports once and is armed again; a late one finds another generation.
#pragma once

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/sockets.hpp"
#include "katana/net/engine/uring/entries.hpp"
#include "katana/net/engine/uring/state.hpp"

namespace katana::engine {

class UringWatches {
 public:
  // Watches the descriptor. REQUIRES that it is not watched.
  Result<void> add(int fd, Watcher& watcher) {
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
    due_.push_back(index);
    return {};
  }

  // Appends the polls to cancel to `cancels`.
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
      each.armed =
          submit_poll(ring, each.fd, POLLIN, tag(UringKind::watch, index, each.generation));
      if (!each.armed) return false;
    }
    return true;
  }

  // A poll has completed.
  KATANA_RARE void ready(Link tagged, int result) {
    UringWatched& each = watched_[tagged.index];
    if (each.watcher == nullptr || each.generation != tagged.generation) return;
    each.armed = false;
    due_.push_back(tagged.index);
    if (result > 0) each.watcher->on_ready();
  }

 private:
  std::vector<UringWatched> watched_;
  std::vector<std::uint32_t> due_;  // to be armed
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
