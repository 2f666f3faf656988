// WebSocketSession: the ws machine on a carrier: it pulls events, passes the messages to the
// handler, and ends the connection.
//
// Owns       the machine; the handler; a message that is not complete, compressed if it came so.
// Borrows    the WebSocketShare of its reactor; its carrier.
// Thread     its reactor's.
// Allocates  for a message that does not arrive at once.
// Invariant  an idle session owns nothing in addition to its handler. The carrier makes the on_…()
//            calls, as a net::Session gets them, and they never nest.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/text.hpp"
#include "katana/http/session/exchange_context.hpp"
#include "katana/http/session/exchange_observer.hpp"
#include "katana/http/session/request_state.hpp"
#include "katana/http/session/websocket.hpp"
#include "katana/http/session/websocket_carrier.hpp"
#include "katana/http/session/websocket_handle.hpp"
#include "katana/http/session/websocket_post.hpp"
#include "katana/wire/ws/machine.hpp"

namespace katana::session {

// The state that the WebSocket sessions of one reactor share.
class WebSocketShare {
 public:
  // Counts in `counters`, which is borrowed, as is `observer`, which may be null.
  WebSocketShare(const WebSocketOptions& options, WebSocketCounters& counters,
                 ExchangeObserver* observer = nullptr);

  // Constant while the server runs.
  const WebSocketOptions& options() const noexcept { return options_; }
  WebSocketCounters& counters() noexcept { return counters_; }  // of all sessions of this reactor
  ExchangeObserver* observer() const noexcept { return observer_; }  // null: no observer
  // Buffers that all machines of the reactor share.
  ws::Context& context() noexcept { return context_; }
  // Lets other threads reach the sessions.
  const std::shared_ptr<WebSocketPost>& post() noexcept { return post_; }
  // The memory that all sessions share: for compression, and for posts of other threads.
  std::size_t memory_bytes() const noexcept {
    return deflate_memory_.size() + options_.posted_bytes_max;
  }

 private:
  WebSocketOptions options_;
  WebSocketCounters& counters_;
  ExchangeObserver* const observer_;
  std::vector<char> deflate_memory_;
  std::unique_ptr<ws::DeflatePool> deflate_;
  ws::Context context_;
  std::shared_ptr<WebSocketPost> post_;
};

// The part of the upgrade request that is kept as long as its WebSocket connection, and its places
// in limits. It is one piece of the recycler's memory: a session then stores one pointer for it.
class UpgradeRequest {
 public:
  // Returns the memory to the recycler.
  struct Delete {
    void operator()(UpgradeRequest* request) const noexcept {
      const std::size_t bytes = sizeof(UpgradeRequest) + request->ids_size();
      std::destroy_at(request);
      recycler::release(request, bytes);
    }
  };
  using Pointer = std::unique_ptr<UpgradeRequest, Delete>;  // owns it
  // Copies the ids, each cut at 255 bytes; the other arguments outlive the connection. `route` may
  // be null. Throws std::bad_alloc.
  static Pointer make(Bytes subprotocol, const RouteMark* route, Bytes request_id, Bytes trace_id,
                      Instant now);

  // The agreed subprotocol; empty: none.
  Bytes subprotocol() const noexcept { return subprotocol_; }
  const RouteMark* route() const noexcept { return route_; }               // null: no route matched
  Bytes request_id() const noexcept { return {ids(), request_id_size_}; }  // for logs; empty: none
  Instant time() const noexcept { return time_; }  // when the handshake ended
  // The id for logs; empty: none.
  Bytes trace_id() const noexcept { return {ids() + request_id_size_, trace_id_size_}; }
  // Keeps the places of the request, which counts as long as the connection.
  void keep_places(RequestShare places) noexcept { places_ = std::move(places); }

 private:
  UpgradeRequest() = default;
  const char* ids() const noexcept { return reinterpret_cast<const char*>(this + 1); }
  std::size_t ids_size() const noexcept { return std::size_t{request_id_size_} + trace_id_size_; }

  Bytes subprotocol_;
  const RouteMark* route_ = nullptr;
  Instant time_;
  RequestShare places_;
  std::uint8_t request_id_size_ = 0;
  std::uint8_t trace_id_size_ = 0;
  // The ids follow.
};

// The terms that the handshake agreed on.
struct WebSocketTerms {
  int window_bits = 0;                   // for our compression; 0: nothing is compressed
  UpgradeRequest::Pointer request = {};  // null: not known
};

class WebSocketSession final : public WebSocket {
 public:
  WebSocketSession(WebSocketShare& share, WebSocketCarrier& carrier, WebSocketTerms terms,
                   std::unique_ptr<WebSocketHandler> handler) noexcept;
  ~WebSocketSession();
  WebSocketSession(const WebSocketSession&) = delete;
  WebSocketSession& operator=(const WebSocketSession&) = delete;

  // ---- calls by its carrier ----
  std::size_t on_bytes(Bytes input) noexcept;
  void on_input_end() noexcept;
  void on_writable() noexcept;
  void on_deadline() noexcept;
  void on_drain() noexcept;
  // The bytes of an incomplete message, as they arrived.
  std::size_t held_bytes() const noexcept { return message_.size(); }
  // The bytes charged to the reactor's memory for it, plus the outbox's references to messages that
  // several connections share.
  std::size_t kept_bytes() const noexcept { return held_ + shared_bytes(); }
  // Ends the larger of the two: the message (1013), or the connection.
  std::size_t on_memory_scarce() noexcept;

  // ---- WebSocket ----
  SendOutcome send(Bytes payload, MessageKind kind) noexcept override;
  SendOutcome send_shared(Bytes payload, Retained& memory, MessageKind kind) noexcept override;
  void close(CloseCode code, Bytes reason) noexcept override;
  void pause() noexcept override;
  void resume() noexcept override;
  WebSocketHandle handle() override;
  net::Reactor& reactor() noexcept override { return carrier_.reactor(); }
  engine::PeerAddress peer() noexcept override { return carrier_.peer(); }
  Bytes subprotocol() const noexcept override {
    return request_ != nullptr ? request_->subprotocol() : Bytes();
  }
  std::size_t queued_bytes() const noexcept override { return carrier_.outbox().pending(); }
  void want_writable() noexcept override { (void)note_full(); }
  Outbox& outbox() noexcept override { return carrier_.outbox(); }

  // ---- for WebSocketPost and Topics ----
  // Queues a message of frame_message().
  void deliver(Batch& message) noexcept;
  WebSocketShare& share() noexcept { return share_; }
  Slot slot();

 private:
  std::size_t pump(Bytes input) noexcept;
  void obey(const ws::Step& step) noexcept;
  void on_data(const ws::Step& step) noexcept;
  void on_packed(const ws::Step& step) noexcept;
  bool keep(Bytes piece) noexcept;
  void give_message(Bytes payload, bool text) noexcept;
  void on_peer_close() noexcept;
  void on_refused() noexcept;
  void on_timed_out() noexcept;
  void tell_to_return() noexcept;
  // Calls the handler, which may throw.
  template <class Call>
  void call_handler(Call&& call) noexcept;
  KATANA_RARE void on_handler_failed(Bytes what) noexcept;
  void tell_close(CloseCode code, Bytes reason) noexcept;
  bool may_send() const noexcept;
  bool queue_takes(std::size_t bytes) const noexcept;
  SendOutcome note_full() noexcept;
  void limit_queue() noexcept;
  void drop_message() noexcept;
  void refuse_message() noexcept;
  std::size_t shared_bytes() const noexcept;
  void update_deadline() noexcept {
    carrier_.set_deadline(std::min(machine_.deadline(), return_at_));
  }
  void flush_later() noexcept {
    if (!in_call_) carrier_.flush_later();
  }
  Instant now() const noexcept { return carrier_.reactor().now(); }

  WebSocketShare& share_;
  WebSocketCarrier& carrier_;
  ws::Machine machine_;
  std::unique_ptr<WebSocketHandler> handler_;
  Text message_;
  std::size_t held_ = 0;                   // for message_, charged to the reactor's memory
  const UpgradeRequest::Pointer request_;  // null: not known
  Slot slot_;
  Instant return_at_ = never;   // the client is then told to reconnect (1012)
  bool in_call_ = false;        // inside a call by the carrier, which completes the work
  bool close_told_ = false;     // the handler was told
  bool writable_owed_ = false;  // the handler was told that the queue is full
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
