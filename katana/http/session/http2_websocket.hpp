// Http2WebSocket: a stream of HTTP/2 that carries a WebSocket session (RFC 8441). DATA frames
// replace the bytes of a connection, and windows replace its socket.
//
// Owns       the session, its input that was not offered or not taken, and its outbox.
// Borrows    its exchange, which owns it.
// Thread     its reactor's.
// Allocates  the input that waits for the session, at most the stream's window.
// Invariant  the client may send as many bytes again as the session has taken. The output of the
//            session leaves as the windows allow, in turns with the other streams. END_STREAM is
//            the end of either side, RST_STREAM with CANCEL a broken connection (RFC 8441 §5).
#pragma once

#include <memory>

#include "katana/base/text/text.hpp"
#include "katana/http/session/websocket_connection.hpp"

namespace katana::session {

class Http2Exchange;

class Http2WebSocket final : private WebSocketCarrier {
 public:
  explicit Http2WebSocket(Http2Exchange& exchange) noexcept;
  ~Http2WebSocket();

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }

  // ---- calls by the exchange ----
  void open(WebSocketReplacement& replacement) noexcept;
  void on_content(Bytes piece, bool complete) noexcept;
  // Does the work that the session could not do when it was asked for, once in every `pass`.
  // Returns false if there was none.
  bool run_pending(std::uint64_t pass) noexcept;
  // It is the stream's turn to send.
  void proceed() noexcept { after_call(); }
  void on_deadline() noexcept;
  void on_drain() noexcept;

  // The time of the next on_deadline(); never: none is due.
  Instant deadline() const noexcept { return deadline_; }
  // True if the windows have not taken all output yet.
  bool has_unsent() const noexcept { return !own_outbox_.empty(); }
  // The unsent bytes, as last reported to the session of the connection.
  std::size_t noted_bytes() const noexcept { return noted_bytes_; }
  // The bytes of an incomplete message.
  std::size_t held_bytes() const noexcept { return session_->held_bytes(); }
  // Three parts of the charge to the reactor's memory.
  //   kept_for_peer   an incomplete message with unsent shared messages
  //   kept_bytes      the input that waits for the session
  //   blocks_held     the blocks of unsent output
  std::size_t kept_for_peer() const noexcept { return session_->kept_bytes(); }
  std::size_t kept_bytes() const noexcept { return received_.capacity(); }
  std::size_t blocks_held() const noexcept { return own_outbox_.blocks_held(); }
  std::size_t on_memory_scarce() noexcept {
    const std::size_t going = session_->on_memory_scarce();
    after_call();
    return going;
  }
  bool may_go_on() const noexcept { return !held_ && !full_ && !finishing(); }

 private:
  // ---- WebSocketCarrier ----
  engine::PeerAddress peer() noexcept override;
  bool may_take() noexcept override;
  bool paused() const noexcept override { return held_ || full_; }
  void pause() noexcept override { held_ = true; }
  void resume() noexcept override { held_ = false; }
  bool paused_by_handler() const noexcept override { return held_; }
  std::size_t queue_bytes_max(std::size_t most) const noexcept override;
  void want_writable() noexcept override { writable_wanted_ = true; }
  bool finishing() const noexcept override;
  void finish(net::Finish) noexcept override { finishing_ = true; }
  void reset() noexcept override { reset_ = true; }
  void set_deadline(Instant deadline) noexcept override;
  void flush_later() noexcept override { after_call(); }

  Bytes waiting() const noexcept { return received_.bytes().substr(taken_); }
  void keep(Bytes bytes) noexcept;
  void offer_waiting() noexcept;
  void end_input() noexcept;
  bool is_writable() const noexcept;
  void note_unsent() noexcept;
  void note_taken(std::size_t bytes) noexcept;
  // Sends at most this many bytes, and the end of the stream behind the last one.
  void flush(std::size_t output_max) noexcept;
  // Call it after every call of the session: sends, ends, or sets the deadline.
  void after_call() noexcept;

  Http2Exchange& exchange_;
  Outbox own_outbox_;
  std::unique_ptr<WebSocketSession> session_;
  Text received_;
  std::size_t taken_ = 0;  // of received_
  std::size_t noted_bytes_ = 0;
  std::uint64_t last_pass_ = 0;
  Instant deadline_ = never;
  bool offered_ = true;  // waiting input: the session needs more before it can continue
  bool input_ended_ = false;
  bool held_ = false;  // by the handler's pause()
  bool full_ = false;  // the outbox is full, until much of it is sent
  bool writable_wanted_ = false;
  bool finishing_ = false;
  bool reset_ = false;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
