// What makes requests: heads, content, priorities and resets.
#include "katana/wire/http2/frame_output.hpp"
#include "katana/wire/http2/machine.hpp"

namespace katana::http2 {

// ---- heads -----------------------------------------------------------------------------------

Step Machine::on_headers(const FrameHeader& header, Bytes payload, Instant now,
                         Outbox& outbox) noexcept {
  if (!is_client_stream(header.stream)) return fail(Failure::bad_stream, outbox);
  const Failure failure = strip_headers(header, payload);
  if (failure != Failure::none) return fail(failure, outbox);
  if (header.has(flag_end_headers)) {
    return on_block(header.stream, header.has(flag_end_stream), payload, now, outbox);
  }
  block_.begin(header, payload);
  partial_deadline_ = now + context_->limits.head_timeout;
  return {};
}

Step Machine::on_continuation(const FrameHeader& header, Bytes payload, Instant now,
                              Outbox& outbox) noexcept {
  const Failure failure = block_.add(header, payload, context_->limits);
  if (failure != Failure::none) return fail(failure, outbox);
  if (block_.is_open()) return {};
  partial_deadline_ = never;
  const Text block = block_.take();
  return on_block(header.stream, block_.ends_stream(), block.bytes(), now, outbox);
}

Step Machine::on_block(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                       Outbox& outbox) noexcept {
  if (id > last_id_) return on_request(id, end_stream, block, now, outbox);
  Stream* const stream = streams_.find(id);
  if (stream != nullptr) return on_trailers(*stream, end_stream, block, now, outbox);
  return on_late_block(id, block, now, outbox);
}

Step Machine::on_request(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                         Outbox& outbox) noexcept {
  last_id_ = id;
  HeadReader& reader = context_->reader;
  HeadVerdict verdict = reader.read_request(inflater_, block);
  if (verdict == HeadVerdict::broken) return fail(Failure::compression, outbox);
  if (verdict == HeadVerdict::bomb) return fail(Failure::header_bomb, outbox);
  // It was told that nobody will answer (RFC 9113 §6.8).
  if (id > final_id_) return spend_idle(now) ? Step{} : fail(Failure::other_flood, outbox);
  if (end_stream && reader.content_length() > 0) verdict = HeadVerdict::malformed;
  if (verdict == HeadVerdict::malformed) {
    return refuse_stream(id, ErrorCode::protocol_error, now, outbox);
  }
  if (streams_.count() >= context_->limits.streams_max) {
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
  pasts_.note(id, Past::own_reset);
  if (!put_reset(id, code, outbox)) return fail(Failure::no_room, outbox);
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
Step Machine::on_late_block(std::uint32_t id, Bytes block, Instant now, Outbox& outbox) noexcept {
  const Past past = pasts_.find(id);
  if (past == Past::unknown) return fail(Failure::bad_stream, outbox);
  if (past != Past::own_reset) return fail(Failure::closed_stream, outbox);
  // Its sender may not know yet.
  if (!spend_idle(now)) return fail(Failure::other_flood, outbox);
  // It is decoded because it changes the table.
  const HeadVerdict verdict = context_->reader.read_trailers(inflater_, block);
  if (verdict == HeadVerdict::broken) return fail(Failure::compression, outbox);
  if (verdict == HeadVerdict::bomb) return fail(Failure::header_bomb, outbox);
  return {};
}

// ---- content ---------------------------------------------------------------------------------

Step Machine::begin_data(const FrameHeader& header, Bytes input, Instant now,
                         Outbox& outbox) noexcept {
  const DataFrame::Begun begun = data_.begin(header, input);
  if (begun.failure != Failure::none) return fail(begun.failure, outbox);
  if (begun.consumed == 0) return wait(input, now);
  // Padding counts (RFC 9113 §6.9.1).
  if (header.size > receive_window_) return fail(Failure::flow_control, outbox);
  receive_window_ -= header.size;
  partial_deadline_ = never;
  data_stream_ = nullptr;
  if (data_.left() == 0 && !data_.ends_stream() && !spend_idle(now)) {
    return fail(Failure::empty_frame_flood, outbox);
  }
  Step step = take_data(header, now, outbox);
  consume(data_stream_, header.size - data_.left(), outbox);
  if (step.event == Event::need_bytes && !data_.is_open()) {
    step = closed_ ? Step{.event = Event::closed} : end_data({}, 0, now, outbox);
  }
  step.consumed = begun.consumed;
  return step;
}

// Finds out whose the data is.
Step Machine::take_data(const FrameHeader& header, Instant now, Outbox& outbox) noexcept {
  Stream* const stream = streams_.find(header.stream);
  if (stream == nullptr) {
    const bool idle = !is_client_stream(header.stream) || header.stream > last_id_;
    if (idle) return fail(Failure::bad_stream, outbox);
    const Past past = pasts_.find(header.stream);
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
    stream->content_left -= data_.left();
    const bool exact = !data_.ends_stream() || stream->content_left == 0;
    if (stream->content_left < 0 || !exact) {  // RFC 9113 §8.1.1
      return reset_for(*stream, ErrorCode::protocol_error, now, outbox);
    }
  }
  data_stream_ = stream;
  if (stream->state != StreamState::replied) earn(data_.left());
  return {};
}

Step Machine::next_data(Bytes input, Instant now, Outbox& outbox) noexcept {
  if (input.empty()) return {};
  std::size_t consumed = 0;
  const Bytes piece = data_.next(input, consumed);
  return end_data(piece, consumed, now, outbox);
}

Step Machine::end_data(Bytes piece, std::size_t consumed, Instant now, Outbox& outbox) noexcept {
  if (data_stream_ == nullptr) {  // nobody takes it, but the window is everybody's
    consume(nullptr, piece.size(), outbox);
    return {.event = closed_ ? Event::closed : Event::need_bytes, .consumed = consumed};
  }
  Stream& stream = *data_stream_;
  const bool last = !data_.is_open() && data_.ends_stream();
  if (stream.state == StreamState::replied) {
    consume(nullptr, piece.size(), outbox);
    Step step = data_.is_open() ? Step{} : end_replied(stream, last, now, outbox);
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
  return {.event = Event::over, .stream = &stream};
}

void Machine::consume(Stream* stream, std::size_t bytes, Outbox& outbox) noexcept {
  if (bytes == 0 || closed_) return;
  const std::uint32_t window = context_->limits.connection_window_bytes;
  if (!give_back(0, bytes, window, unreturned_, receive_window_, outbox)) {
    fail(Failure::no_room, outbox);
  }
  if (stream != nullptr) open_window(*stream, bytes, outbox);
}

void Machine::open_window(Stream& stream, std::size_t bytes, Outbox& outbox) noexcept {
  if (stream.state != StreamState::open || bytes == 0 || closed_) return;
  if (!give_back(stream.id, bytes, context_->limits.stream_window_bytes, stream.unreturned,
                 stream.receive_window, outbox)) {
    fail(Failure::no_room, outbox);
  }
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
  Stream* const stream = streams_.find(header.stream);
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
  Stream* const stream = streams_.find(id);
  if (stream != nullptr) stream->priority = parse_priority(payload.substr(4));
  return {};
}

Step Machine::on_rst_stream(const FrameHeader& header, Bytes payload, Instant now,
                            Outbox& outbox) noexcept {
  if (payload.size() != 4) return fail(Failure::bad_frame_size, outbox);
  if (!is_client_stream(header.stream) || header.stream > last_id_) {
    return fail(Failure::bad_stream, outbox);
  }
  Stream* const stream = streams_.find(header.stream);
  if (stream == nullptr) return spend_idle(now) ? Step{} : fail(Failure::other_flood, outbox);
  // A request that is given up costs its sender nothing, and us what it began (CVE-2023-44487).
  if (!spend_reset(now)) return fail(Failure::rapid_reset, outbox);
  go(*stream, StreamCause::peer_reset);
  let_go(*stream, Past::peer_reset, now);
  return {.event = Event::over, .stream = stream};
}

}  // namespace katana::http2
