// EpollWatches: descriptors of other owners in an engine's epoll, and their watchers.
//
// Owns       nothing but its notes; descriptors and watchers are borrowed until remove().
// Thread     the engine's.
// Allocates  for each descriptor beyond the most that were watched before.
// Fails      set() says why a descriptor cannot be watched.
// Invariant  an event that was reported before a change is not told to another watch, and not
//            beyond what is wanted now. Level-triggered in both forms of the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/net/engine/engine.hpp"

namespace katana::engine {

class EpollWatches {
 public:
  // Marks the user data of a watch. The other bits are generation << 16 | index.
  static constexpr std::uint32_t kind = 1u << 31;

  // See Engine::watch().
  Result<void> set(int epoll, int fd, Readiness wanted, Watcher& watcher);
  // See Engine::unwatch().
  void remove(int epoll, int fd);
  // `data` is the user data of an event, without `kind`.
  void ready(std::uint32_t data, std::uint32_t events);

 private:
  struct Watched {
    int fd = -1;                   // borrowed; -1: the place is free
    std::uint32_t generation = 0;  // changes at each release; only events of one wait are compared
    Readiness wanted = {};
    Watcher* watcher = nullptr;  // borrowed
  };
  Watched* find(int fd);
  static void release(Watched& place);
  int control(int epoll, int operation, const Watched& place) const;

  std::vector<Watched> watched_;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
