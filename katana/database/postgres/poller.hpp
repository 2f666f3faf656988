// Poller: the sockets of one thread's connections, behind one descriptor.
//
// A reactor watches a descriptor for what can be read and libpq also has to know when it may write,
// so the sockets are in an epoll of their own, whose descriptor is readable when one of them has
// something to say. It costs a system call for each wake-up, whatever the number of sockets.
//
// Owns       the epoll.
// Borrows    watchers, until unwatch() and the end of the dispatch() that is under way.
// Thread     one.
// Allocates  never.
// Fails      create() and watch() return why.
// Invariant  level-triggered: what a watcher leaves is reported again.
#pragma once

#include <memory>

#include "katana/base/result.hpp"

namespace katana::database::postgres {

class SocketWatcher {
 public:
  virtual void on_socket(bool readable) noexcept = 0;

 protected:
  ~SocketWatcher() = default;
};

class Poller {
 public:
  static katana::Result<std::unique_ptr<Poller>> create();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  // Adds the socket, or changes what is waited for; for nothing: it is kept and silent.
  katana::Result<void> watch(int socket, bool read, bool write, SocketWatcher& watcher) noexcept;
  // REQUIRES that the socket is still open: one that was closed has left by itself.
  void unwatch(int socket) noexcept;
  // Waits for so long; -1: for ever. Tells the watchers of what is ready.
  void dispatch(int timeout_ms) noexcept;

 private:
  explicit Poller(int descriptor) noexcept : descriptor_(descriptor) {}
  const int descriptor_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
