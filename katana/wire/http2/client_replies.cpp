// What makes replies: heads, content, trailers and resets.
#include "katana/wire/http2/client_machine.hpp"
#include "katana/wire/http2/frame_output.hpp"

namespace katana::http2 {
namespace {

constexpr unsigned interims_max = 64;  // before one reply

bool has_content(const ClientStream& stream, unsigned status) noexcept {
  return !stream.is_head_request && status != 204 && status != 304;
}

}  // namespace

// ---- heads -----------------------------------------------------------------------------------

ClientStep ClientMachine::on_headers(const FrameHeader& header, Bytes payload, Instant now,
                                     Outbox& outbox) noexcept {
  if (is_idle(header.stream)) return fail(Failure::bad_stream, outbox);
  const Failure failure = strip_headers(header, payload);
  if (failure != Failure::none) return fail(failure, outbox);
  if (header.has(flag_end_headers)) {
    return on_block(header.stream, header.has(flag_end_stream), payload, now, outbox);
  }
  block_.begin(header, payload);
  partial_deadline_ = now + context_->limits.head_timeout;
  return {};
}

ClientStep ClientMachine::on_continuation(const FrameHeader& header, Bytes payload, Instant now,
                                          Outbox& outbox) noexcept {
  const Failure failure = block_.add(header, payload, context_->limits);
  if (failure != Failure::none) return fail(failure, outbox);
  if (block_.is_open()) return {};
  partial_deadline_ = never;
  const Text block = block_.take();
  return on_block(header.stream, block_.ends_stream(), block.bytes(), now, outbox);
}

ClientStep ClientMachine::on_block(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                                   Outbox& outbox) noexcept {
  ClientStream* const stream = streams_.find(id);
  if (stream == nullptr) return on_late_block(id, block, now, outbox);
  if (stream->has_head) return on_trailers(*stream, end_stream, block, outbox);
  return on_head(*stream, end_stream, block, now, outbox);
}

ClientStep ClientMachine::fail_block(HeadVerdict verdict, Outbox& outbox) noexcept {
  return fail(verdict == HeadVerdict::bomb ? Failure::header_bomb : Failure::compression, outbox);
}

ClientStep ClientMachine::on_head(ClientStream& stream, bool end_stream, Bytes block, Instant now,
                                  Outbox& outbox) noexcept {
  const ReplyReader& reader = context_->reader;
  const HeadVerdict verdict = context_->reader.read_head(inflater_, block);
  if (verdict == HeadVerdict::broken || verdict == HeadVerdict::bomb) {
    return fail_block(verdict, outbox);
  }
  if (verdict == HeadVerdict::refused) {
    return lose(stream, Lost::too_large, ErrorCode::cancel, outbox);
  }
  if (verdict == HeadVerdict::malformed) {
    return lose(stream, Lost::malformed, ErrorCode::protocol_error, outbox);
  }
  if (reader.status() < 200) return on_interim(stream, end_stream, now, outbox);
  stream.has_head = true;
  const bool with_content = has_content(stream, reader.status());
  stream.content_left = with_content ? reader.content_length() : 0;
  idle_frames_.earn_use(context_->limits);
  if (end_stream) {
    if (stream.content_left > 0) {
      return lose(stream, Lost::malformed, ErrorCode::protocol_error, outbox);
    }
    end_reply(stream);
  }
  return {.event = ClientEvent::head, .last = end_stream, .stream = &stream};
}

// A reply does not end with one, and a server that sends nothing else is not waited for.
ClientStep ClientMachine::on_interim(ClientStream& stream, bool end_stream, Instant now,
                                     Outbox& outbox) noexcept {
  if (!spend_idle(now)) return fail(Failure::other_flood, outbox);
  if (end_stream || ++stream.interims > interims_max) {
    return lose(stream, Lost::malformed, ErrorCode::protocol_error, outbox);
  }
  return {.event = ClientEvent::interim, .stream = &stream};
}

ClientStep ClientMachine::on_trailers(ClientStream& stream, bool end_stream, Bytes block,
                                      Outbox& outbox) noexcept {
  const HeadVerdict verdict = context_->reader.read_trailers(inflater_, block);
  if (verdict == HeadVerdict::broken || verdict == HeadVerdict::bomb) {
    return fail_block(verdict, outbox);
  }
  if (!peer_sends(stream)) {
    return lose(stream, Lost::malformed, ErrorCode::stream_closed, outbox);
  }
  if (verdict == HeadVerdict::refused) {
    return lose(stream, Lost::too_large, ErrorCode::cancel, outbox);
  }
  if (verdict == HeadVerdict::malformed || !end_stream || stream.content_left > 0) {
    return lose(stream, Lost::malformed, ErrorCode::protocol_error, outbox);
  }
  end_reply(stream);
  return {.event = ClientEvent::trailers, .last = true, .stream = &stream};
}

// On a stream that is no more. Its sender may not know yet that it was given up.
ClientStep ClientMachine::on_late_block(std::uint32_t id, Bytes block, Instant now,
                                        Outbox& outbox) noexcept {
  const Past past = pasts_.find(id);
  if (past == Past::ended || past == Past::peer_reset) return fail(Failure::closed_stream, outbox);
  if (!spend_idle(now)) return fail(Failure::other_flood, outbox);
  // It is decoded because it changes the table.
  const HeadVerdict verdict = context_->reader.read_trailers(inflater_, block);
  if (verdict == HeadVerdict::broken || verdict == HeadVerdict::bomb) {
    return fail_block(verdict, outbox);
  }
  return {};
}

// ---- content ---------------------------------------------------------------------------------

ClientStep ClientMachine::begin_data(const FrameHeader& header, Bytes input, Instant now,
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
  ClientStep step = take_data(header, now, outbox);
  consume(data_stream_, header.size - data_.left(), outbox);
  if (step.event != ClientEvent::need_bytes) {
    step.consumed = begun.consumed;
    return step;
  }
  if (closed_) return {.event = ClientEvent::closed};
  // The content may stand behind the header already: one step for both.
  std::size_t consumed = 0;
  const Bytes rest = input.substr(begun.consumed);
  if (data_.is_open() && rest.empty()) return {.consumed = begun.consumed};
  const Bytes piece = data_.next(rest, consumed);
  return end_data(piece, begun.consumed + consumed, outbox);
}

// Finds out whose the data is.
ClientStep ClientMachine::take_data(const FrameHeader& header, Instant now,
                                    Outbox& outbox) noexcept {
  if (is_idle(header.stream)) return fail(Failure::bad_stream, outbox);
  ClientStream* const stream = streams_.find(header.stream);
  if (stream == nullptr) {
    const Past past = pasts_.find(header.stream);
    if (past == Past::ended || past == Past::peer_reset) {
      return fail(Failure::closed_stream, outbox);
    }
    return spend_idle(now) ? ClientStep{} : fail(Failure::other_flood, outbox);
  }
  if (!peer_sends(*stream)) {
    return lose(*stream, Lost::malformed, ErrorCode::stream_closed, outbox);
  }
  if (header.size > stream->receive_window) {
    return lose(*stream, Lost::malformed, ErrorCode::flow_control_error, outbox);
  }
  stream->receive_window -= header.size;
  bool as_announced = stream->has_head;
  if (stream->content_left != no_length) {
    stream->content_left -= data_.left();
    const bool exact = !data_.ends_stream() || stream->content_left == 0;
    as_announced = as_announced && exact && stream->content_left >= 0;
  }
  if (!as_announced) {  // RFC 9113 §8.1.1
    return lose(*stream, Lost::malformed, ErrorCode::protocol_error, outbox);
  }
  data_stream_ = stream;
  earn(data_.left());
  return {};
}

ClientStep ClientMachine::end_data(Bytes piece, std::size_t consumed, Outbox& outbox) noexcept {
  if (data_stream_ == nullptr) {  // nobody takes it, but the window is everybody's
    consume(nullptr, piece.size(), outbox);
    return {.event = closed_ ? ClientEvent::closed : ClientEvent::need_bytes, .consumed = consumed};
  }
  ClientStream& stream = *data_stream_;
  const bool last = !data_.is_open() && data_.ends_stream();
  if (last) end_reply(stream);
  if (piece.empty() && !last) return {.consumed = consumed};
  content_ = piece;
  return {.event = ClientEvent::content, .last = last, .consumed = consumed, .stream = &stream};
}

void ClientMachine::consume(ClientStream* stream, std::size_t bytes, Outbox& outbox) noexcept {
  if (bytes == 0 || closed_) return;
  const Limits& limits = context_->limits;
  if (!give_back(0, bytes, limits.connection_window_bytes, unreturned_, receive_window_, outbox)) {
    fail(Failure::no_room, outbox);
  }
  if (stream == nullptr || !peer_sends(*stream) || closed_) return;
  if (!give_back(stream->id, bytes, limits.stream_window_bytes, stream->unreturned,
                 stream->receive_window, outbox)) {
    fail(Failure::no_room, outbox);
  }
}

void ClientMachine::widen(ClientStream& stream, std::uint32_t bytes, Outbox& outbox) noexcept {
  if (closed_ || !peer_sends(stream) || bytes == 0) return;
  stream.receive_window += bytes;
  KATANA_REQUIRE(stream.receive_window <= window_bytes_max);
  if (!put_window(stream.id, bytes, outbox)) fail(Failure::no_room, outbox);
}

// ---- resets ------------------------------------------------------------------------------------

ClientStep ClientMachine::on_rst_stream(const FrameHeader& header, Bytes payload, Instant now,
                                        Outbox& outbox) noexcept {
  if (payload.size() != 4) return fail(Failure::bad_frame_size, outbox);
  if (is_idle(header.stream)) return fail(Failure::bad_stream, outbox);
  ClientStream* const stream = streams_.find(header.stream);
  if (stream == nullptr) return spend_idle(now) ? ClientStep{} : fail(Failure::other_flood, outbox);
  const auto code = static_cast<ErrorCode>(parse_number(payload.data(), 4));
  const bool nothing_came = !stream->has_head && stream->interims == 0;
  const bool refused = code == ErrorCode::refused_stream && nothing_came;
  go(*stream, ClientStreamCause::peer_reset, Past::peer_reset);
  return {.event = ClientEvent::over,
          .lost = refused ? Lost::refused : Lost::reset,
          .code = code,
          .stream = stream};
}

}  // namespace katana::http2
