// FrameLayer: the rules that hold for both ends of an HTTP/2 connection (RFC 9113 §3.4 to §6.9). It
// completes frames and checks their form, answers SETTINGS and PING, collects header blocks, counts
// the connection's windows, and ends floods. Machine (a server's requests and replies) and
// ClientMachine (a client's requests) own one each, and apply its frames to their streams.
//
// Owns       the compression's state, the connection's windows, the budget of idle frames, and a
//            header block that is not complete. No other bytes.
// Borrows    the limits; the input, for the call.
// Thread     its machine's.
// Allocates  never directly; the compression does (see Inflater), and a header block in several
//            frames is kept in recycled memory.
// Fails      by closing: the first failure stays, and GOAWAY was written if the outbox had room.
// Invariant  the frames are a function of the bytes and the times, however they are cut.
//
// Where a rule depends on the side, role_ decides. Other differences stand in the two owners.
#pragma once

#include <algorithm>
#include <cstdint>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/wire/http2/block_writer.hpp"
#include "katana/wire/http2/budget.hpp"
#include "katana/wire/http2/data_frame.hpp"
#include "katana/wire/http2/failure.hpp"
#include "katana/wire/http2/field_rules.hpp"
#include "katana/wire/http2/frame.hpp"
#include "katana/wire/http2/frame_output.hpp"
#include "katana/wire/http2/header_block.hpp"
#include "katana/wire/http2/inflater.hpp"
#include "katana/wire/http2/limits.hpp"
#include "katana/wire/http2/settings.hpp"
#include "katana/wire/http2/stream_list.hpp"

namespace katana::http2 {

// Which end this is. Clients begin streams with odd ids.
enum class Role : std::uint8_t { server, client };

// A stream's share of flow control, and the bytes of content that it has yet to receive.
struct StreamFlow {
  std::uint32_t id = 0;                   // 0: no id yet
  std::uint32_t unreturned = 0;           // consumed, and not yet allowed to be sent again
  std::int64_t send_window = 0;           // bytes to send; SETTINGS can make it negative
  std::int64_t receive_window = 0;        // bytes that the other side may send
  std::int64_t content_left = no_length;  // of the length that the other side's head announced
};

// The part of a frame other than HEADERS and DATA that is left to the role. The form has been
// checked, and the budget paid, but for PRIORITY. A frame that the layer leaves to its owner.
enum class FrameEvent : std::uint8_t {
  none,             // nothing for the owner
  block,            // the last CONTINUATION of a header block: take_block()
  priority,         // PRIORITY (RFC 9113 §5.3.2)
  rst_stream,       // the stream ends
  settings,         // apply_settings()
  ping_ack,         // the answer to a PING of ours
  goaway,           // no further streams
  window_update,    // of a stream
  priority_update,  // to a server only
  room,             // the connection's send window has grown
  closed,           // see failure()
};

// The first word of a payload without its reserved bit: an id, or the growth of a window.
inline std::uint32_t first_number(Bytes payload) noexcept {
  return parse_number(payload.data(), 4) & stream_id_max;
}

// Shorter content is copied behind its frame's header; referring to it would cost more.
inline constexpr std::size_t copied_bytes_max = 1024;

// Result of sending content.
struct DataOutput {
  bool has_capacity = true;  // false: the outbox is full
  bool ends = false;         // END_STREAM was sent
};

class FrameLayer {
 public:
  // A server waits for the preface first. The other side has to acknowledge SETTINGS from now on.
  FrameLayer(const Limits& limits, Role role, Instant now) noexcept;
  FrameLayer(const FrameLayer&) = delete;
  FrameLayer& operator=(const FrameLayer&) = delete;

  // Writes this side's preface with the payload of its SETTINGS. Called once, before anything else.
  // False: no room.
  bool start(Bytes settings, Outbox& outbox) noexcept;
  // Takes one frame, or a piece of DATA, and returns the Step that `owner` makes of it. A Step has
  // `consumed` and `event`; the default of `event` means that there is none. It calls one of
  //   on_block(id, ends_stream, block, now, outbox)   a header block
  //   begin_data(header, now, outbox)                 DATA: finds its stream; see data()
  //   end_data(piece, now, outbox)                    its content, unless begin_data() had an event
  //   on_frame(event, header, payload, now, outbox)   any other frame, or FrameEvent::closed
  // This is a template, because a Frame that was returned and looked at again made a short exchange
  // cost a tenth more instructions. REQUIRES `input` to begin with the bytes that the last call did
  // not consume.
  template <class Owner>
  auto next(Owner& owner, Bytes input, Instant now, Outbox& outbox) noexcept;
  const DataFrame& data() const noexcept { return data_; }

  // ---- the end ----
  // Ends the connection and writes GOAWAY. Without room in the outbox the connection ends, too, but
  // the other side is not told why. The first failure stays.
  KATANA_RARE FrameEvent fail(Failure failure, Outbox& outbox) noexcept;
  // Likewise, without GOAWAY.
  void end(Failure failure) noexcept;
  Failure failure() const noexcept { return failure_; }
  bool closed() const noexcept { return closed_; }

  // ---- time ----
  Instant deadline() const noexcept { return std::min(partial_deadline_, settings_deadline_); }
  // May close the connection.
  void on_deadline(Instant now, Outbox& outbox) noexcept;
  // The other side could not send because its bytes were not read: its time begins anew.
  void restart_deadline(Instant now) noexcept {
    if (partial_deadline_ != never) partial_deadline_ = now + limits_->head_timeout;
  }

  // ---- budgets ----
  // Charges a frame that moves nothing. False: there are too many, and the connection is closed.
  bool spend(Instant now, Failure flood, Outbox& outbox,
             std::uint32_t cost = IdleBudget::frame_cost) noexcept {
    if (idle_frames_.spend(*limits_, now, cost)) return true;
    fail(flood, outbox);
    return false;
  }
  void earn(std::size_t bytes, std::uint32_t frames = 1) noexcept {
    idle_frames_.earn(*limits_, bytes, frames);
  }
  // A request, or a reply that was asked for.
  void earn_use() noexcept { idle_frames_.earn_use(*limits_); }

  // ---- what the other side's SETTINGS say ----
  bool has_settings() const noexcept { return phase_ == Phase::open; }
  std::uint32_t peer_streams_max() const noexcept { return peer_streams_max_; }
  std::uint32_t peer_head_bytes_max() const noexcept { return peer_head_bytes_max_; }
  // Applies and acknowledges FrameEvent::settings. False: the connection is closed.
  template <class Stream>
  bool apply_settings(Bytes settings, StreamList<Stream>& streams, Outbox& outbox) noexcept {
    for (; !settings.empty(); settings.remove_prefix(setting_bytes)) {
      std::int64_t more = 0;
      Failure failure = apply(static_cast<Setting>(parse_number(settings.data(), 2)),
                              parse_number(settings.data() + 2, 4), more);
      if (failure == Failure::none && !streams.widen(more)) failure = Failure::flow_control;
      if (failure != Failure::none) fail(failure, outbox);
      if (closed_) return false;
    }
    return answer({0, FrameType::settings, flag_ack, 0}, {}, outbox) == FrameEvent::none;
  }

  // ---- streams ----
  // The last that the client began.
  std::uint32_t last_id() const noexcept { return last_id_; }
  void set_last_id(std::uint32_t id) noexcept { last_id_ = id; }
  void open(StreamFlow& stream, std::uint32_t id) noexcept;
  void reset(std::uint32_t id, ErrorCode code, Outbox& outbox) noexcept;

  // ---- header blocks ----
  // FrameEvent::block.
  Text take_block() noexcept { return block_.take(); }
  bool block_ends_stream() const noexcept { return block_.ends_stream(); }
  Inflater& inflater() noexcept { return inflater_; }
  OwnTable& own_table() noexcept { return own_table_; }
  // False: the reader could not decode the whole block, and the connection is closed.
  bool is_decoded(HeadVerdict verdict, Outbox& outbox) noexcept {
    if (verdict != HeadVerdict::broken && verdict != HeadVerdict::bomb) return true;
    const bool bomb = verdict == HeadVerdict::bomb;
    fail(bomb ? Failure::header_bomb : Failure::compression, outbox);
    return false;
  }

  // ---- windows ----
  // The number of bytes that can be sent on the stream now.
  std::size_t window(const StreamFlow& stream) const noexcept {
    return static_cast<std::size_t>(
        std::max<std::int64_t>(0, std::min(stream.send_window, send_window_)));
  }
  // Applies FrameEvent::window_update to an open stream. Returns the code that the stream is to be
  // reset with, or no_error.
  static ErrorCode widen(StreamFlow& stream, std::uint32_t more) noexcept;
  // Charges the DATA frame to the windows (RFC 9113 §8.1.1). Returns the same.
  ErrorCode charge(StreamFlow& stream, const FrameHeader& header) noexcept;
  // This many bytes were taken and may be sent again, on the connection and on the stream.
  void consume(std::size_t bytes, Outbox& outbox) noexcept {
    if (bytes == 0) return;
    give_back(0, bytes, limits_->connection_window_bytes, unreturned_, receive_window_, outbox);
  }
  void consume(StreamFlow& stream, std::size_t bytes, Outbox& outbox) noexcept {
    if (bytes == 0) return;
    give_back(stream.id, bytes, limits_->stream_window_bytes, stream.unreturned,
              stream.receive_window, outbox);
  }
  // Takes as much of `content` as the windows and `output_max` allow, perhaps nothing, in frames.
  // `last`: END_STREAM stands on the frame that empties it.
  DataOutput put_data(StreamFlow& stream, Bytes& content, bool content_stays, bool last,
                      std::size_t output_max, Outbox& outbox) noexcept;
  // A frame of so much content was written.
  void note_sent(StreamFlow& stream, std::size_t bytes) noexcept {
    take_send_windows(stream, bytes);
    earn(bytes);
  }

 private:
  enum class Phase : std::uint8_t { preface, settings, open };

  template <class Owner>
  auto whole(Owner& owner, FrameHeader header, Bytes input, Instant now, Outbox& outbox) noexcept;
  bool begin_data(const FrameHeader& header, Bytes& input, Instant now, Outbox& outbox) noexcept;
  // Otherwise something is begun, and has its time from the first byte on.
  bool is_here(Bytes input, std::size_t size, Instant now) noexcept {
    if (input.size() >= size) return true;
    if (!input.empty() && partial_deadline_ == never) {
      partial_deadline_ = now + limits_->head_timeout;
    }
    return false;
  }
  std::size_t take_preface(Bytes input, Instant now, Outbox& outbox) noexcept;
  // Fails a frame that may not come now, or is too large.
  bool permits(const FrameHeader& header, Outbox& outbox) noexcept;
  bool on_headers(FrameHeader header, Bytes& payload, Instant now, Outbox& outbox) noexcept;
  FrameEvent on_frame(FrameHeader header, Bytes payload, Instant now, Outbox& outbox) noexcept;
  FrameEvent on_continuation(FrameHeader header, Bytes payload, Outbox& outbox) noexcept;
  FrameEvent on_settings(FrameHeader header, Bytes payload, Instant now, Outbox& outbox) noexcept;
  FrameEvent on_window_update(FrameHeader header, Bytes payload, Instant now,
                              Outbox& outbox) noexcept;
  void take_send_windows(StreamFlow& stream, std::size_t bytes) noexcept {
    stream.send_window -= static_cast<std::int64_t>(bytes);
    send_window_ -= static_cast<std::int64_t>(bytes);
  }
  // Gives bytes back once they are half of a window: one WINDOW_UPDATE then serves many frames.
  void give_back(std::uint32_t id, std::size_t bytes, std::uint32_t window_bytes,
                 std::uint32_t& unreturned, std::int64_t& window, Outbox& outbox) noexcept;
  FrameEvent answer(const FrameHeader& header, Bytes payload, Outbox& outbox) noexcept;
  // `more`: by how much it widens the windows of all streams.
  Failure apply(Setting setting, std::uint32_t value, std::int64_t& more) noexcept;
  // Not begun.
  bool is_idle(std::uint32_t id) const noexcept { return !is_client_stream(id) || id > last_id_; }

  const Limits* limits_;
  Inflater inflater_;
  HeaderBlock block_;
  Instant partial_deadline_;
  Instant settings_deadline_;
  IdleBudget idle_frames_;
  std::int64_t send_window_ = default_window_bytes;
  std::int64_t receive_window_;
  std::uint32_t unreturned_ = 0;
  std::uint32_t peer_window_bytes_ = default_window_bytes;  // of a new stream
  std::uint32_t peer_streams_max_;
  std::uint32_t peer_head_bytes_max_ = UINT32_MAX;
  std::uint32_t last_id_ = 0;
  DataFrame data_;
  OwnTable own_table_;
  const Role role_;
  Phase phase_;
  Failure failure_ = Failure::none;
  bool closed_ = false;
};

// But for DATA a frame is looked at when it is whole: it is no larger than a head may be.
template <class Owner>
auto FrameLayer::next(Owner& owner, Bytes input, Instant now, Outbox& outbox) noexcept {
  using Step = decltype(owner.end_data(input, now, outbox));
  const auto closed = [&] { return owner.on_frame(FrameEvent::closed, {}, {}, now, outbox); };
  Bytes rest = input;
  if (closed_) return closed();
  if (phase_ == Phase::preface) [[unlikely]] {
    const std::size_t consumed = take_preface(input, now, outbox);
    return closed_ ? closed() : Step{.consumed = consumed};
  }
  if (!data_.is_open()) {
    if (!is_here(input, frame_header_bytes, now)) return Step{};
    const FrameHeader header = parse_frame_header(input.data());
    if (!permits(header, outbox)) return closed();
    if (header.type != FrameType::data) return whole(owner, header, input, now, outbox);
    if (!begin_data(header, rest, now, outbox)) return closed_ ? closed() : Step{};
    Step step = owner.begin_data(header, now, outbox);
    step.consumed = input.size() - rest.size();
    // An event of the stream comes before that of a connection which ended for want of room.
    if (step.event != Step{}.event) return step;
    if (closed_) return closed();
  }
  // A new frame takes one step for its header and the bytes that stand behind it already.
  std::size_t consumed = 0;
  const Bytes piece = data_.next(rest, consumed);
  Step step = owner.end_data(piece, now, outbox);
  step.consumed = input.size() - rest.size() + consumed;
  return step;
}

template <class Owner>
auto FrameLayer::whole(Owner& owner, FrameHeader header, Bytes input, Instant now,
                       Outbox& outbox) noexcept {
  const std::size_t size = frame_header_bytes + header.size;
  if (!is_here(input, size, now)) return decltype(owner.end_data(input, now, outbox)){};
  if (!block_.is_open()) partial_deadline_ = never;
  Bytes payload = input.substr(frame_header_bytes, header.size);
  FrameEvent event = FrameEvent::none;
  if (header.type != FrameType::headers) {
    event = on_frame(header, payload, now, outbox);
  } else if (on_headers(header, payload, now, outbox)) {
    auto step = owner.on_block(header.stream, header.has(flag_end_stream), payload, now, outbox);
    step.consumed = size;
    return step;
  } else if (closed_) {
    event = FrameEvent::closed;
  }
  auto step = owner.on_frame(event, header, payload, now, outbox);
  step.consumed = size;
  return step;
}

inline bool FrameLayer::permits(const FrameHeader& header, Outbox& outbox) noexcept {
  Failure failure = Failure::none;
  if (phase_ != Phase::open && (header.type != FrameType::settings || header.has(flag_ack))) {
    failure = Failure::bad_preface;
  } else if (header.size > frame_bytes_max) {
    failure = Failure::bad_frame_size;
  } else if (!block_.permits(header)) {
    failure = Failure::broken_block;
  }
  if (failure != Failure::none) fail(failure, outbox);
  return failure == Failure::none;
}

// False: the block is not complete, or the connection is closed. Only a client begins streams.
inline bool FrameLayer::on_headers(FrameHeader header, Bytes& payload, Instant now,
                                   Outbox& outbox) noexcept {
  const std::uint32_t id = header.stream;
  const bool is_possible = role_ == Role::server ? is_client_stream(id) : !is_idle(id);
  const Failure failure = is_possible ? strip_headers(header, payload) : Failure::bad_stream;
  if (failure != Failure::none) {
    fail(failure, outbox);
    return false;
  }
  if (header.has(flag_end_headers)) return true;
  block_.begin(header, payload);
  partial_deadline_ = now + limits_->head_timeout;
  return false;
}

// The beginning of DATA is taken off `input`. False: it has not all come, or the connection is
// closed.
inline bool FrameLayer::begin_data(const FrameHeader& header, Bytes& input, Instant now,
                                   Outbox& outbox) noexcept {
  const DataFrame::Begun begun = data_.begin(header, input);
  Failure failure = begun.failure;
  if (failure == Failure::none) {
    if (begun.consumed == 0) return is_here(input, input.size() + 1, now);
    // Padding counts (RFC 9113 §6.9.1).
    if (header.size > receive_window_) failure = Failure::flow_control;
  }
  if (failure == Failure::none) {
    receive_window_ -= header.size;
    partial_deadline_ = never;
    input.remove_prefix(begun.consumed);
    const bool empty = data_.left() == 0 && !data_.ends_stream();
    if (empty && !spend(now, Failure::empty_frame_flood, outbox)) return false;
    if (!is_idle(header.stream)) return true;
    failure = Failure::bad_stream;
  }
  fail(failure, outbox);
  return false;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
