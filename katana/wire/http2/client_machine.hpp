// ClientMachine: the client side of one HTTP/2 connection (RFC 9113), as a function of bytes and
// time: requests and their replies, on a FrameLayer.
//
// Owns       the layer. No bytes but the layer's: the bytes that next() does not consume stay with
//            the caller.
// Borrows    the ClientContext, which every machine of a thread shares; each ClientStream that was
//            given to begin(), until the machine lets go of it.
// Thread     its reactor's.
// Allocates  as its layer does.
// Fails      by ClientEvent::closed: failure() says why, and GOAWAY has been written. An error
//            in one reply resets its stream. A command that finds no room in the outbox says so
//            and has written nothing; an answer of the protocol without any ends the connection.
// Invariant  the events are a function of the bytes and the times, however they are cut. No more is
//            sent than the windows and the limits of the server allow. A stream is let go of once,
//            and its state is then closed. This happens when both its request and its reply are
//            complete, by ClientEvent::over, or by reset().
//
// The caller pulls: next() gives at most one event and says how much input it used. Answers of
// the protocol itself (SETTINGS, PING, windows, errors) go into the outbox at once.
// After GOAWAY it reports the requests that were not processed, without further input: call it
// until it needs bytes. The caller decides how long to wait for a reply and how long to keep an
// idle connection. States of a stream and the transitions between them stand in client_states.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/wire/http2/client_states.hpp"
#include "katana/wire/http2/frame_layer.hpp"
#include "katana/wire/http2/past_streams.hpp"
#include "katana/wire/http2/reply_reader.hpp"
#include "katana/wire/http2/request_writer.hpp"

namespace katana::http2 {

// The state that all client machines of one thread share. The limit streams_max is the most streams
// that are open at once. head_bytes_max and the like limit replies. Only a server uses idle_timeout
// and the budget of resets.
struct ClientContext {
  explicit ClientContext(const Limits& given) noexcept : limits(given), reader(limits) {
    KATANA_REQUIRE(are_valid(given));
  }
  ClientContext(const ClientContext&) = delete;

  const Limits limits;  // of all connections
  ReplyReader reader;   // of the head or the trailers reported last, by whichever machine
  std::array<char, http::head_bytes_capacity> block;  // of the request that is being begun
};

// One request and its reply, as the machine sees them. The caller keeps it, perhaps as a part of
// something larger. When the machine has let go of it, it may be made anew and given to begin()
// again. The machine has its streams in a list, in the order in which they began.
struct ClientStream : StreamFlow, ListHook<ClientStream> {
  ClientStreamState state = ClientStreamState::idle;  // moves by client_states.hpp
  bool is_head_request = false;                       // the reply has no body
  bool has_head = false;                              // the reply's, interim ones apart
  std::uint8_t interims = 0;                          // 1xx replies so far
};

// The events of next().
enum class ClientEvent : std::uint8_t {
  need_bytes,  // no event: go on with the bytes that were not consumed, if there are any
  interim,     // ClientContext::reader has a 1xx head
  head,        // ClientContext::reader has the reply's head
  content,     // content() is part of the reply, borrowed from `input`: consume() it
  trailers,    // ClientContext::reader has the fields behind the content, which is complete
  over,        // `stream` has failed: see `lost` and `code`
  room,        // windows or the number of streams may have grown
  goaway,      // no new requests on this connection; `code` is the server's reason
  closed,      // the connection is over: see failure()
};

// Why a stream was given up. Only after refused and unprocessed is it certain that the server has
// not processed the request. The request may then be sent again (RFC 9113 §8.7).
enum class Lost : std::uint8_t {
  none,         // the stream goes on
  reset,        // by the server, with `code`
  refused,      // likewise, REFUSED_STREAM
  unprocessed,  // it is behind the last stream that a GOAWAY names
  malformed,    // the reply breaks a rule (RFC 9113 §8.1.1)
  too_large,    // the reply's head
};

// Result of next().
struct ClientStep {
  ClientEvent event = ClientEvent::need_bytes;  // at most one for each call
  Lost lost = Lost::none;                       // with ClientEvent::lost: why
  bool last = false;                     // with head, content and trailers: the reply is complete
  ErrorCode code = ErrorCode::no_error;  // of Lost::reset
  std::size_t consumed = 0;              // bytes of the input that are done with
  ClientStream* stream = nullptr;        // which the event is about; null: the connection
};

// The result of begin().
enum class Begun : std::uint8_t {
  yes,        // its head was written
  not_now,    // see can_begin()
  no_room,    // in the outbox
  too_large,  // the head is beyond the server's limit, or longer than any machine writes
};

class ClientMachine {
 public:
  ClientMachine(ClientContext& context, Instant now) noexcept;
  ~ClientMachine() = default;
  ClientMachine(const ClientMachine&) = delete;
  ClientMachine& operator=(const ClientMachine&) = delete;

  // Writes the client's preface. Called once, before anything else. False: no room.
  bool start(Outbox& outbox) noexcept;
  // REQUIRES `input` to begin with the bytes that the last call did not consume.
  ClientStep next(Bytes input, Instant now, Outbox& outbox) noexcept;
  // The bytes of the last ClientEvent::content.
  Bytes content() const noexcept { return content_; }
  Failure failure() const noexcept { return frames_.failure(); }
  bool closed() const noexcept { return frames_.closed(); }

  // ---- time ----
  Instant deadline() const noexcept { return frames_.deadline(); }
  // May close the connection.
  void on_deadline(Instant now, Outbox& outbox) noexcept { frames_.on_deadline(now, outbox); }
  // The server could not send because we did not read: its time begins anew.
  void restart_deadline(Instant now) noexcept { frames_.restart_deadline(now); }

  // ---- requests ----
  // A stream is free now. The first hundred may begin before the server said how many it takes.
  bool can_begin() const noexcept { return is_usable() && streams_.size() < streams_max(); }
  // The number of streams that may be open at once. A guess before has_settings(): the server has
  // yet to say it.
  std::uint32_t streams_max() const noexcept {
    return std::min(context_->limits.streams_max, frames_.peer_streams_max());
  }
  bool has_settings() const noexcept { return frames_.has_settings(); }
  // New requests may be begun, now or when others are over.
  bool is_usable() const noexcept { return !closed() && !goaway_ && next_id() <= stream_id_max; }
  // `last`: it has no content. REQUIRES a stream that is idle.
  Begun begin(ClientStream& stream, const RequestHead& head, bool last, Outbox& outbox) noexcept;
  // The same with a block that put_request() wrote earlier.
  Begun begin_block(ClientStream& stream, Bytes block, bool is_head_request, bool last,
                    Outbox& outbox) noexcept;
  // Takes from `content` what the windows allow, at most `output_max`. `last`: the request ends
  // with it; it has ended when the stream is waiting or closed. False: no room.
  bool write_content(ClientStream& stream, Bytes& content, bool content_stays, bool last,
                     std::size_t output_max, Outbox& outbox) noexcept;
  // The number of bytes that can be sent on the stream now.
  std::size_t window(const ClientStream& stream) const noexcept { return frames_.window(stream); }
  // Gives the request up. Also after the connection has closed: nothing is written then.
  void reset(ClientStream& stream, ErrorCode code, Outbox& outbox) noexcept;

  // ---- content of replies ----
  // This many bytes have been taken and may be sent again. `stream`: null when it is gone.
  void consume(ClientStream* stream, std::size_t bytes, Outbox& outbox) noexcept;
  // The server may send so much more ahead on the stream than the limits say. REQUIRES that the
  // window stays one (window_bytes_max).
  void widen(ClientStream& stream, std::uint32_t bytes, Outbox& outbox) noexcept;

  // ---- the end ----
  // GOAWAY, and nothing more. Streams that are left are to be reset().
  void close(Outbox& outbox) noexcept { frames_.fail(Failure::none, outbox); }
  // The server sends no more.
  void end_of_input() noexcept { frames_.end(Failure::none); }

  // The first stream in the order of begin(); null: there is none.
  ClientStream* first() const noexcept { return streams_.first(); }
  // Streams that the machine has not let go of.
  std::uint32_t stream_count() const noexcept {
    return static_cast<std::uint32_t>(streams_.size());
  }

 private:
  friend FrameLayer;  // which calls the four that follow
  ClientStep on_frame(FrameEvent event, FrameHeader header, Bytes payload, Instant now,
                      Outbox& outbox) noexcept;
  ClientStep begin_data(FrameHeader header, Instant now, Outbox& outbox) noexcept;
  ClientStep take_data(FrameHeader header, Instant now, Outbox& outbox) noexcept;
  ClientStep end_data(Bytes piece, Instant now, Outbox& outbox) noexcept;
  ClientStep on_block(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                      Outbox& outbox) noexcept;
  ClientStep on_head(ClientStream& stream, bool end_stream, Bytes block, Instant now,
                     Outbox& outbox) noexcept;
  ClientStep on_interim(ClientStream& stream, bool end_stream, Instant now,
                        Outbox& outbox) noexcept;
  ClientStep on_trailers(ClientStream& stream, bool end_stream, Bytes block,
                         Outbox& outbox) noexcept;
  ClientStep on_late_block(std::uint32_t id, Bytes block, Instant now, Outbox& outbox) noexcept;
  ClientStep on_rst_stream(std::uint32_t id, Bytes payload, Instant now, Outbox& outbox) noexcept;
  ClientStep on_goaway(Bytes payload, Outbox& outbox) noexcept;
  ClientStep on_window_update(std::uint32_t id, std::uint32_t more, Outbox& outbox) noexcept;
  ClientStep give_up_unprocessed() noexcept;

  static ClientStep closed_step() noexcept { return {.event = ClientEvent::closed}; }
  KATANA_RARE ClientStep fail(Failure failure, Outbox& outbox) noexcept {
    frames_.fail(failure, outbox);
    return closed_step();
  }
  // A frame without a meaning, or for a stream that is over, whose sender may not know it yet.
  ClientStep ignore(Instant now, Outbox& outbox) noexcept {
    return frames_.spend(now, Failure::other_flood, outbox) ? ClientStep{} : closed_step();
  }
  KATANA_RARE ClientStep lose(ClientStream& stream, Lost lost, ErrorCode code,
                              Outbox& outbox) noexcept;
  // The id of the next stream; the first is 1 (RFC 9113 §5.1.1).
  std::uint32_t next_id() const noexcept { return (frames_.last_id() + 1) | 1; }
  static bool peer_sends(const ClientStream& stream) noexcept {
    return stream.state == ClientStreamState::open || stream.state == ClientStreamState::waiting;
  }
  void go(ClientStream& stream, ClientStreamCause cause, Past past) noexcept;
  void end_reply(ClientStream& stream) noexcept {
    go(stream, ClientStreamCause::reply_ends, Past::ended);
  }

  ClientContext* context_;
  FrameLayer frames_;
  StreamList<ClientStream> streams_;
  ClientStream* data_stream_ = nullptr;  // of the DATA frame at hand; null: none
  Bytes content_;
  std::uint32_t last_processed_ = stream_id_max;  // as GOAWAY says
  PastStreams pasts_;
  bool goaway_ = false;
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
