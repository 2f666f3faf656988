// Http2Session: the http2 machine on a connection: it pulls events, lets handlers answer at the
// same time, shares the connection among their replies, and ends what has to end.
//
// Owns       the machine, and an Http2Exchange for each stream.
// Thread     its reactor's.
// Allocates  from the recycler: the machine, and an exchange for each request.
// Invariant  exchanges are destroyed between calls only. What a peer can make it hold is bounded:
//            content by content_held_bytes_max, one body more, and the windows; replies by
//            held_bytes_max and one reply; heads by streams_max.
//
// Who sends next when several could: the most urgent; among equals those that are not incremental,
// in the order of their requests; then the incremental ones in turns (RFC 9218 §10).
#pragma once

#include <algorithm>
#include <memory>
#include <tuple>

#include "katana/core/connection.hpp"
#include "katana/session/http2_exchange.hpp"
#include "katana/session/http2_protocol.hpp"

namespace katana::session {

class Http2Session final : public core::Session {
 public:
  Http2Session(Http2Protocol& protocol, core::Connection& connection) noexcept;
  ~Http2Session() override;

  std::size_t on_bytes(Bytes input) noexcept override;
  void on_input_end() noexcept override;
  void on_writable() noexcept override;
  void on_deadline() noexcept override;
  void on_drain() noexcept override;
  std::size_t blocks_held() const noexcept override;
  std::size_t held_bytes() const noexcept override;
  std::size_t on_memory_scarce() noexcept override;

 private:
  friend class Http2Exchange;
  friend class Http2WebSocket;

  struct RecycledMachine final : http2::Machine {
    using Machine::Machine;
    static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
      recycler::release(memory, bytes);
    }
  };

  // ---- for exchanges ----
  http2::Machine& machine() noexcept { return *machine_; }
  Outbox& outbox() noexcept { return connection_.outbox(); }
  Instant now() const noexcept { return connection_.reactor().now(); }
  // How much a reply may write at once: nothing if others wait, whose turn it may be.
  std::size_t output_max() noexcept;
  void note_deadline(Instant moment) noexcept {
    streams_deadline_ = std::min(streams_deadline_, moment);
  }
  void note_over(Http2Exchange& exchange) noexcept;
  // Something was done outside of a call by the core, which will come and settle it.
  void wake_once() noexcept;
  void touch() noexcept {
    if (!in_call_) connection_.wake();
  }

  // Whether its content may be told to go on: little is held, or it is the first in the line.
  bool may_receive(const Http2Exchange& exchange) noexcept;
  Http2Exchange* first_in_line() noexcept;
  void release_windows() noexcept;
  KATANA_RARE void resume_yielded() noexcept;

  void on_head(const http2::Step& step, bool refused) noexcept;
  void on_over(Http2Exchange& exchange) noexcept;
  template <class Value>
  std::size_t sum_of(Value&& value) const noexcept {
    std::size_t sum = 0;
    for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next) {
      sum += value(exchange_of(*each));
    }
    return sum;
  }
  static Http2Exchange& exchange_of(http2::Stream& stream) noexcept {
    return static_cast<Http2Exchange&>(stream);
  }
  void after_call() noexcept;
  bool may_dispatch() const noexcept;
  void serve_queued() noexcept;
  KATANA_RARE void expire_streams() noexcept;
  void deliver_wanted() noexcept;
  void pump() noexcept;
  Http2Exchange* next_to_send() noexcept;
  void sweep() noexcept;
  void destroy(Http2Exchange& exchange) noexcept;
  KATANA_RARE void cancel_all() noexcept;
  KATANA_RARE void end() noexcept;
  void begin_drain() noexcept;

  Http2Protocol& protocol_;
  core::Connection& connection_;
  std::unique_ptr<RecycledMachine> machine_;
  Http2Exchange* first_over_ = nullptr;  // to be destroyed, in this order
  Http2Exchange* last_over_ = nullptr;
  Http2Exchange* turn_ = nullptr;  // whose turn it is to send
  std::size_t turn_bytes_left_ = 0;
  std::size_t held_bytes_ = 0;    // of replies, for want of a window
  std::size_t content_held_ = 0;  // of requests, until their handlers are done with it
  std::uint64_t turns_ = 0;
  std::uint64_t pumps_ = 0;
  std::uint64_t passes_ = 0;  // of deliver_wanted()
  Instant streams_deadline_ = never;
  Instant drain_deadline_ = never;
  std::uint32_t blocked_ = 0;       // exchanges that wait to send
  std::uint32_t queued_ = 0;        // exchanges whose handlers wait to be called
  std::uint32_t windows_held_ = 0;  // exchanges whose windows are
  bool delivery_due_ = false;
  bool has_yielded_ = false;  // an exchange has
  bool in_call_ = false;
  bool ended_ = false;
  bool input_end_noted_ = false;
};

}  // namespace katana::session
