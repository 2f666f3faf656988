// Call: one attempt to send a request, and its reply. A coroutine awaits it.
//
//   waiting ──a connection takes it──▶ sent ──▶ head ──▶ content … ──▶ done
//      └──────────────┴────deadline, limit, connection lost────────────┘
//
// Owns       the response as far as it has come, a timer, and its place in a list.
// Borrows    the Outgoing, the ReactorContext, and the driver that carries the call.
// Thread     its reactor's.
// Fails      error() says what failed; repeat() says whether the request may be sent again.
// Invariant  the coroutine resumes in the RunQueue, never inside a call of a session. Destroying
//            the call cancels it: the driver that carries it resets its stream or its connection.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/client/outgoing.hpp"
#include "katana/http/client/reactor_context.hpp"
#include "katana/http/client/response.hpp"
#include "katana/http/client/run_queue.hpp"
#include "katana/net/reactor/timer_wheel.hpp"

namespace katana::client {

class Call;
class Upload;

// Whether a call that has failed may be sent again (RFC 9110 §9.2.2).
enum class Repeat : std::uint8_t {
  never,  // repeating it could do harm, or would not help
  // The connection had served another request and was lost before the first byte of the reply. The
  // server may have processed the request, which is harmless for an idempotent method.
  if_idempotent,
  // The server has stated that it did not process the request (RFC 9113 §8.7).
  always,
};

// Why a call is cancelled: the caller destroyed it, or its deadline passed.
enum class CancelReason : std::uint8_t { caller, deadline };

// A call notifies the driver that carries it through these functions.
class CallCarrier {
 public:
  // The caller no longer wants the reply. The driver forgets the call before this returns.
  virtual void cancel_call(Call& call, CancelReason reason) noexcept = 0;
  // The caller has read `bytes` of the content of a streaming call.
  virtual void on_content_read(Call& call, std::size_t bytes) noexcept = 0;
  // The call's upload has more to send, or has ended.
  virtual void on_upload(Call& call) noexcept = 0;

 protected:
  ~CallCarrier() = default;
};

class Call final : public Runnable, private net::TimerEntry {
 public:
  // The part of the reply that a coroutine waits for. content: some bytes of the body, or its end.
  enum class Wanted : std::uint8_t { whole, head, content };

  // `deadline` is the beginning plus `timeout`. The head must arrive by then, and with
  // Wanted::whole the body, too. If the body is read piece by piece, each piece has its own
  // `timeout`.
  Call(ReactorContext& context, const Outgoing& outgoing, Wanted wanted, Instant deadline,
       Duration timeout) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Waits until the wanted part of the reply is there. REQUIRES that the call was submitted to a
  // ReactorPool.
  bool await_ready() const noexcept { return ready(); }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  void await_resume() const noexcept {}
  // The call resumes no caller until it is awaited again.
  void stop_waiting() noexcept {
    waiting_ = Waiting();
    if (stage_ != Stage::waiting) leave_list();
  }

  // Valid after the call was awaited.
  bool failed() const noexcept { return error_.has_value(); }
  const Error& error() const noexcept { return *error_; }
  Repeat repeat() const noexcept { return repeat_; }
  bool done() const noexcept { return stage_ == Stage::done; }
  Response& response() noexcept { return response_; }
  void want(Wanted wanted) noexcept { wanted_ = wanted; }
  // Returns the body bytes received since the last call; more may follow.
  Text take_content() noexcept;

  // ---- for pools and drivers
  const Outgoing& outgoing() const noexcept { return outgoing_; }
  Duration timeout() const noexcept { return timeout_; }
  // Returns false if the call has failed; it then accepts no more input.
  bool take_head(unsigned status, Text head) noexcept;
  void take_head(unsigned status, const http::Head& fields) noexcept;
  bool take_content(Bytes content) noexcept;
  // True if the caller reads the body piece by piece; CallCarrier::on_content_read() reports each
  // read.
  bool streams() const noexcept { return streams_; }
  // True if the driver must pause the body until the caller has read some of it.
  bool is_full() const noexcept;
  // Null if the request has no body, or if Outgoing::content has it.
  Upload* upload() noexcept { return upload_; }
  void set_upload(Upload& upload) noexcept { upload_ = &upload; }
  void announce_upload() noexcept {
    if (carrier_ != nullptr) carrier_->on_upload(*this);
  }
  // Ends the call from this side: the stream or the connection is reset.
  void abort(Error error) noexcept {
    cancel_by(CancelReason::caller);
    fail(std::move(error), Repeat::never);
  }
  void complete() noexcept;
  void fail(Error error, Repeat repeat) noexcept;
  void set_carrier(CallCarrier& carrier) noexcept {
    carrier_ = &carrier;
    stage_ = Stage::sent;
  }
  // The connection was never made: the call waits for another one.
  void requeue() noexcept {
    carrier_ = nullptr;
    stage_ = Stage::waiting;
  }
  // True if the awaited part of the reply is there.
  bool ready() const noexcept;

 private:
  enum class Stage : std::uint8_t { waiting, sent, head, done };

  // Resumes the coroutine that waits.
  void run() noexcept override { std::exchange(waiting_, Waiting()).resume(); }
  static void on_timer(TimerEntry& entry) noexcept;
  void wake() noexcept;
  void cancel_by(CancelReason reason) noexcept;
  void arm() noexcept;
  void begin_content() noexcept;
  bool is_behind() const noexcept;

  ReactorContext& context_;
  const Outgoing& outgoing_;
  const bool streams_;
  Wanted wanted_;
  Stage stage_ = Stage::waiting;
  Repeat repeat_ = Repeat::never;
  const Duration timeout_;
  CallCarrier* carrier_ = nullptr;
  Upload* upload_ = nullptr;
  Waiting waiting_;
  std::optional<Error> error_;
  Response response_;
};

// Calls in their order; a call leaves when it is destroyed.
class CallList {
 public:
  bool empty() const noexcept { return list_.empty(); }
  std::size_t size() const noexcept { return list_.size(); }
  // At the end. REQUIRES that the call is in no list.
  void push_back(Call& call) noexcept { list_.push_back(call); }
  // At the beginning, for a call that is sent again. REQUIRES that it is in no list.
  void push_front(Call& call) noexcept { list_.push_front(call); }
  // REQUIRES not empty().
  Call& pop_front() noexcept { return static_cast<Call&>(list_.pop_front()); }

 private:
  RunList list_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
