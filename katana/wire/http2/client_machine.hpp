// ClientMachine: the client side of one HTTP/2 connection (RFC 9113), as a function of bytes and
// time.
//
// Owns       the compression's state, windows, budgets, and a header block that is not complete. No
//            other bytes: what next() does not consume stays with the caller.
// Borrows    the ClientContext, which every machine of a thread shares; each ClientStream that was
//            given to begin(), until the machine lets go of it.
// Thread     its reactor's.
// Allocates  never by itself; the compression does (see Inflater), and a header block in several
//            frames is kept in recycled memory.
// Fails      by ClientEvent::closed: failure() says why, and GOAWAY has been written. What is wrong
//            with one reply resets its stream. A command that finds no room in the outbox says so
//            and has written nothing; an answer of the protocol without any ends the connection.
// Invariant  the events are a function of the bytes and the times, however they are cut. No more is
//            sent than the windows and the limits of the server allow. A stream is let go of once:
//            by the event that completes its reply or the command that completes its request,
//            whichever is last, by ClientEvent::over, or by reset(); its state is then closed.
//
// The caller pulls: next() gives at most one event and says how much input it used. What the
// protocol itself wants answered (SETTINGS, PING, windows, errors) goes into the outbox at once.
// After GOAWAY it reports what was not processed without input: call it until it needs bytes.
// How long to wait for a reply is the caller's to decide, and how long to keep an idle connection.
// States of a stream and the transitions between them stand in client_states.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "katana/base/bytes.hpp"
#include "katana/base/check.hpp"
#include "katana/base/hints.hpp"
#include "katana/base/instant.hpp"
#include "katana/base/outbox.hpp"
#include "katana/wire/http2/block_writer.hpp"
#include "katana/wire/http2/budget.hpp"
#include "katana/wire/http2/client_states.hpp"
#include "katana/wire/http2/data_frame.hpp"
#include "katana/wire/http2/failure.hpp"
#include "katana/wire/http2/frame.hpp"
#include "katana/wire/http2/header_block.hpp"
#include "katana/wire/http2/inflater.hpp"
#include "katana/wire/http2/limits.hpp"
#include "katana/wire/http2/past_streams.hpp"
#include "katana/wire/http2/reply_reader.hpp"
#include "katana/wire/http2/request_writer.hpp"
#include "katana/wire/http2/stream_list.hpp"

namespace katana::http2 {

// What the client machines of one thread share. Of the limits streams_max is the most that is open
// at once, head_bytes_max and the like are those of replies; idle_timeout and the budget of resets
// belong to a server.
struct ClientContext {
  explicit ClientContext(const Limits& given) noexcept : limits(given), reader(limits) {
    KATANA_REQUIRE(are_valid(given));
  }
  ClientContext(const ClientContext&) = delete;

  const Limits limits;
  ReplyReader reader;  // of the head or the trailers reported last, by whichever machine
  std::array<char, http::head_bytes_capacity> block;  // of the request that is being begun
};

// One request and its reply, as the machine sees them. The caller keeps it, perhaps as a part of
// something larger. After it was let go of it may be given to begin() again, made anew.
struct ClientStream {
  ClientStream* next = nullptr;  // in the order in which they began
  ClientStream* previous = nullptr;
  std::uint32_t id = 0;
  ClientStreamState state = ClientStreamState::idle;
  bool is_head_request = false;
  bool has_head = false;  // the reply's, interim ones apart
  std::uint8_t interims = 0;
  std::int64_t send_window = 0;           // what the server takes; SETTINGS can make it negative
  std::int64_t receive_window = 0;        // what it may send
  std::uint32_t unreturned = 0;           // consumed, and not yet allowed to be sent again
  std::int64_t content_left = no_length;  // of the length that the reply's head announced
};

enum class ClientEvent : std::uint8_t {
  need_bytes,  // nothing to report: go on with what was not consumed, if anything was
  interim,     // ClientContext::reader has a 1xx head
  head,        // ClientContext::reader has the reply's head
  content,     // content() is part of the reply, borrowed from `input`: consume() it
  trailers,    // ClientContext::reader has the fields behind the content, which is complete
  over,        // `stream` comes to nothing: see `lost` and `code`
  room,        // windows or the number of streams may have grown
  goaway,      // no new requests on this connection; `code` is the server's reason
  closed,      // the connection is over: see failure()
};

// Why a stream was given up. After refused and unprocessed, and only then, it is certain that the
// server did nothing about the request, which may be sent again (RFC 9113 §8.7).
enum class Lost : std::uint8_t {
  none,
  reset,        // by the server, with `code`
  refused,      // likewise, REFUSED_STREAM
  unprocessed,  // it is behind the last that a GOAWAY names
  malformed,    // the reply breaks a rule (RFC 9113 §8.1.1)
  too_large,    // the reply's head
};

struct ClientStep {
  ClientEvent event = ClientEvent::need_bytes;
  Lost lost = Lost::none;
  bool last = false;  // with head, content and trailers: the reply is complete
  ErrorCode code = ErrorCode::no_error;
  std::size_t consumed = 0;
  ClientStream* stream = nullptr;
};

// What became of a request to be begun.
enum class Begun : std::uint8_t {
  yes,
  not_now,    // see can_begin()
  no_room,    // in the outbox
  too_large,  // the server said that it takes no such head, or no machine writes it
};

class ClientMachine {
 public:
  ClientMachine(ClientContext& context, Instant now) noexcept;
  ~ClientMachine() = default;
  ClientMachine(const ClientMachine&) = delete;
  ClientMachine& operator=(const ClientMachine&) = delete;

  // The client's preface. Once, before anything else. False: no room.
  bool start(Outbox& outbox) noexcept;
  // REQUIRES `input` to begin with what the last call did not consume.
  ClientStep next(Bytes input, Instant now, Outbox& outbox) noexcept;
  // What ClientEvent::content reported.
  Bytes content() const noexcept { return content_; }
  Failure failure() const noexcept { return failure_; }
  bool closed() const noexcept { return closed_; }

  // ---- time ----
  Instant deadline() const noexcept { return std::min(partial_deadline_, settings_deadline_); }
  // May close the connection.
  void on_deadline(Instant now, Outbox& outbox) noexcept;
  // The server could not send because we did not read: its time begins anew.
  void restart_deadline(Instant now) noexcept {
    if (partial_deadline_ != never) partial_deadline_ = now + context_->limits.head_timeout;
  }

  // ---- requests ----
  // A stream is free now. The first hundred may begin before the server said how many it takes.
  bool can_begin() const noexcept {
    return is_usable() && streams_.count() < streams_max_ && next_id_ <= stream_id_max;
  }
  // How many may be open at once. A guess before has_settings(): the server has yet to say it.
  std::uint32_t streams_max() const noexcept { return streams_max_; }
  bool has_settings() const noexcept { return settings_seen_; }
  // New requests may be begun, now or when others are over.
  bool is_usable() const noexcept { return !closed_ && !goaway_ && next_id_ <= stream_id_max; }
  // `last`: it has no content. REQUIRES a stream that is idle.
  Begun begin(ClientStream& stream, const RequestHead& head, bool last, Outbox& outbox) noexcept;
  // The same with a block that put_request() wrote earlier.
  Begun begin_block(ClientStream& stream, Bytes block, bool is_head_request, bool last,
                    Outbox& outbox) noexcept;
  // Takes from `content` what the windows allow, at most `output_max`. `last`: the request ends
  // with it; it has ended when the stream is waiting or closed. False: no room.
  bool write_content(ClientStream& stream, Bytes& content, bool content_stays, bool last,
                     std::size_t output_max, Outbox& outbox) noexcept;
  // What can be sent on the stream now.
  std::size_t window(const ClientStream& stream) const noexcept {
    return static_cast<std::size_t>(
        std::max<std::int64_t>(0, std::min(stream.send_window, send_window_)));
  }
  // Gives the request up. Also after the connection has closed: nothing is written then.
  void reset(ClientStream& stream, ErrorCode code, Outbox& outbox) noexcept;

  // ---- content of replies ----
  // So much has been taken and may be sent again. `stream`: null when it is gone.
  void consume(ClientStream* stream, std::size_t bytes, Outbox& outbox) noexcept;
  // The server may send so much more ahead on the stream than the limits say. REQUIRES that the
  // window stays one (window_bytes_max).
  void widen(ClientStream& stream, std::uint32_t bytes, Outbox& outbox) noexcept;

  // ---- the end ----
  // GOAWAY, and nothing more. Streams that are left are to be reset().
  void close(Outbox& outbox) noexcept;
  // The server sends no more.
  void end_of_input() noexcept { end(Failure::none); }

  ClientStream* first() const noexcept { return streams_.first(); }
  std::uint32_t stream_count() const noexcept { return streams_.count(); }

 private:
  ClientStep next_frame(Bytes input, Instant now, Outbox& outbox) noexcept;
  ClientStep wait(Bytes input, Instant now) noexcept;
  ClientStep on_frame(const FrameHeader& header, Bytes payload, Instant now,
                      Outbox& outbox) noexcept;
  ClientStep begin_data(const FrameHeader& header, Bytes input, Instant now,
                        Outbox& outbox) noexcept;
  ClientStep take_data(const FrameHeader& header, Instant now, Outbox& outbox) noexcept;
  ClientStep end_data(Bytes piece, std::size_t consumed, Outbox& outbox) noexcept;
  ClientStep on_headers(const FrameHeader& header, Bytes payload, Instant now,
                        Outbox& outbox) noexcept;
  ClientStep on_continuation(const FrameHeader& header, Bytes payload, Instant now,
                             Outbox& outbox) noexcept;
  ClientStep on_block(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                      Outbox& outbox) noexcept;
  ClientStep on_head(ClientStream& stream, bool end_stream, Bytes block, Instant now,
                     Outbox& outbox) noexcept;
  ClientStep on_interim(ClientStream& stream, bool end_stream, Instant now,
                        Outbox& outbox) noexcept;
  ClientStep on_trailers(ClientStream& stream, bool end_stream, Bytes block,
                         Outbox& outbox) noexcept;
  ClientStep on_late_block(std::uint32_t id, Bytes block, Instant now, Outbox& outbox) noexcept;
  ClientStep on_rst_stream(const FrameHeader& header, Bytes payload, Instant now,
                           Outbox& outbox) noexcept;
  ClientStep on_settings(const FrameHeader& header, Bytes payload, Instant now,
                         Outbox& outbox) noexcept;
  Failure apply(Setting setting, std::uint32_t value) noexcept;
  ClientStep on_ping(const FrameHeader& header, Bytes payload, Instant now,
                     Outbox& outbox) noexcept;
  ClientStep on_goaway(const FrameHeader& header, Bytes payload, Instant now,
                       Outbox& outbox) noexcept;
  ClientStep on_window_update(const FrameHeader& header, Bytes payload, Instant now,
                              Outbox& outbox) noexcept;
  ClientStep give_up_unprocessed() noexcept;

  KATANA_RARE ClientStep fail(Failure failure, Outbox& outbox) noexcept;
  KATANA_RARE ClientStep fail_block(HeadVerdict verdict, Outbox& outbox) noexcept;
  KATANA_RARE ClientStep lose(ClientStream& stream, Lost lost, ErrorCode code,
                              Outbox& outbox) noexcept;
  void end(Failure failure) noexcept;
  bool spend_idle(Instant now, std::uint32_t cost = IdleBudget::frame_cost) noexcept {
    return idle_frames_.spend(context_->limits, now, cost);
  }
  void earn(std::size_t bytes, std::uint32_t frames = 1) noexcept {
    idle_frames_.earn(context_->limits, bytes, frames);
  }
  // A stream that this side has not begun.
  bool is_idle(std::uint32_t id) const noexcept { return !is_client_stream(id) || id >= next_id_; }
  static bool peer_sends(const ClientStream& stream) noexcept {
    return stream.state == ClientStreamState::open || stream.state == ClientStreamState::waiting;
  }
  void go(ClientStream& stream, ClientStreamCause cause, Past past) noexcept;
  void end_reply(ClientStream& stream) noexcept {
    go(stream, ClientStreamCause::reply_ends, Past::ended);
  }

  ClientContext* context_;
  Inflater inflater_;
  StreamList<ClientStream> streams_;
  ClientStream* data_stream_ = nullptr;  // of the DATA frame at hand; null: nobody's
  Bytes content_;
  HeaderBlock block_;

  Instant partial_deadline_ = never;
  Instant settings_deadline_ = never;
  IdleBudget idle_frames_;

  std::int64_t send_window_ = default_window_bytes;
  std::int64_t receive_window_;
  std::uint32_t unreturned_ = 0;
  std::uint32_t peer_window_bytes_ = default_window_bytes;  // of a new stream
  std::uint32_t peer_head_bytes_max_ = UINT32_MAX;
  std::uint32_t streams_max_;
  std::uint32_t next_id_ = 1;
  std::uint32_t last_processed_ = stream_id_max;  // as GOAWAY says
  DataFrame data_;
  PastStreams pasts_;
  OwnTable table_;
  Failure failure_ = Failure::none;
  bool settings_seen_ = false;
  bool goaway_ = false;
  bool closed_ = false;
};

}  // namespace katana::http2
