// ReactorWalk: reads the state of one reactor on its thread, in slices: the reactor serves requests
// between them.
//
//   class Requests final : public ReactorWalk { … slice(net::Reactor& reactor) … };
//   auto walk = std::make_shared<Requests>();
//   status->begin(walk);                                    // http/server/reactor_probe.hpp
//   (void)co_await net::with_timeout(walk_ends({walk}), milliseconds(100));
//   if (walk->is_over()) …                                  // its results are complete
//
// Owns       what the derived class collects.
// Thread     slice() and end() the reactor's; the results once is_over() is true, any.
// Allocates  the event.
// Fails      a reactor that is stuck does not answer: is_over() stays false.
// Invariant  a walk that was begun ends, and is kept until then. After abandon() it ends with the
//            next slice, and is not over. walk_ends() abandons walks that it no longer waits for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/shared_wait.hpp"

namespace katana::server {

class ReactorWalk : private Message {
 public:
  ReactorWalk();
  virtual ~ReactorWalk() = default;
  ReactorWalk(const ReactorWalk&) = delete;
  ReactorWalk& operator=(const ReactorWalk&) = delete;

  // True once the last slice is read. The results are then complete.
  bool is_over() const noexcept { return over_.load(std::memory_order_acquire); }
  // Nothing waits for it any more. Any thread.
  void abandon() noexcept { abandoned_.store(true, std::memory_order_relaxed); }
  // Set at the end.
  const std::shared_ptr<net::SharedEvent>& ended() const noexcept { return ended_; }

 protected:
  // Reads the next part. Returns true if there is no other.
  virtual bool slice(net::Reactor& reactor) noexcept = 0;
  // The last call, also after abandon().
  virtual void end() noexcept {}

 private:
  friend class ReactorStatus;
  // On any thread, once. The reactor runs, or receives messages for the last time.
  static void begin(std::shared_ptr<ReactorWalk> walk, net::Reactor& reactor);
  void go_on() noexcept;

  net::Reactor* reactor_ = nullptr;
  std::shared_ptr<ReactorWalk> self_;  // while a message is under way
  const std::shared_ptr<net::SharedEvent> ended_ = std::make_shared<net::SharedEvent>();
  bool begun_ = false;
  std::atomic<bool> over_ = false;
  std::atomic<bool> abandoned_ = false;
};

// The fate of walks that have not ended when nothing waits for them any more.
enum class WhenLate : std::uint8_t {
  abandon,  // their results are not wanted then
  go_on,    // what they do is wanted, however late
};

// Waits until all of them have ended. If it ends earlier, by a timeout or because its caller has
// ended, the others become what `late` says. REQUIRES that all were begun.
Task<void> walk_ends(std::vector<std::shared_ptr<ReactorWalk>> walks,
                     WhenLate late = WhenLate::abandon);

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
