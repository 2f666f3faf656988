// Machine: one side of a WebSocket connection after its handshake, as a function of bytes and time.
//
// Owns       a few words of state. No bytes: those that next() does not consume stay with the
//            caller. They are never more than the head of a frame or one control frame. The caller
//            also keeps a compressed message until all of it is here. Therefore a message that does
//            not end never holds the decompressor of the reactor.
// Borrows    the Context, which every machine of a reactor shares.
// Thread     its reactor's.
// Allocates  never.
// Fails      a frame that the other side may not send is Event::refused, once; refusal() says why.
//            A command returns false when the outbox has no room, or nothing may be sent any more.
//            It has then written nothing.
// Invariant  the messages are a function of the bytes, however they are cut. Text is UTF-8 up to
//            the last byte that was reported. Nothing is sent behind our close frame.
// Source     RFC 6455; RFC 7692 for compressed messages.
//
// The caller pulls: next() gives at most one event and says how much input it used. A message comes
// in pieces, as its bytes arrive: one, if it is short and all of it is here. The pieces of a
// compressed message are `packed`. The caller joins them, and after the last one calls unpack()
// until that has reported the whole message. States and transitions stand in states.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/wire/ws/deflate.hpp"
#include "katana/wire/ws/frame.hpp"
#include "katana/wire/ws/limits.hpp"
#include "katana/wire/ws/states.hpp"
#include "katana/wire/ws/utf8_stream.hpp"

namespace katana::ws {

// The side of this machine. Clients mask their frames (RFC 6455 §5.3).
enum class Role : std::uint8_t { server, client };

// The most bytes of a piece of a message.
inline constexpr std::size_t piece_bytes_max = 16 * 1024;

// The state that all machines of one reactor share. The piece is the one that any machine reported
// last.
struct Context {
  // `pool` is null where nothing is compressed. A client's masks are drawn from `mask_seed`. The
  // seed has to be unpredictable where a program could choose the payloads (RFC 6455 §10.3).
  explicit Context(const Limits& given, Role whose = Role::server, DeflatePool* pool = nullptr,
                   std::uint64_t mask_seed = 0) noexcept
      : limits(given), role(whose), deflate(pool), masks(mask_seed) {}
  Context(const Context&) = delete;

  std::uint32_t next_mask() noexcept;  // for the next frame of a client

  const Limits limits;                                  // of all connections
  const Role role;                                      // of all machines
  DeflatePool* const deflate;                           // null: nothing is compressed
  std::uint64_t masks;                                  // state of next_mask()
  alignas(64) std::array<char, piece_bytes_max> piece;  // the payload that was reported last
  std::array<char, piece_bytes_max> packed;             // compressed bytes, unmasked
};

// The events of next().
enum class Event : std::uint8_t {
  need_bytes,  // nothing to report until more bytes come
  data,        // payload() is a piece of a message
  packed,      // payload() is a piece of a compressed message: see unpack()
  ping,        // payload() is to be sent back by pong()
  pong,        // the other side answers a ping
  close,       // the other side ends: see close_code() and payload(), and answer with close()
  refused,     // the other side broke a rule: see refusal(), and answer with close()
  ping_due,    // the other side has been silent: ask it with ping()
  timed_out,   // it has left, or has not ended as it should: the connection is over
  closed,      // the connection is over
};

// Result of next().
struct Step {
  Event event = Event::need_bytes;  // at most one for each call
  bool text = false;                // of data and packed: text, or else binary
  bool first = false;               // of data and packed: the message begins
  bool last = false;                // and ends
  std::size_t consumed = 0;         // bytes of the input that are done with
};

class Machine {
 public:
  // `window_bits` of the compression that the handshake agreed on; 0: none.
  Machine(Context& context, Instant now, int window_bits = 0) noexcept
      : context_(&context), heard_at_(now), window_bits_(static_cast<std::uint8_t>(window_bits)) {}
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // REQUIRES `input` to begin with the bytes that the last call did not consume. May be empty.
  Step next(Bytes input, Instant now) noexcept;
  // Decompresses the message behind the last `packed` piece, 16 KiB at a time: a message is limited
  // before it is large. Returns data, and is called again until its `last`, or refused. REQUIRES
  // the whole message at first, and the rest of `packed` after that. No other machine of the
  // context may be called in between.
  Step unpack(Bytes& packed) noexcept;
  // The payload of the last event; valid until the next call of any machine of the context.
  Bytes payload() const noexcept { return payload_; }
  Refusal refusal() const noexcept { return refusal_; }
  // The code of the other side's close frame; CloseCode::none when it had no code, abnormal before
  // it has come.
  CloseCode close_code() const noexcept { return close_code_; }
  State state() const noexcept { return state_; }

  // The other side sends no more, although it has sent no close frame.
  void end_of_input() noexcept { go(Cause::end); }

  // ---- time ----
  // When on_deadline() has something to do.
  Instant deadline() const noexcept;
  // Updates the state; next() then reports the event.
  void on_deadline(Instant now) noexcept;
  // The other side could not be heard because we did not read: its time begins anew.
  void restart_deadline(Instant now) noexcept;

  // ---- commands ----
  bool may_send() const noexcept { return state_ == State::open || state_ == State::message; }
  // A whole message, in one frame, or compressed. A server's text has to be UTF-8: the other side
  // will look.
  bool send(Opcode kind, Bytes payload, Outbox& outbox) noexcept;
  // The same for a payload that `memory` retains: a server sends it from there, uncompressed.
  bool send_shared(Opcode kind, Bytes payload, Retained& memory, Outbox& outbox) noexcept;
  // Part of a message: `kind` is that of the first, and continuation after it.
  bool send_part(Opcode kind, Bytes payload, bool last, Outbox& outbox) noexcept;
  // At most control_bytes_max bytes.
  bool ping(Bytes payload, Outbox& outbox) noexcept {
    return send_control(Opcode::ping, payload, outbox);
  }
  bool pong(Bytes payload, Outbox& outbox) noexcept {
    return send_control(Opcode::pong, payload, outbox);
  }
  // The close frame: ours, or the answer to the other side's. A reason is UTF-8, and is cut where a
  // close frame ends. A code that may not be sent (§7.4.1), such as CloseCode::none: without code
  // and reason. False also when it was sent before.
  bool close(CloseCode code, Bytes reason, Instant now, Outbox& outbox) noexcept;

 private:
  void go(Cause cause) noexcept {
    state_ = state_after(state_, cause);
    if (!may_send()) unpack_due_ = false;
  }
  KATANA_RARE Step refuse(Refusal refusal, std::size_t consumed) noexcept;
  KATANA_RARE bool take_due(Step& step) noexcept;
  Refusal begin_data(const Frame& frame, Instant now) noexcept;
  Refusal judge_data(const Frame& frame) const noexcept;
  KATANA_RARE Step take_control(const Frame& frame, Bytes input, std::size_t consumed) noexcept;
  KATANA_RARE Step take_close(std::size_t consumed) noexcept;
  // Nothing to report: need_bytes, and `more` when there may be another frame.
  Step take_payload(Bytes input, std::size_t consumed, bool& more) noexcept;
  KATANA_RARE Step take_packed(Bytes input, std::size_t consumed, bool& more) noexcept;
  Step report(std::size_t consumed, bool ends, bool& more) noexcept;
  bool is_waiting_for_pong() const noexcept {
    return pinged_at_ != never && heard_at_ < pinged_at_;
  }
  std::size_t skip_payload(Bytes rest) noexcept;
  void begin_unpack() noexcept;
  // Inflates as much as fits behind the first `made` bytes of the piece. Returns the reason when it
  // cannot.
  Refusal inflate_some(Bytes& packed, std::size_t& made) noexcept;
  bool send_control(Opcode opcode, Bytes payload, Outbox& outbox) noexcept;
  bool write_frame(Opcode opcode, bool last, Bytes payload, Outbox& outbox) noexcept;
  KATANA_RARE bool send_packed(Opcode kind, Bytes payload, Outbox& outbox) noexcept;
  KATANA_RARE bool write_large(Opcode opcode, bool last, Bytes payload, Outbox& outbox) noexcept;
  bool write_short(Opcode opcode, bool last, bool compressed, Bytes payload,
                   Outbox& outbox) noexcept;
  bool is_server() const noexcept { return context_->role == Role::server; }

  Context* context_;
  Bytes payload_;
  std::uint64_t frame_left_ = 0;     // of the present frame's payload
  std::uint64_t message_bytes_ = 0;  // of the present message so far, as it came or came out
  Instant heard_at_;
  Instant pinged_at_ = never;
  Instant ends_at_ = never;  // of the present message, or of the wait for a close frame
  std::uint32_t mask_ = 0;
  std::uint32_t fragments_ = 0;
  CloseCode close_code_ = CloseCode::abnormal;
  Utf8Stream utf8_;
  State state_ = State::open;
  Refusal refusal_ = Refusal::none;
  std::uint8_t window_bits_;
  bool in_frame_ = false;    // a data frame has begun, and its end has not been reported
  bool in_message_ = false;  // a message has begun, and its end has not been reported
  bool is_text_ = false;
  bool is_packed_ = false;
  bool unpack_due_ = false;
  bool unpacking_ = false;
  bool frame_last_ = false;      // the present frame ends its message
  bool reported_ = false;        // the present message's first piece
  std::uint8_t tail_taken_ = 0;  // of the bytes that a compressed message leaves out
  bool output_left_ = false;     // the decompressor may have more without input
  bool ping_due_ = false;
  bool timed_out_ = false;
  bool refused_now_ = false;
  bool part_open_ = false;  // send_part() has begun a message that it has not ended
};

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
