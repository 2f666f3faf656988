// Poller: the sockets of one thread's connections, behind one descriptor.
//
// A reactor watches a descriptor for reading only, but a link also has to know when it may write.
// Therefore the sockets are in their own epoll, whose descriptor is readable when one of them has
// an event. This costs one system call for each wake-up, whatever the number of sockets.
//
// Owns       the epoll.
// Borrows    watchers, until unwatch().
// Thread     one.
// Allocates  an entry for each watched socket.
// Fails      create() and watch() return the reason.
// Invariant  level-triggered: an event that a watcher leaves is reported again. A watcher gets
//            events only of the socket that it watched last. A socket that was closed may
//            stay in the epoll while a child between fork() and exec() has a copy.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "katana/base/system/result.hpp"

namespace katana::database::postgres {

// Receives the events of a socket from a Poller.
class SocketWatcher {
 public:
  // `readable` false: it can only be written. May call watch() and unwatch().
  virtual void on_socket(bool readable) noexcept = 0;

 protected:
  ~SocketWatcher() = default;

 private:
  friend class Poller;
  std::uint64_t token_ = 0;  // of the socket that it watches; 0: none
};

class Poller {
 public:
  // Fails when the process has no descriptor left.
  static katana::Result<std::unique_ptr<Poller>> create();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  int descriptor() const noexcept { return descriptor_; }  // readable when a socket has an event
  // Adds the socket, or changes the events to wait for. Without any event it is kept and silent.
  katana::Result<void> watch(int socket, bool read, bool write, SocketWatcher& watcher) noexcept;
  // The watcher hears no more. `socket` is -1 if it was closed.
  void unwatch(int socket, SocketWatcher& watcher) noexcept;
  // Waits for at most `timeout_ms`; -1: for ever. Tells the watchers of their events.
  void dispatch(int timeout_ms) noexcept;

 private:
  explicit Poller(int descriptor) noexcept : descriptor_(descriptor) {}
  const int descriptor_;
  std::uint64_t last_token_ = 0;
  std::unordered_map<std::uint64_t, SocketWatcher*> watchers_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
