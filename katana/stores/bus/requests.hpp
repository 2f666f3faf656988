// Requests: what one reactor has asked on a bus, and who waits for the answers.
//
// One subscription serves all of them: each has its own subject below the reactor's, which
// cannot be guessed.
//
// Owns       its subscription.
// Borrows    those who wait, whose coroutines withdraw when they are destroyed.
// Thread     its reactor's.
// Allocates  a place for each that waits.
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

  // For the port; made if there is none.
  static Requests& of(FanOut& fan_out, Port& port);

  // Subscribes if that is not done yet.
  Result<void> ready();

  // Waits from its construction on. REQUIRES ready().
  class [[nodiscard]] Wait final : private net::TimerEntry {
   public:
    Wait(Requests& requests, Instant end);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    std::string reply_to() const;  // for Publication::reply_to; below the inbox of the reactor
    // A subscriber of this process is asked: that a server knows none is no answer.
    void ignore_no_responders() noexcept { ignores_no_responders_ = true; }
    bool await_ready() const noexcept { return over_; }
    void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
    // Nothing: the time is over.
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

// What answers go to begins with this, on every bus and with every prefix.
inline constexpr Bytes inbox_prefix = "_INBOX.";

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
