// Restart: the thread that starts a successor for the reactors, which continue to serve.
//
// Owns       the thread, while there is one; a pipe that cancels the attempt.
// Borrows    the sockets' descriptors, until the attempt is over.
// Thread     begin() one, a reactor's; cancel() any; `done` is called on the thread of the attempt.
// Allocates  the thread, and lists of sockets.
// Fails      begin() without a thread or a pipe; `done` gets the error of an attempt.
// Invariant  one attempt at a time. When this is destroyed no attempt runs.
#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/server/replacement.hpp"

namespace katana::server {

class Restart {
 public:
  // Gets the result of an attempt to hand over those sockets.
  using Done = std::function<void(const std::vector<HandedSocket>&, const Result<Replacement>&)>;

  // `start` blocks; `done` is called once for each attempt that has begun. Construct it before
  // reactors are bound to CPUs: a successor may run where the calling thread may.
  Restart(StartReplacement start, Done done);
  ~Restart();
  Restart(const Restart&) = delete;
  Restart& operator=(const Restart&) = delete;

  // Fails if an attempt is in progress, or cannot begin.
  Result<void> begin(std::vector<HandedSocket> sockets);
  // From now on no attempt succeeds, and none begins.
  void cancel() noexcept;

 private:
  void run(const std::vector<HandedSocket>& sockets) noexcept;

  const StartReplacement start_;
  const Done done_;
  cpu_set_t cpus_;  // where the program could run before its reactors were bound to CPUs
  std::array<int, 2> cancel_{-1, -1};  // a pipe, made before any thread starts; -1: none was
                                       // available
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> running_ = false;
  std::thread thread_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
