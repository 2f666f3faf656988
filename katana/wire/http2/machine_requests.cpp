// What makes requests: heads, content, priorities and resets.
#include <algorithm>

#include "katana/wire/http2/machine.hpp"

namespace katana::http2 {
namespace {

// Takes the padding of a frame away. False: it is longer than the frame (RFC 9113 §6.1).
bool remove_padding(const FrameHeader& header, Bytes& payload) noexcept {
  if (!header.has(flag_padded)) return true;
  if (payload.empty()) return false;
  const std::size_t padding = static_cast<unsigned char>(payload[0]);
  payload.remove_prefix(1);
  if (padding > payload.size()) return false;
  payload.remove_suffix(padding);
  return true;
}

}  // namespace

// ---- heads -----------------------------------------------------------------------------------

Step Machine::on_headers(const FrameHeader& header, Bytes payload, Instant now,
                         Outbox& outbox) noexcept {
  if (!is_client_stream(header.stream)) return fail(Failure::bad_stream, outbox);
  if (!remove_padding(header, payload)) return fail(Failure::bad_frame, outbox);
  if (header.has(flag_priority)) {
    if (payload.size() < 5) return fail(Failure::bad_frame_size, outbox);
    // RFC 9113 §5.3.2: that order of priorities is no more, but its rules of form are.
    const std::uint32_t parent = parse_number(payload.data(), 4) & stream_id_max;
    if (parent == header.stream) return fail(Failure::bad_frame, outbox);
    payload.remove_prefix(5);
  }
  const bool ends_stream = header.has(flag_end_stream);
  if (header.has(flag_end_headers)) {
    return on_block(header.stream, ends_stream, payload, now, outbox);
  }
  in_block_ = true;
  block_id_ = header.stream;
  block_ends_stream_ = ends_stream;
  continuations_ = 0;
  block_.append(payload);
  partial_deadline_ = now + context_->limits.head_timeout;
  return {};
}

Step Machine::on_continuation(const FrameHeader& header, Bytes payload, Instant now,
                              Outbox& outbox) noexcept {
  if (!in_block_) return fail(Failure::bad_frame, outbox);
  if (++continuations_ > context_->limits.continuations_max ||
      block_.size() + payload.size() > context_->limits.block_bytes_max) {
    return fail(Failure::continuation_flood, outbox);
  }
  block_.append(payload);
  if (!header.has(flag_end_headers)) return {};
  in_block_ = false;
  partial_deadline_ = never;
  const Text block = std::move(block_);
  block_ = Text();
  return on_block(block_id_, block_ends_stream_, block.bytes(), now, outbox);
}

Step Machine::on_block(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                       Outbox& outbox) noexcept {
  if (id > last_id_) return on_request(id, end_stream, block, now, outbox);
  Stream* const stream = find(id);
  if (stream != nullptr) return on_trailers(*stream, end_stream, block, now, outbox);
  return on_late_block(id, block, outbox);
}

Step Machine::on_request(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                         Outbox& outbox) noexcept {
  last_id_ = id;
  HeadReader& reader = context_->reader;
  HeadVerdict verdict = reader.read_request(inflater_, block);
  if (verdict == HeadVerdict::broken) return fail(Failure::compression, outbox);
  if (verdict == HeadVerdict::bomb) return fail(Failure::header_bomb, outbox);
  if (id > final_id_) return {};  // it was told that nobody will answer (RFC 9113 §6.8)
  if (end_stream && reader.content_length() > 0) verdict = HeadVerdict::malformed;
  if (verdict == HeadVerdict::malformed) {
    return refuse_stream(id, ErrorCode::protocol_error, now, outbox);
  }
  if (stream_count_ >= context_->limits.streams_max) {
    return refuse_stream(id, ErrorCode::refused_stream, now, outbox);
  }
  pending_id_ = id;
  pending_ends_stream_ = end_stream;
  const bool refused = verdict == HeadVerdict::refused;
  return {.event = refused ? Event::refused : Event::head, .last = end_stream};
}

// A stream that the caller never sees.
Step Machine::refuse_stream(std::uint32_t id, ErrorCode code, Instant now,
                            Outbox& outbox) noexcept {
  if (!spend_reset(now)) return fail(Failure::made_reset, outbox);
  std::array<char, 4> payload;
  put_number(payload.data(), static_cast<std::uint32_t>(code), 4);
  note_past(id, Past::own_reset);
  if (!put({4, FrameType::rst_stream, 0, id}, {payload.data(), payload.size()}, outbox)) {
    return fail(Failure::no_room, outbox);
  }
  return {};
}

Step Machine::on_trailers(Stream& stream, bool end_stream, Bytes block, Instant now,
                          Outbox& outbox) noexcept {
  const HeadVerdict verdict = context_->reader.read_trailers(inflater_, block);
  if (verdict == HeadVerdict::broken) return fail(Failure::compression, outbox);
  if (verdict == HeadVerdict::bomb) return fail(Failure::header_bomb, outbox);
  if (stream.state == StreamState::replying) {
    return reset_for(stream, ErrorCode::stream_closed, now, outbox);
  }
  const bool complete = end_stream && stream.content_left <= 0;
  if (!complete || verdict == HeadVerdict::malformed) {
    return reset_for(stream, ErrorCode::protocol_error, now, outbox);
  }
  if (stream.state == StreamState::replied) return end_replied(stream, true, now, outbox);
  go(stream, StreamCause::request_ends);
  content_ = {};
  return {.event = Event::content, .last = true, .stream = &stream};
}

// On a stream that is no more.
Step Machine::on_late_block(std::uint32_t id, Bytes block, Outbox& outbox) noexcept {
  const Past past = past_of(id);
  if (past == Past::unknown) return fail(Failure::bad_stream, outbox);
  if (past != Past::own_reset) return fail(Failure::closed_stream, outbox);
  // Its sender may not know yet. It is decoded because it changes the table.
  const HeadVerdict verdict = context_->reader.read_trailers(inflater_, block);
  if (verdict == HeadVerdict::broken) return fail(Failure::compression, outbox);
  if (verdict == HeadVerdict::bomb) return fail(Failure::header_bomb, outbox);
  return {};
}

// ---- content ---------------------------------------------------------------------------------

Step Machine::begin_data(const FrameHeader& header, Bytes input, Instant now,
                         Outbox& outbox) noexcept {
  if (header.stream == 0) return fail(Failure::bad_frame, outbox);
  const bool padded = header.has(flag_padded);
  std::size_t padding = 0;
  if (padded) {
    if (header.size == 0) return fail(Failure::bad_frame_size, outbox);
    if (input.size() == frame_header_bytes) return wait(input, now);
    padding = static_cast<unsigned char>(input[frame_header_bytes]);
    if (padding >= header.size) return fail(Failure::bad_frame, outbox);
  }
  // Padding counts (RFC 9113 §6.9.1).
  if (header.size > receive_window_) return fail(Failure::flow_control, outbox);
  receive_window_ -= header.size;
  partial_deadline_ = never;
  in_data_ = true;
  padding_left_ = static_cast<std::uint16_t>(padding);
  data_left_ = static_cast<std::uint32_t>(header.size - padding - (padded ? 1 : 0));
  data_ends_stream_ = header.has(flag_end_stream);
  data_stream_ = nullptr;
  if (data_left_ != 0) {
    earn();
  } else if (!data_ends_stream_ && !spend_idle(now)) {
    return fail(Failure::empty_frame_flood, outbox);
  }
  Step step = take_data(header, now, outbox);
  if (padded) consume(data_stream_, padding + 1, outbox);
  if (data_left_ + padding_left_ == 0) {
    in_data_ = false;
    if (step.event == Event::need_bytes) step = end_data({}, 0, now, outbox);
  }
  step.consumed = frame_header_bytes + (padded ? 1 : 0);
  return step;
}

// Finds out whose the data is.
Step Machine::take_data(const FrameHeader& header, Instant now, Outbox& outbox) noexcept {
  Stream* const stream = find(header.stream);
  if (stream == nullptr) {
    const bool idle = !is_client_stream(header.stream) || header.stream > last_id_;
    if (idle) return fail(Failure::bad_stream, outbox);
    const Past past = past_of(header.stream);
    if (past == Past::ended) return fail(Failure::closed_stream, outbox);
    if (past == Past::peer_reset) {
      return refuse_stream(header.stream, ErrorCode::stream_closed, now, outbox);
    }
    return spend_idle(now) ? Step{} : fail(Failure::other_flood, outbox);
  }
  if (stream->state == StreamState::replying) {
    return reset_for(*stream, ErrorCode::stream_closed, now, outbox);
  }
  if (header.size > stream->receive_window) {
    return reset_for(*stream, ErrorCode::flow_control_error, now, outbox);
  }
  stream->receive_window -= header.size;
  if (stream->content_left != HeadReader::no_length) {
    stream->content_left -= data_left_;
    const bool exact = !data_ends_stream_ || stream->content_left == 0;
    if (stream->content_left < 0 || !exact) {  // RFC 9113 §8.1.1
      return reset_for(*stream, ErrorCode::protocol_error, now, outbox);
    }
  }
  data_stream_ = stream;
  return {};
}

Step Machine::next_data(Bytes input, Instant now, Outbox& outbox) noexcept {
  if (input.empty()) return {};
  const Bytes piece = input.substr(0, data_left_);
  data_left_ -= static_cast<std::uint32_t>(piece.size());
  const std::size_t padding = std::min<std::size_t>(input.size() - piece.size(), padding_left_);
  padding_left_ = static_cast<std::uint16_t>(padding_left_ - padding);
  return end_data(piece, piece.size() + padding, now, outbox);
}

Step Machine::end_data(Bytes piece, std::size_t consumed, Instant now, Outbox& outbox) noexcept {
  const bool frame_ends = data_left_ + padding_left_ == 0;
  if (frame_ends) in_data_ = false;
  if (data_stream_ == nullptr) {  // nobody takes it, but the window is everybody's
    consume(nullptr, piece.size(), outbox);
    return {.event = closed_ ? Event::closed : Event::need_bytes, .consumed = consumed};
  }
  Stream& stream = *data_stream_;
  const bool last = frame_ends && data_ends_stream_;
  if (stream.state == StreamState::replied) {
    consume(nullptr, piece.size(), outbox);
    Step step = frame_ends ? end_replied(stream, last, now, outbox) : Step{};
    step.consumed = consumed;
    return step;
  }
  if (last) go(stream, StreamCause::request_ends);
  if (piece.empty() && !last) return {.consumed = consumed};
  content_ = piece;
  return {.event = Event::content, .last = last, .consumed = consumed, .stream = &stream};
}

// Its window is not opened again: what fits it is read, so that a client that sends first and reads
// then finds its reply; the rest is not.
Step Machine::end_replied(Stream& stream, bool last, Instant now, Outbox& outbox) noexcept {
  if (last) {
    go(stream, StreamCause::request_ends);
    let_go(stream, Past::ended, now);
  } else if (stream.receive_window < context_->limits.stream_window_bytes / 2) {
    end_early(stream, now, outbox);
  } else {
    return {};
  }
  return {.event = closed_ ? Event::closed : Event::over, .stream = &stream};
}

void Machine::consume(Stream* stream, std::size_t bytes, Outbox& outbox) noexcept {
  if (bytes == 0 || closed_) return;
  give_back(0, bytes, context_->limits.connection_window_bytes, unreturned_, receive_window_,
            outbox);
  if (stream != nullptr) open_window(*stream, bytes, outbox);
}

void Machine::open_window(Stream& stream, std::size_t bytes, Outbox& outbox) noexcept {
  if (stream.state != StreamState::open || bytes == 0 || closed_) return;
  give_back(stream.id, bytes, context_->limits.stream_window_bytes, stream.unreturned,
            stream.receive_window, outbox);
}

// Half of the window at a time: one WINDOW_UPDATE for many frames.
void Machine::give_back(std::uint32_t id, std::size_t bytes, std::uint32_t window_bytes,
                        std::uint32_t& unreturned, std::int64_t& window, Outbox& outbox) noexcept {
  unreturned += static_cast<std::uint32_t>(bytes);
  if (unreturned < window_bytes / 2) return;
  if (!put_window(id, unreturned, outbox)) fail(Failure::no_room, outbox);
  window += unreturned;
  unreturned = 0;
}

// ---- priorities and resets ----------------------------------------------------------------------

Step Machine::on_priority(const FrameHeader& header, Bytes payload, Instant now,
                          Outbox& outbox) noexcept {
  if (header.stream == 0) return fail(Failure::bad_frame, outbox);
  if (!spend_idle(now)) return fail(Failure::other_flood, outbox);
  const bool right_size = payload.size() == 5;
  const bool on_itself =
      right_size && (parse_number(payload.data(), 4) & stream_id_max) == header.stream;
  if (right_size && !on_itself) return {};
  Stream* const stream = find(header.stream);
  if (stream == nullptr) {
    return fail(right_size ? Failure::bad_frame : Failure::bad_frame_size, outbox);
  }
  return reset_for(*stream, right_size ? ErrorCode::protocol_error : ErrorCode::frame_size_error,
                   now, outbox);
}

// RFC 9218 §7.1. What is said of a stream before it begins is not kept: its head may say it too.
Step Machine::on_priority_update(const FrameHeader& header, Bytes payload, Instant now,
                                 Outbox& outbox) noexcept {
  if (header.stream != 0) return fail(Failure::bad_frame, outbox);
  if (payload.size() < 4) return fail(Failure::bad_frame_size, outbox);
  if (!spend_idle(now)) return fail(Failure::other_flood, outbox);
  const std::uint32_t id = parse_number(payload.data(), 4) & stream_id_max;
  if (!is_client_stream(id)) return fail(Failure::bad_stream, outbox);
  Stream* const stream = find(id);
  if (stream != nullptr) stream->priority = parse_priority(payload.substr(4));
  return {};
}

Step Machine::on_rst_stream(const FrameHeader& header, Bytes payload, Instant now,
                            Outbox& outbox) noexcept {
  if (payload.size() != 4) return fail(Failure::bad_frame_size, outbox);
  if (!is_client_stream(header.stream) || header.stream > last_id_) {
    return fail(Failure::bad_stream, outbox);
  }
  Stream* const stream = find(header.stream);
  if (stream == nullptr) return spend_idle(now) ? Step{} : fail(Failure::other_flood, outbox);
  // A request that is given up costs its sender nothing, and us what it began (CVE-2023-44487).
  if (!spend_reset(now)) return fail(Failure::rapid_reset, outbox);
  go(*stream, StreamCause::peer_reset);
  let_go(*stream, Past::peer_reset, now);
  return {.event = Event::over, .stream = stream};
}

}  // namespace katana::http2
