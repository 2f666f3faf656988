// StreamScheduler: the state that the streams of one HTTP/2 connection share: its machine and
// output, the order of sending, and the memory budgets. Http2Session owns it. Exchanges, and
// WebSocket connections on streams, use it, and do not depend on the session.
//
// Borrows    the protocol, the connection, the machine, and the streams in the machine's list.
// Thread     its reactor's.
// Allocates  never.
// Invariant  blocked_, queued_, withheld_, held_bytes_ and content_held_ are the counts and sums
//            over the streams. set_blocked(), note_queued(), return_window(), hold() and
//            set_content_held() change them.
//
// If several streams could send, the most urgent one is first. Among equals those that are not
// incremental are first, in the order of their requests; the incremental ones take turns (RFC 9218
// §10).
#pragma once

#include <algorithm>
#include <cstdint>

#include "katana/http/session/http2_protocol.hpp"
#include "katana/net/reactor/connection.hpp"
#include "katana/wire/http2/machine.hpp"

namespace katana::session {

// The scheduler's data about a stream. Only the scheduler changes them, except for
// `request_complete` and `reply_sent`.
struct ScheduledStream : http2::Stream {
  // True if the request is incomplete and continues: it may hold a share of the memory for bodies.
  virtual bool is_receiving() const noexcept = 0;

  // The next in the list of ended streams; null: this is the last.
  ScheduledStream* next_over = nullptr;
  std::uint64_t served = 0;       // the time of its last turn among equals
  std::uint64_t tried = 0;        // the pump in which it could not continue
  std::size_t content_held = 0;   // its part of the scheduler's sum
  std::size_t withheld = 0;       // window bytes withheld, because too much is held
  bool queued = false;            // its handler has not been called yet
  bool request_complete = false;  // the request is complete
  bool reply_sent = false;        // the engine has the complete reply
  bool blocked = false;           // it has more to send, or its handler has
  bool over = false;              // the session is to destroy it

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

  // ---- the environment ----
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

  // ---- calls by the reactor; at their end the session does the work that is due ----
  void begin_call() noexcept { in_call_ = true; }
  void end_call() noexcept { in_call_ = false; }
  // There is output, perhaps outside of a call: a call follows, to send it.
  void touch() noexcept {
    if (!in_call_) connection_.wake();
  }
  // The same, for work that is due.
  void touch_at_once() noexcept;

  // ---- the order of sending ----
  // The bytes that a reply may write at once: none if others wait whose turn it may be.
  std::size_t output_max() noexcept;
  std::size_t turn_bytes_left() const noexcept { return turn_bytes_left_; }
  void note_written(std::size_t bytes) noexcept {
    turn_bytes_left_ -= std::min(bytes, turn_bytes_left_);
  }
  // Returns false if nothing changed.
  bool set_blocked(ScheduledStream& stream, bool blocked) noexcept;
  // Calls proceed(stream) for the stream whose turn it is, while there is room to send.
  template <class Proceed>
  void pump(Proceed&& proceed) noexcept;
  // A handler that wrote much continues when others had their turn.
  void note_yielded() noexcept {
    has_yielded_ = true;
    connection_.want_writable();
  }
  bool take_yielded() noexcept { return std::exchange(has_yielded_, false); }

  // ---- replies that wait for windows; meanwhile no other one begins, because of their memory ----
  bool may_hold() const noexcept { return held_bytes_ < options().http2.held_bytes_max; }
  std::size_t held_bytes() const noexcept { return held_bytes_; }
  void hold(std::size_t bytes) noexcept { held_bytes_ += bytes; }
  void release(std::size_t bytes) noexcept { held_bytes_ -= bytes; }
  void note_queued(ScheduledStream& stream) noexcept;
  void note_dispatched(ScheduledStream& stream) noexcept;
  bool has_queued() const noexcept { return queued_ != 0; }

  // ---- body bytes that are held for handlers, and windows ----
  void set_content_held(ScheduledStream& stream, std::size_t bytes) noexcept {
    content_held_ = content_held_ - stream.content_held + bytes;
    stream.content_held = bytes;
  }
  // Lets the client send `bytes` again. Returns false if too much is held, and withholds them.
  bool return_window(ScheduledStream& stream, std::size_t bytes) noexcept;
  // Calls release(stream) for streams that need not withhold their windows any longer.
  template <class Release>
  void release_windows(Release&& release) noexcept;
  void open_withheld(ScheduledStream& stream) noexcept;

  // ---- received body bytes and WebSocket input that were not taken yet ----
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

  // ---- ended streams, which the session destroys between calls ----
  void note_over(ScheduledStream& stream) noexcept;
  bool has_over() const noexcept { return first_over_ != nullptr; }
  ScheduledStream* take_over() noexcept {
    return first_over_ == nullptr ? nullptr : std::exchange(first_over_, first_over_->next_over);
  }
  // Removes it from all counts.
  void forget(ScheduledStream& stream) noexcept;

  // Returns whether the session must run again at once.
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

  // The bytes that one stream sends before the others are considered.
  static constexpr std::size_t turn_bytes = 16 * 1024;

  Http2Protocol& protocol_;
  net::Connection& connection_;
  http2::Machine& machine_;
  ScheduledStream* first_over_ = nullptr;  // to be destroyed, in this order
  ScheduledStream* last_over_ = nullptr;
  bool has_turn_ = false;  // a stream has the turn
  std::size_t turn_bytes_left_ = 0;
  std::size_t held_bytes_ = 0;    // of replies, which wait for a window
  std::size_t content_held_ = 0;  // of requests, until their handlers have taken it
  std::uint64_t turns_ = 0;
  std::uint64_t pumps_ = 0;
  std::uint64_t passes_ = 0;  // of deliveries
  Instant streams_deadline_ = never;
  Instant drain_deadline_ = never;
  std::uint32_t blocked_ = 0;   // streams that wait to send
  std::uint32_t queued_ = 0;    // streams whose handlers wait to be called
  std::uint32_t withheld_ = 0;  // streams with a withheld window
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
