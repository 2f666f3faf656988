// The frames of requests: heads, content, priorities and resets.
#include "katana/wire/http2/machine.hpp"

namespace katana::http2 {

// ---- heads -----------------------------------------------------------------------------------

Step Machine::on_block(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                       Outbox& outbox) noexcept {
  if (id > frames_.last_id()) return on_request(id, end_stream, block, now, outbox);
  Stream* const stream = streams_.find(id);
  if (stream != nullptr) return on_trailers(*stream, end_stream, block, now, outbox);
  return on_late_block(id, block, now, outbox);
}

Step Machine::on_request(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                         Outbox& outbox) noexcept {
  frames_.set_last_id(id);
  HeadReader& reader = context_->reader;
  HeadVerdict verdict = reader.read_request(frames_.inflater(), block);
  if (!frames_.is_decoded(verdict, outbox)) return closed_step();
  // GOAWAY told the client that no reply will come (RFC 9113 §6.8).
  if (id > final_id_) return ignore(now, outbox);
  if (end_stream && reader.content_length() > 0) verdict = HeadVerdict::malformed;
  if (verdict == HeadVerdict::malformed) {
    return refuse_stream(id, ErrorCode::protocol_error, now, outbox);
  }
  // A stream that the client gave up counts until its work has ended. Otherwise a client could, by
  // resetting streams, have more of them at work than was agreed.
  if (streams_.size() + places_.taken() >= context_->limits.streams_max) {
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
  if (!spend_reset(now, Failure::made_reset, outbox)) return closed_step();
  pasts_.note(id, Past::own_reset);
  frames_.reset(id, code, outbox);
  return closed() ? closed_step() : Step{};
}

Step Machine::on_trailers(Stream& stream, bool end_stream, Bytes block, Instant now,
                          Outbox& outbox) noexcept {
  const HeadVerdict verdict = context_->reader.read_trailers(frames_.inflater(), block);
  if (!frames_.is_decoded(verdict, outbox)) return closed_step();
  if (stream.state == StreamState::replying) {
    return reset_for(stream, ErrorCode::stream_closed, now, outbox);
  }
  const bool complete = end_stream && stream.content_left <= 0;
  if (!complete || verdict == HeadVerdict::malformed) {
    return reset_for(stream, ErrorCode::protocol_error, now, outbox);
  }
  if (stream.state == StreamState::replied) return end_replied(stream, true, now);
  go(stream, StreamCause::request_ends);
  content_ = {};
  return {.event = Event::content, .last = true, .stream = &stream};
}

// Handles a block on a stream that is over. It is an error of the client, unless the server
// remembers that it reset the stream itself. ClientMachine has the client's rule.
Step Machine::on_late_block(std::uint32_t id, Bytes block, Instant now, Outbox& outbox) noexcept {
  const Past past = pasts_.find(id);
  if (past == Past::unknown) return fail(Failure::bad_stream, outbox);
  if (past != Past::own_reset) return fail(Failure::closed_stream, outbox);
  const Step step = ignore(now, outbox);
  if (closed()) return step;
  // It is decoded because it changes the table.
  const HeadVerdict verdict = context_->reader.read_trailers(frames_.inflater(), block);
  return frames_.is_decoded(verdict, outbox) ? Step{} : closed_step();
}

// ---- content ---------------------------------------------------------------------------------

Step Machine::begin_data(FrameHeader header, Instant now, Outbox& outbox) noexcept {
  data_stream_ = nullptr;
  const Step step = take_data(header, now, outbox);
  consume(data_stream_, header.size - frames_.data().left(), outbox);  // its padding
  return step;
}

// Finds out whose the data is.
Step Machine::take_data(FrameHeader header, Instant now, Outbox& outbox) noexcept {
  Stream* const stream = streams_.find(header.stream);
  if (stream == nullptr) {
    const Past past = pasts_.find(header.stream);
    if (past == Past::ended) return fail(Failure::closed_stream, outbox);
    if (past != Past::peer_reset) return ignore(now, outbox);
    return refuse_stream(header.stream, ErrorCode::stream_closed, now, outbox);
  }
  if (stream->state == StreamState::replying) {
    return reset_for(*stream, ErrorCode::stream_closed, now, outbox);
  }
  const ErrorCode code = frames_.charge(*stream, header);
  if (code != ErrorCode::no_error) return reset_for(*stream, code, now, outbox);
  data_stream_ = stream;
  if (stream->state != StreamState::replied) frames_.earn(frames_.data().left());
  return {};
}

Step Machine::end_data(Bytes piece, Instant now, Outbox& outbox) noexcept {
  if (data_stream_ == nullptr) {  // it is dropped, but the window is shared
    frames_.consume(piece.size(), outbox);
    return closed() ? closed_step() : Step{};
  }
  Stream& stream = *data_stream_;
  const DataFrame& data = frames_.data();
  const bool last = !data.is_open() && data.ends_stream();
  if (stream.state == StreamState::replied) {
    frames_.consume(piece.size(), outbox);
    return data.is_open() ? Step{} : end_replied(stream, last, now);
  }
  if (last) go(stream, StreamCause::request_ends);
  if (piece.empty() && !last) return {};
  content_ = piece;
  return {.event = Event::content, .last = last, .stream = &stream};
}

// A stream that is replied is read to the end of its window, which is not opened again. The caller
// resets it when the client has had time to read the reply (RFC 9113 §8.1).
Step Machine::end_replied(Stream& stream, bool last, Instant now) noexcept {
  if (!last) return {};
  go(stream, StreamCause::request_ends);
  let_go(stream, Past::ended, now);
  return {.event = Event::over, .stream = &stream};
}

void Machine::consume(Stream* stream, std::size_t bytes, Outbox& outbox) noexcept {
  frames_.consume(bytes, outbox);
  if (stream != nullptr) open_window(*stream, bytes, outbox);
}

void Machine::open_window(Stream& stream, std::size_t bytes, Outbox& outbox) noexcept {
  if (stream.state == StreamState::open) frames_.consume(stream, bytes, outbox);
}

// ---- priorities and resets ----------------------------------------------------------------------

Step Machine::on_priority(std::uint32_t id, Bytes payload, Instant now, Outbox& outbox) noexcept {
  if (!frames_.spend(now, Failure::other_flood, outbox)) return closed_step();
  const bool right_size = payload.size() == 5;
  if (right_size && first_number(payload) != id) return {};
  Stream* const stream = streams_.find(id);
  if (stream == nullptr) {
    return fail(right_size ? Failure::bad_frame : Failure::bad_frame_size, outbox);
  }
  return reset_for(*stream, right_size ? ErrorCode::protocol_error : ErrorCode::frame_size_error,
                   now, outbox);
}

// The priority of a stream that has not begun is not kept: its head may state it, too.
Step Machine::on_priority_update(Bytes payload, Outbox& outbox) noexcept {
  if (!is_client_stream(first_number(payload))) return fail(Failure::bad_stream, outbox);
  Stream* const stream = streams_.find(first_number(payload));
  if (stream != nullptr) stream->priority = parse_priority(payload.substr(4));
  return {};
}

Step Machine::on_rst_stream(std::uint32_t id, Instant now, Outbox& outbox) noexcept {
  Stream* const stream = streams_.find(id);
  if (stream == nullptr) return ignore(now, outbox);
  // A reset costs the client nothing, and the server the work that the request began
  // (CVE-2023-44487).
  if (!spend_reset(now, Failure::rapid_reset, outbox)) return closed_step();
  go(*stream, StreamCause::peer_reset);
  let_go(*stream, Past::peer_reset, now);
  return {.event = Event::over, .stream = stream};
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
