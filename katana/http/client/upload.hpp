// Upload: the content of a call on its way from a ContentSource to the driver that sends it.
//
//   fresh ──begin()──▶ (waits for 100) ──go()──▶ reads ⇄ ready ──▶ ended
//
// Owns       the piece that is being sent, the task that reads the next, and a timer.
// Borrows    the source and the call, which outlive it.
// Thread     its reactor's.
// Allocates  the frame of each read().
// Fails      by aborting the call: the source failed or threw, or its length differs from the
//            declared one.
// Invariant  at most one piece is held, and none is read before the driver has sent the one before.
//            The source is read in the RunQueue, never inside a call of a session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/http/client/call.hpp"
#include "katana/http/client/content_source.hpp"
#include "katana/http/client/reactor_context.hpp"
#include "katana/http/client/run_queue.hpp"
#include "katana/net/reactor/timer_wheel.hpp"

namespace katana::client {

class Upload final : public Runnable, private net::TimerEntry {
 public:
  // The call's Outgoing has a source. REQUIRES that the call is not submitted yet.
  Upload(ReactorContext& context, Call& call) noexcept;
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  // True if a piece was read from the source, or is being read.
  bool consumed() const noexcept { return consumed_; }

  // ---- for drivers
  // The head was sent on an established connection. Reads the first piece, or, with Expect, waits
  // at most HttpClientOptions::continue_timeout for go().
  void begin() noexcept;
  bool begun() const noexcept { return begun_; }
  // The server wants the body (100 Continue).
  void go() noexcept;
  // The bytes that can be sent now. CallCarrier::on_upload() reports when there are more.
  Bytes ready() const noexcept { return piece_.bytes().substr(taken_); }
  // The driver has sent or copied the first `bytes` bytes of ready().
  void advance(std::size_t bytes) noexcept;
  // True if nothing follows.
  bool ended() const noexcept { return ended_; }

 private:
  void run() noexcept override;
  static void on_timer(TimerEntry& entry) noexcept { static_cast<Upload&>(entry).go(); }
  Task<void> pull();
  void take(Text piece) noexcept;
  void read_later() noexcept { context_.queue().run_later(*this); }

  ReactorContext& context_;
  Call& call_;
  Text piece_;
  std::size_t taken_ = 0;  // of piece_
  std::uint64_t total_ = 0;
  std::optional<Task<void>> pulling_;
  bool begun_ = false;
  bool waits_ = false;  // for 100 Continue
  bool consumed_ = false;
  bool ended_ = false;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
