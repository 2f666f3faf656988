// StreamScheduler: what the streams of one HTTP/2 connection share: its machine and its output, the
// order in which they send, and the budgets of what they hold. Http2Session owns it; exchanges, and
// WebSocket connections on streams, know it and nothing of the session.
//
// Borrows    the protocol, the connection, the machine, and the streams in the machine's list.
// Thread     its reactor's.
// Allocates  never.
// Invariant  blocked_, queued_, withheld_, held_bytes_ and content_held_ are the counts and sums
//            over the streams, as set_blocked(), note_queued(), return_window(), hold() and
//            set_content_held() were told.
//
// Which stream sends next when several could: the most urgent; among equals those that are not
// incremental, in the order of their requests; then the incremental ones in turns (RFC 9218 §10).
#pragma once

#include <algorithm>
#include <cstdint>

#include "katana/http/session/http2_protocol.hpp"
#include "katana/net/reactor/connection.hpp"
#include "katana/wire/http2/machine.hpp"

namespace katana::session {

// What the scheduler knows of a stream. Only it changes these, but for `request_complete` and
// `reply_sent`.
struct ScheduledStream : http2::Stream {
  // It is not complete, and goes on: it may hold a share of the memory for content.
  virtual bool is_receiving() const noexcept = 0;

  // Next in the list of streams that are over; null: the last.
  ScheduledStream* next_over = nullptr;
  std::uint64_t served = 0;       // when it had its last turn among equals
  std::uint64_t tried = 0;        // the pump in which it could not go on
  std::size_t content_held = 0;   // of the scheduler's sum
  std::size_t withheld = 0;       // of its window, because too much is held
  bool queued = false;            // its handler has not been called yet
  bool request_complete = false;  // all of the request is here
  bool reply_sent = false;        // all of the reply, to the engine
  bool blocked = false;           // it has more to send, or its handler has
  bool over = false;              // to be destroyed

 protected:
  ScheduledStream() = default;
  ~ScheduledStream() = default;
};

class StreamScheduler {
 public:
  StreamScheduler(Http2Protocol& protocol, net::Connection& connection,
                  http2::Machine& machine) noexcept
      : protocol_(protocol), connection_(connection), machine_(machine) {}
  StreamScheduler(const StreamScheduler&) = delete;
  StreamScheduler& operator=(const StreamScheduler&) = delete;

  // ---- what is around them ----
  Http2Protocol& protocol() noexcept { return protocol_; }
  const HttpOptions& options() const noexcept { return protocol_.options(); }
  net::Connection& connection() noexcept { return connection_; }
  http2::Machine& machine() noexcept { return machine_; }
  Outbox& outbox() noexcept { return connection_.outbox(); }
  Instant now() const noexcept { return connection_.reactor().now(); }
  ScheduledStream* first() noexcept { return static_cast<ScheduledStream*>(machine_.first()); }
  static ScheduledStream* next(ScheduledStream& stream) noexcept {
    return static_cast<ScheduledStream*>(stream.next_in_list());
  }

  // ---- calls by the reactor, at whose end the session does what is due ----
  void begin_call() noexcept { in_call_ = true; }
  void end_call() noexcept { in_call_ = false; }
  // Something was done, perhaps outside of a call: one follows, to send it.
  void touch() noexcept {
    if (!in_call_) connection_.wake();
  }
  // Likewise, to do what is due.
  void touch_at_once() noexcept;

  // ---- who sends ----
  // How much a reply may write at once: nothing if others wait, whose turn it may be.
  std::size_t output_max() noexcept;
  std::size_t turn_bytes_left() const noexcept { return turn_bytes_left_; }
  void note_written(std::size_t bytes) noexcept {
    turn_bytes_left_ -= std::min(bytes, turn_bytes_left_);
  }
  // False: nothing changed.
  bool set_blocked(ScheduledStream& stream, bool blocked) noexcept;
  // Calls proceed(stream) for the stream whose turn it is, while there is room to send.
  template <class Proceed>
  void pump(Proceed&& proceed) noexcept;
  // A handler that wrote much goes on when others had their turn.
  void note_yielded() noexcept {
    has_yielded_ = true;
    connection_.want_writable();
  }
  bool take_yielded() noexcept { return std::exchange(has_yielded_, false); }

  // ---- replies that wait for their windows: memory, so no other one begins meanwhile ----
  bool may_hold() const noexcept { return held_bytes_ < options().http2.held_bytes_max; }
  std::size_t held_bytes() const noexcept { return held_bytes_; }
  void hold(std::size_t bytes) noexcept { held_bytes_ += bytes; }
  void release(std::size_t bytes) noexcept { held_bytes_ -= bytes; }
  void note_queued(ScheduledStream& stream) noexcept;
  void note_dispatched(ScheduledStream& stream) noexcept;
  bool has_queued() const noexcept { return queued_ != 0; }

  // ---- content that is held for handlers, and windows ----
  void set_content_held(ScheduledStream& stream, std::size_t bytes) noexcept {
    content_held_ = content_held_ - stream.content_held + bytes;
    stream.content_held = bytes;
  }
  // Lets the client send `bytes` again. False: too much is held, and they are withheld.
  bool return_window(ScheduledStream& stream, std::size_t bytes) noexcept;
  // Calls release(stream) for those whose windows need no longer be withheld.
  template <class Release>
  void release_windows(Release&& release) noexcept;
  void open_withheld(ScheduledStream& stream) noexcept;

  // ---- content, and WebSocket input, that has come and waits for its taker ----
  void note_delivery_due() noexcept { delivery_due_ = true; }
  bool delivery_due() const noexcept { return delivery_due_; }
  void begin_delivery() noexcept {
    delivery_due_ = false;
    ++passes_;
  }
  std::uint64_t pass() const noexcept { return passes_; }

  // ---- time ----
  void note_deadline(Instant moment) noexcept {
    streams_deadline_ = std::min(streams_deadline_, moment);
  }
  Instant deadline() const noexcept { return std::min(streams_deadline_, drain_deadline_); }
  bool streams_due() const noexcept { return now() >= streams_deadline_; }
  void forget_deadlines() noexcept { streams_deadline_ = never; }
  void begin_drain() noexcept;
  bool take_drain_due() noexcept;

  // ---- the end of streams, which the session destroys between calls ----
  void note_over(ScheduledStream& stream) noexcept;
  bool has_over() const noexcept { return first_over_ != nullptr; }
  ScheduledStream* take_over() noexcept {
    return first_over_ == nullptr ? nullptr : std::exchange(first_over_, first_over_->next_over);
  }
  // Nothing of it is counted any more.
  void forget(ScheduledStream& stream) noexcept;

  // Whether the session has to come again at once.
  bool has_more() const noexcept {
    return delivery_due_ || first_over_ != nullptr || (queued_ != 0 && may_hold());
  }
  bool has_blocked() const noexcept { return blocked_ != 0; }
  bool has_withheld() const noexcept { return withheld_ != 0; }

 private:
  bool below_content_limit() const noexcept {
    return content_held_ < options().http2.content_held_bytes_max;
  }
  ScheduledStream* first_in_line() noexcept;
  ScheduledStream* next_to_send() noexcept;

  // What one stream sends before the others are considered.
  static constexpr std::size_t turn_bytes = 16 * 1024;

  Http2Protocol& protocol_;
  net::Connection& connection_;
  http2::Machine& machine_;
  ScheduledStream* first_over_ = nullptr;  // to be destroyed, in this order
  ScheduledStream* last_over_ = nullptr;
  bool has_turn_ = false;  // a stream has
  std::size_t turn_bytes_left_ = 0;
  std::size_t held_bytes_ = 0;    // of replies, for want of a window
  std::size_t content_held_ = 0;  // of requests, until their handlers are done with it
  std::uint64_t turns_ = 0;
  std::uint64_t pumps_ = 0;
  std::uint64_t passes_ = 0;  // of deliveries
  Instant streams_deadline_ = never;
  Instant drain_deadline_ = never;
  std::uint32_t blocked_ = 0;   // streams that wait to send
  std::uint32_t queued_ = 0;    // streams whose handlers wait to be called
  std::uint32_t withheld_ = 0;  // streams whose windows are
  bool delivery_due_ = false;
  bool has_yielded_ = false;
  bool in_call_ = false;
};

template <class Proceed>
void StreamScheduler::pump(Proceed&& proceed) noexcept {
  ++pumps_;
  while (!machine_.closed() && !connection_.finishing() && !connection_.output_full()) {
    ScheduledStream* const stream = next_to_send();
    if (stream == nullptr) return;
    const std::size_t pending = outbox().pending();
    has_turn_ = true;
    turn_bytes_left_ = turn_bytes;
    stream->served = ++turns_;
    proceed(*stream);
    has_turn_ = false;
    if (outbox().pending() == pending) stream->tried = pumps_;
  }
}

template <class Release>
void StreamScheduler::release_windows(Release&& release) noexcept {
  const bool all = below_content_limit();
  const ScheduledStream* const only = all ? nullptr : first_in_line();
  for (ScheduledStream* each = first(); each != nullptr; each = next(*each)) {
    if (each->withheld != 0 && !each->over && (all || each == only)) release(*each);
  }
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
