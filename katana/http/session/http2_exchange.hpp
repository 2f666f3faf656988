// Http2Exchange: one stream of HTTP/2 as an Exchange.
//
// Owns       everything that Exchange owns. Body bytes that its handler does not want yet, at most
//            the stream's window. The part of its reply that the windows do not take yet. The
//            WebSocket session that it became.
// Borrows    the scheduler of its connection's streams. Its session destroys it.
// Thread     its reactor's.
// Allocates  itself, from the recycler.
// Invariant  its session destroys it only between calls. A handler may therefore end its exchange,
//            or that of another stream: no object disappears during the call.
#pragma once

#include "katana/base/system/hints.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/http/session/exchange_observer.hpp"
#include "katana/http/session/http2_websocket.hpp"
#include "katana/http/session/stream_scheduler.hpp"
#include "katana/wire/http2/machine.hpp"

namespace katana::session {

class Http2Exchange final : public Exchange, public ScheduledStream {
 public:
  explicit Http2Exchange(StreamScheduler& streams) noexcept;
  Http2Exchange(const Http2Exchange&) = delete;
  Http2Exchange& operator=(const Http2Exchange&) = delete;

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }

  // ---- Exchange ----
  bool answers_head() const noexcept override { return is_head_request; }
  std::optional<std::uint64_t> content_length() const noexcept override;
  net::Reactor& reactor() noexcept override;
  engine::PeerAddress peer() noexcept override;
  Arrival arrival() noexcept override;
  const net::PeerCertificate* peer_certificate() override;
  engine::Listener listener() noexcept override;
  const net::ConnectionCounters& connection_counters() noexcept override;
  void collect_content(std::uint64_t bytes_max) override;
  void stream_content(std::uint64_t bytes_max) override;
  void want_content() noexcept override;
  KATANA_RARE void defer_request() override;
  KATANA_RARE void resume_request() noexcept override;
  void respond(const http::ReplyHead& head, Bytes content, bool content_stays) noexcept override;
  void begin_reply(const http::ReplyHead& head) noexcept override;
  bool write(Bytes content) noexcept override;
  bool yield() noexcept override;
  void end_reply() noexcept override;
  bool reply_begun() const noexcept override { return begun_; }
  void set_patient() noexcept override;
  void close_after_reply() noexcept override;
  KATANA_RARE void abort() noexcept override;
  void note_failure() noexcept override;
  void note_forwarding_malformed() noexcept override;
  FailureObserver* failure_observer() noexcept override;
  WebSocketShare* websockets() noexcept override;
  bool upgrades_stream() const noexcept override { return true; }
  KATANA_RARE bool upgrade(const http::ReplyHead& head,
                           std::unique_ptr<WebSocketReplacement> replacement) noexcept override;

  // ---- calls by the session ----
  // `number`: the number of the request on its connection.
  void begin(const http2::HeadReader& reader, std::uint32_t number, bool complete,
             bool refused) noexcept;
  void dispatch() noexcept;
  void on_content(Bytes piece, bool complete) noexcept;
  // Delivers body bytes, or calls a handler that was deferred. Returns false if nothing was due.
  bool deliver_received() noexcept;
  // Sends bytes that are held back, or lets the handler continue.
  void proceed() noexcept;
  void on_deadline(Instant now) noexcept;
  void on_drain() noexcept;
  void shorten(Duration grace) noexcept;
  Instant deadline() const noexcept;
  bool has_unsent() const noexcept { return !unsent_.empty(); }
  bool is_receiving() const noexcept override {
    return !request_complete && !over && !replied_ && (socket_ == nullptr || socket_->may_go_on());
  }
  void resume_yielded() noexcept;
  // Ends the exchange and frees its memory: it is the largest of those that hold most.
  KATANA_RARE std::size_t on_memory_scarce() noexcept;
  // The bytes charged to the reactor's memory by it and by the WebSocket session that it became.
  std::size_t held_bytes() const noexcept {
    return core_.held_bytes() + (socket_ != nullptr ? socket_->kept_for_peer() : 0);
  }

  // The blocks of the reactor's pool that hold output of the WebSocket session.
  std::size_t blocks_held() const noexcept {
    return socket_ != nullptr ? socket_->blocks_held() : 0;
  }
  void release_window() noexcept;  // lets the client send the bytes that were withheld while memory
                                   // was scarce
  // The client reset the stream or closed the connection before it had the complete reply.
  void note_peer_left() noexcept {
    if (!reply_sent) core_.end_reason = ExchangeEnd::peer_left;
  }
  // The call that lent the head ends, and the exchange continues.
  void return_head();
  void end() noexcept;

  // ---- calls by the WebSocket connection that it became ----
  StreamScheduler& streams() noexcept { return streams_; }
  // Charges the memory that it keeps.
  void charge() noexcept { core_.charge(reactor().memory(), own_bytes()); }
  // Lets the client send this many bytes again, unless too many are held.
  void return_window(std::size_t bytes) noexcept;
  // The client has taken this many bytes.
  void buy_time(std::size_t bytes) noexcept;
  void set_blocked(bool waits) noexcept;
  void set_deadline(Instant& which, Instant moment) noexcept;
  // The WebSocket session has ended, and all its output is on its way.
  void end_socket() noexcept;

 private:
  // The bytes that it keeps in addition to its core: itself, and bytes that wait for its handler or
  // for windows.
  std::size_t own_bytes() const noexcept;
  // Returns false if the request states a longer body; it is then refused.
  bool limit_content(std::uint64_t bytes_max) noexcept;
  void deliver(Bytes piece, bool complete) noexcept;
  void collect(Bytes piece, bool complete) noexcept;
  void after_handler() noexcept;
  KATANA_RARE void refuse(unsigned status, Bytes detail) noexcept;
  KATANA_RARE void answer_refusal() noexcept;
  KATANA_RARE void on_resumed() noexcept;
  void fail(unsigned status, Bytes detail) noexcept;
  void hold_back(Bytes rest, bool stays) noexcept;
  void note_sent(std::size_t bytes) noexcept;
  void end_exchange() noexcept;
  void part() noexcept;
  Duration handler_time() const noexcept override;
  void give_handler_time() noexcept;
  void give_peer_time() noexcept;
  void end_if_sent() noexcept;
  void tell_observer() noexcept;
  // Returns the head with the fields and the date of every reply.
  http::ReplyHead complete_head(const http::ReplyHead& given) noexcept;

  StreamScheduler& streams_;
  std::unique_ptr<Http2WebSocket> socket_;  // null: a request and its reply
  Text received_;                           // not delivered yet
  Text unsent_text_;
  Bytes unsent_;  // part of unsent_text_, or of bytes that stay valid for ever
  Instant content_deadline_ = never;
  Instant stall_deadline_ = never;
  std::uint64_t content_bytes_max_ = UINT64_MAX;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t reply_left_ = UINT64_MAX;
  std::int64_t announced_ = -1;
  net::ClientPlace place_;  // among the requests of its client
  Bytes refusal_detail_;
  std::uint32_t request_ = 0;
  std::uint16_t refusal_ = 0;  // the status of the refusal
  bool wanted_ = false;        // the handler wants the body
  bool expects_continue_ = false;
  bool begun_ = false;         // the reply has begun
  bool replied_ = false;       // the reply is complete
  bool stays_ = false;         // unsent_ is not in unsent_text_
  bool waits_ = false;         // the handler has more to write
  bool yielded_ = false;       // it continues when others had their turn
  bool asks_upgrade_ = false;  // it is an extended CONNECT
  bool told_ = false;          // the observer was told
  bool resume_due_ = false;    // the handler of the deferred request must be called
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
