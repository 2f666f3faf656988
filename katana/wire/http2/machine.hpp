// Machine: the server side of one HTTP/2 connection (RFC 9113), as a function of bytes and time:
// requests and their replies, on a FrameLayer.
//
// Owns       the layer, and the budget of resets. No bytes but the layer's: those that next() does
//            not consume stay with the caller.
// Borrows    the Context, which every machine of a reactor shares; each Stream that was given to
//            admit(), until the machine lets go of it.
// Thread     its reactor's.
// Allocates  as its layer does.
// Fails      by Event::closed: failure() says why, and GOAWAY has been written. An error in one
//            stream resets that one. A command that finds no room in the outbox ends the
//            connection likewise.
// Invariant  the events are a function of the bytes and the times, however they are cut. No more is
//            sent than the windows allow. A stream is let go of once: by the command that completes
//            its reply or resets it (its state is then closed), or by Event::over.
//
// The caller pulls: next() gives at most one event and says how much input it used. Answers of
// the protocol itself (SETTINGS, PING, windows, errors) go into the outbox at once.
// States of a stream and the transitions between them stand in states.hpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/wire/http/reply_head.hpp"
#include "katana/wire/http2/frame_layer.hpp"
#include "katana/wire/http2/head_reader.hpp"
#include "katana/wire/http2/head_writer.hpp"
#include "katana/wire/http2/past_streams.hpp"
#include "katana/wire/http2/states.hpp"
#include "katana/wire/http2/stream_place.hpp"

namespace katana::http2 {

// The state that all machines of one reactor share.
struct Context {
  // `extended`: WebSocket is spoken on streams, and SETTINGS say so (RFC 8441).
  explicit Context(const Limits& given, bool extended = false) noexcept
      : limits(given), extended_connect(extended), reader(limits, extended) {
    KATANA_REQUIRE(are_valid(given));
  }
  Context(const Context&) = delete;

  const Limits limits;          // of all connections
  const bool extended_connect;  // SETTINGS_ENABLE_CONNECT_PROTOCOL (RFC 8441 §3)
  HeadReader reader;            // of the request reported last, by whichever machine
  HeadWriter head_writer;       // for reply heads
};

// One request and its reply, as the machine sees them. The caller keeps it, perhaps as a part of
// something larger. The machine has its streams in a list in the order of their ids, which is that
// of their heads.
struct Stream : StreamFlow, ListHook<Stream> {
  StreamState state = StreamState::idle;  // moves by states.hpp
  Priority priority;                      // of the request; PRIORITY_UPDATE changes it
  bool is_head_request = false;           // its reply has no body
};

// The events of next().
enum class Event : std::uint8_t {
  need_bytes,  // no event: go on with the bytes that were not consumed, if there are any
  head,        // Context::reader has a request: admit() it
  refused,     // likewise, to be answered with the reader's status
  content,     // content() is part of the request on `stream`, borrowed from `input`: consume() it
  over,        // `stream` was reset, or its unwanted content is read: it is let go of
  room,        // windows have grown
  closed,      // the connection is over: see failure()
};

// Result of next().
struct Step {
  Event event = Event::need_bytes;  // at most one for each call
  bool last = false;                // with head, refused and content: the request is complete
  std::size_t consumed = 0;         // bytes of the input that are done with
  Stream* stream = nullptr;         // which the event is about; null: the connection
};

class Machine {
 public:
  Machine(Context& context, Instant now) noexcept;
  ~Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Writes the server's side of the preface. Called once, before anything else. False: no room.
  bool start(Outbox& outbox) noexcept;
  // REQUIRES `input` to begin with the bytes that the last call did not consume.
  Step next(Bytes input, Instant now, Outbox& outbox) noexcept;
  // Takes the stream of the request. Called after Event::head and Event::refused, before anything
  // else.
  void admit(Stream& stream) noexcept;
  // The bytes of the last Event::content.
  Bytes content() const noexcept { return content_; }
  Failure failure() const noexcept { return frames_.failure(); }
  bool closed() const noexcept { return frames_.closed(); }

  // ---- time ----
  Instant deadline() const noexcept {
    return is_unused() ? std::min(frames_.deadline(), idle_deadline_) : frames_.deadline();
  }
  // May close the connection.
  void on_deadline(Instant now, Outbox& outbox) noexcept;
  // The client could not send because we did not read: its time begins anew.
  void restart_deadline(Instant now) noexcept { frames_.restart_deadline(now); }

  // ---- content of requests ----
  // This many bytes have been taken and may be sent again. `stream`: null when it is gone.
  void consume(Stream* stream, std::size_t bytes, Outbox& outbox) noexcept;
  // The stream's share of that, when the connection's was consumed before.
  void open_window(Stream& stream, std::size_t bytes, Outbox& outbox) noexcept;
  // 100 (Continue).
  void send_continue(Stream& stream, Outbox& outbox) noexcept;

  // ---- replies ----
  // Writes a whole reply, or the head and the beginning of one: takes as much of `content` as the
  // windows allow. REQUIRES `output_max` bytes of room in the outbox, in pieces.
  bool respond(Stream& stream, const http::ReplyHead& head, Bytes& content, bool content_stays,
               std::size_t output_max, Instant now, Outbox& outbox) noexcept;
  // A reply whose content follows. `last`: it has none.
  bool begin_reply(Stream& stream, const http::ReplyHead& head, std::int64_t content_length,
                   bool last, Instant now, Outbox& outbox) noexcept;
  // Takes as much of `content` as the windows allow, at most `output_max` bytes. `last`: the reply
  // ends with it; it has ended when the stream is closed.
  bool write_content(Stream& stream, Bytes& content, bool content_stays, bool last,
                     std::size_t output_max, Instant now, Outbox& outbox) noexcept;
  // The same for bytes that are pending in the outbox `content`, which has no files.
  bool move_content(Stream& stream, Outbox& content, std::size_t output_max,
                    Outbox& outbox) noexcept;
  void reset(Stream& stream, ErrorCode code, Instant now, Outbox& outbox) noexcept;
  // The number of bytes that can be sent on the stream now.
  std::size_t window(const Stream& stream) const noexcept { return frames_.window(stream); }

  // ---- the end ----
  // Begins a graceful shutdown by GOAWAY: streams on their way are still accepted. A second GOAWAY
  // names the last of them when the client has seen the first, or at end_drain().
  void drain(Outbox& outbox) noexcept;
  void end_drain(Outbox& outbox) noexcept;
  bool draining() const noexcept { return draining_; }
  // No stream is left, and none will come.
  bool drained() const noexcept { return last_told_ && streams_.empty(); }

  // ---- streams that are over, and whose work is not ----
  // Counts among Limits::streams_max until it is destroyed.
  StreamPlace take_place() noexcept { return places_.take(); }
  std::uint32_t places_taken() const noexcept { return places_.taken(); }

  // The stream of the lowest id; null: there is none.
  Stream* first() const noexcept { return streams_.first(); }
  // Streams that the machine has not let go of.
  std::uint32_t stream_count() const noexcept {
    return static_cast<std::uint32_t>(streams_.size());
  }

 private:
  friend FrameLayer;  // which calls the four that follow
  Step on_frame(FrameEvent event, FrameHeader header, Bytes payload, Instant now,
                Outbox& outbox) noexcept;
  Step begin_data(FrameHeader header, Instant now, Outbox& outbox) noexcept;
  Step take_data(FrameHeader header, Instant now, Outbox& outbox) noexcept;
  Step end_data(Bytes piece, Instant now, Outbox& outbox) noexcept;
  Step on_block(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                Outbox& outbox) noexcept;
  Step on_request(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                  Outbox& outbox) noexcept;
  Step on_trailers(Stream& stream, bool end_stream, Bytes block, Instant now,
                   Outbox& outbox) noexcept;
  Step on_late_block(std::uint32_t id, Bytes block, Instant now, Outbox& outbox) noexcept;
  Step refuse_stream(std::uint32_t id, ErrorCode code, Instant now, Outbox& outbox) noexcept;
  Step on_priority(std::uint32_t id, Bytes payload, Instant now, Outbox& outbox) noexcept;
  Step on_priority_update(Bytes payload, Outbox& outbox) noexcept;
  Step on_rst_stream(std::uint32_t id, Instant now, Outbox& outbox) noexcept;
  Step on_window_update(std::uint32_t id, std::uint32_t more, Instant now, Outbox& outbox) noexcept;

  static Step closed_step() noexcept { return {.event = Event::closed}; }
  KATANA_RARE Step fail(Failure failure, Outbox& outbox) noexcept {
    frames_.fail(failure, outbox);
    return closed_step();
  }
  // A frame for a stream that is over, whose sender may not know it yet.
  Step ignore(Instant now, Outbox& outbox) noexcept {
    return frames_.spend(now, Failure::other_flood, outbox) ? Step{} : closed_step();
  }
  // The client is to blame for it, and pays.
  KATANA_RARE Step reset_for(Stream& stream, ErrorCode code, Instant now, Outbox& outbox) noexcept;
  bool spend_reset(Instant now, Failure failure, Outbox& outbox) noexcept;
  bool is_unused() const noexcept { return streams_.empty() && !closed(); }

  static void go(Stream& stream, StreamCause cause) noexcept {
    const StreamState next = detail::stream_matrix[static_cast<std::size_t>(stream.state)]
                                                  [static_cast<std::size_t>(cause)];
    KATANA_CHECK(next != stream.state);
    stream.state = next;
  }
  void let_go(Stream& stream, Past past, Instant now) noexcept;
  void end_reply(Stream& stream, Instant now) noexcept;
  Step end_replied(Stream& stream, bool last, Instant now) noexcept;
  char* put_head(char* to, const Stream& stream, const http::ReplyHead& head,
                 std::int64_t content_length, bool last) noexcept;

  Context* context_;
  FrameLayer frames_;
  StreamList<Stream> streams_;
  StreamPlaces places_;
  Stream* data_stream_ = nullptr;  // of the DATA frame at hand; null: none
  Bytes content_;
  Instant idle_deadline_;
  Budget resets_;
  std::uint32_t final_id_ = stream_id_max;  // streams beyond it are not served any more
  std::uint32_t pending_id_ = 0;            // of the head to admit()
  PastStreams pasts_;
  bool pending_ends_stream_ = false;
  bool draining_ = false;
  bool last_told_ = false;  // the final GOAWAY
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
