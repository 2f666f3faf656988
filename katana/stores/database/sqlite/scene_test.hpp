// Scene: executors in virtual time, on one thread. A seed decides how long every message takes.
//
// Owns       its executors and events.
// Thread     one.
// Fails      never.
// Invariant  the same seed gives the same order of events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::database::sqlite {

class Scene {
 public:
  class Actor final : public Executor {
   public:
    explicit Actor(Scene& scene) : scene_(scene) {}
    void post(Message& message) noexcept override { scene_.add(*this, message); }
    // Runs `happens` on this executor now, and ends its turn.
    template <class F>
    void turn(F&& happens) {
      Executor* const before = enter(this);
      happens();
      end_turn();
      enter(before);
    }

   private:
    Scene& scene_;
  };

  explicit Scene(std::uint64_t seed, Duration delay_max = milliseconds(5))
      : random(seed), delay_max_(delay_max) {}

  Instant now() const { return now_; }
  std::function<Instant()> clock() {
    return [this] { return now_; };
  }
  void pass(Duration duration) { now_ = now_ + duration; }
  bool idle() const { return events_.empty(); }
  // The next event, at its time.
  void step() {
    const Event event = events_.top();
    events_.pop();
    now_ = std::max(now_, event.due);
    trace = (trace ^ static_cast<std::uint64_t>(event.due.ns)) * 0x100000001b3;
    event.actor->turn([&] { event.message->run(*event.message); });
  }
  void run() {
    while (!idle()) step();
  }

  std::mt19937_64 random;
  std::uint64_t trace = 0xcbf29ce484222325;
  Actor home{*this}, other_home{*this}, writer{*this}, readers{*this};

 private:
  struct Event {
    Instant due;
    std::uint64_t number;
    Actor* actor;
    Message* message;
    bool operator<(const Event& other) const {
      return std::pair(other.due, other.number) < std::pair(due, number);
    }
  };
  void add(Actor& actor, Message& message) noexcept {
    const auto delay =
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(delay_max_.ns));
    events_.push({now_ + nanoseconds(delay + 1), ++number_, &actor, &message});
  }

  Duration delay_max_;
  Instant now_{seconds(1000).ns};
  std::uint64_t number_ = 0;
  std::priority_queue<Event> events_;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
