#include "katana/http/server/reactor_walk.hpp"

#include <utility>

namespace katana::server {

ReactorWalk::ReactorWalk()
    : Message([](Message& message) noexcept { static_cast<ReactorWalk&>(message).go_on(); }) {}

void ReactorWalk::begin(std::shared_ptr<ReactorWalk> walk, net::Reactor& reactor) {
  ReactorWalk& begun = *walk;
  begun.reactor_ = &reactor;
  begun.self_ = std::move(walk);
  reactor.post(begun);
}

void ReactorWalk::go_on() noexcept {
  // A reactor that ends waits for the messages that it expects.
  if (!std::exchange(begun_, true)) reactor_->expect();
  const bool is_abandoned = abandoned_.load(std::memory_order_relaxed);
  if (!is_abandoned && !slice(*reactor_)) {
    reactor_->post(*this);
    return;
  }
  end();
  reactor_->unexpect();
  const std::shared_ptr<ReactorWalk> self = std::move(self_);
  // release: a thread that sees the end also sees the results.
  if (!is_abandoned) over_.store(true, std::memory_order_release);
  ended_->set();
}

Task<void> walk_ends(std::vector<std::shared_ptr<ReactorWalk>> walks, WhenLate late) {
  struct AtEnd {
    const std::vector<std::shared_ptr<ReactorWalk>>& walks;
    const WhenLate late;
    ~AtEnd() {
      if (late == WhenLate::go_on) return;
      for (const auto& walk : walks) walk->abandon();  // those that are over stay so
    }
  } const at_end{walks, late};
  for (const auto& walk : walks) {
    const std::shared_ptr<net::SharedEvent> ended = walk->ended();
    const bool in_time = co_await ended->wait();
    if (!in_time) co_return;
  }
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
