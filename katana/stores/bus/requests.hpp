// Requests: the requests of one reactor on a bus, and the coroutines that wait for the answers.
//
// One subscription serves all of them: each request has a subject below the reactor's inbox, which
// cannot be guessed.
//
// Owns       its subscription.
// Borrows    the waiting coroutines, which withdraw when they are destroyed.
// Thread     its reactor's.
// Allocates  an entry for each request that waits.
// Fails      ready() as subscribe() does, and with resource_exhausted at requests_max.
// Invariant  a request ends once: by its first answer, or by its time. Later answers go nowhere.
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "katana/base/coroutine/activity.hpp"
#include "katana/net/reactor/timer_wheel.hpp"
#include "katana/stores/bus/fan_out.hpp"

namespace katana::bus {

class Requests final : public net::Attachment {
 public:
  Requests(FanOut& fan_out, Port& port);
  ~Requests() override;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // The Requests of the port; made if there are none.
  static Requests& of(FanOut& fan_out, Port& port);

  // Subscribes to the answers if that is not done yet.
  Result<void> ready();

  // Waits from its construction on. REQUIRES ready().
  class [[nodiscard]] Wait final : private net::TimerEntry {
   public:
    Wait(Requests& requests, Instant end);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    std::string reply_to() const;  // for Publication::reply_to; below the inbox of the reactor
    // This process has a subscriber that answers: the server's "no responders" is then ignored.
    void ignore_no_responders() noexcept { ignores_no_responders_ = true; }
    bool await_ready() const noexcept { return over_; }
    void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
    // The answer. Nothing: the time is over.
    std::optional<HeldMessage> await_resume() noexcept { return std::move(answer_); }

   private:
    friend class Requests;
    void end() noexcept;
    Requests* requests_;
    const std::uint64_t number_;
    std::optional<HeldMessage> answer_;
    bool over_ = false;
    bool ignores_no_responders_ = false;
    Waiting waiting_;
  };

 private:
  void on_answer(const Delivery& message) noexcept;

  FanOut& fan_out_;
  Port& port_;
  const std::string inbox_;  // "_INBOX.…"
  Subscription subscription_;
  std::unordered_map<std::uint64_t, Wait*> waiting_;
  std::uint64_t last_ = 0;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
