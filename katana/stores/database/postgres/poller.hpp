// Poller: the sockets of one thread's connections, behind one descriptor.
//
// A reactor watches a descriptor for what can be read and libpq also has to know when it may write,
// so the sockets are in their own epoll, whose descriptor is readable when one of them has
// something to say. It costs a system call for each wake-up, whatever the number of sockets.
//
// Owns       the epoll.
// Borrows    watchers, until unwatch().
// Thread     one.
// Allocates  an entry for each watched socket.
// Fails      create() and watch() return why.
// Invariant  level-triggered: what a watcher leaves is reported again. A watcher gets events of the
//            socket that it watched last, and of no other: one that libpq has closed stays in the
//            epoll for as long as a child between fork() and exec() has a copy.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "katana/base/system/result.hpp"

namespace katana::database::postgres {

// What a Poller tells about a socket.
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
  // Adds the socket, or changes what is waited for; for nothing: it is kept and silent.
  katana::Result<void> watch(int socket, bool read, bool write, SocketWatcher& watcher) noexcept;
  // The watcher hears no more. `socket` is -1 if it was closed.
  void unwatch(int socket, SocketWatcher& watcher) noexcept;
  // Waits for so long; -1: for ever. Tells the watchers of what is ready.
  void dispatch(int timeout_ms) noexcept;

 private:
  explicit Poller(int descriptor) noexcept : descriptor_(descriptor) {}
  const int descriptor_;
  std::uint64_t last_token_ = 0;
  std::unordered_map<std::uint64_t, SocketWatcher*> watchers_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
