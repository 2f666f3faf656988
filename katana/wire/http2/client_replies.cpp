// The frames of replies: heads, content, trailers and resets.
#include "katana/wire/http2/client_machine.hpp"

namespace katana::http2 {
namespace {

constexpr unsigned interims_max = 64;  // before one reply

bool has_content(const ClientStream& stream, unsigned status) noexcept {
  return !stream.is_head_request && status != 204 && status != 304;
}

}  // namespace

// ---- heads -----------------------------------------------------------------------------------

ClientStep ClientMachine::on_block(std::uint32_t id, bool end_stream, Bytes block, Instant now,
                                   Outbox& outbox) noexcept {
  ClientStream* const stream = streams_.find(id);
  if (stream == nullptr) return on_late_block(id, block, now, outbox);
  if (stream->has_head) return on_trailers(*stream, end_stream, block, outbox);
  return on_head(*stream, end_stream, block, now, outbox);
}

ClientStep ClientMachine::on_head(ClientStream& stream, bool end_stream, Bytes block, Instant now,
                                  Outbox& outbox) noexcept {
  const ReplyReader& reader = context_->reader;
  const HeadVerdict verdict = context_->reader.read_head(frames_.inflater(), block);
  if (!frames_.is_decoded(verdict, outbox)) return closed_step();
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
  frames_.earn_use();
  if (end_stream) {
    if (stream.content_left > 0) {
      return lose(stream, Lost::malformed, ErrorCode::protocol_error, outbox);
    }
    end_reply(stream);
  }
  return {.event = ClientEvent::head, .last = end_stream, .stream = &stream};
}

// Takes a 1xx head. A reply does not end with one, and their number is limited.
ClientStep ClientMachine::on_interim(ClientStream& stream, bool end_stream, Instant now,
                                     Outbox& outbox) noexcept {
  if (!frames_.spend(now, Failure::other_flood, outbox)) return closed_step();
  if (end_stream || ++stream.interims > interims_max) {
    return lose(stream, Lost::malformed, ErrorCode::protocol_error, outbox);
  }
  return {.event = ClientEvent::interim, .stream = &stream};
}

ClientStep ClientMachine::on_trailers(ClientStream& stream, bool end_stream, Bytes block,
                                      Outbox& outbox) noexcept {
  const HeadVerdict verdict = context_->reader.read_trailers(frames_.inflater(), block);
  if (!frames_.is_decoded(verdict, outbox)) return closed_step();
  if (!peer_sends(stream)) {
    return lose(stream, Lost::malformed, ErrorCode::stream_closed, outbox);
  }
  if (verdict == HeadVerdict::refused) {
    return lose(stream, Lost::too_large, ErrorCode::cancel, outbox);
  }
  const bool complete = end_stream && stream.content_left <= 0;
  if (!complete || verdict == HeadVerdict::malformed) {
    return lose(stream, Lost::malformed, ErrorCode::protocol_error, outbox);
  }
  end_reply(stream);
  return {.event = ClientEvent::trailers, .last = true, .stream = &stream};
}

// Handles a block on a stream that is over. The client may have given up many streams at once and
// not remember this one; the server may not know it yet. Machine has the server's rule.
ClientStep ClientMachine::on_late_block(std::uint32_t id, Bytes block, Instant now,
                                        Outbox& outbox) noexcept {
  const Past past = pasts_.find(id);
  if (past == Past::ended || past == Past::peer_reset) return fail(Failure::closed_stream, outbox);
  const ClientStep step = ignore(now, outbox);
  if (closed()) return step;
  // It is decoded because it changes the table.
  const HeadVerdict verdict = context_->reader.read_trailers(frames_.inflater(), block);
  return frames_.is_decoded(verdict, outbox) ? ClientStep{} : closed_step();
}

// ---- content ---------------------------------------------------------------------------------

ClientStep ClientMachine::begin_data(FrameHeader header, Instant now, Outbox& outbox) noexcept {
  data_stream_ = nullptr;
  const ClientStep step = take_data(header, now, outbox);
  consume(data_stream_, header.size - frames_.data().left(), outbox);  // its padding
  return step;
}

// Finds out whose the data is.
ClientStep ClientMachine::take_data(FrameHeader header, Instant now, Outbox& outbox) noexcept {
  ClientStream* const stream = streams_.find(header.stream);
  if (stream == nullptr) {
    const Past past = pasts_.find(header.stream);
    const bool sender_knew = past == Past::ended || past == Past::peer_reset;
    return sender_knew ? fail(Failure::closed_stream, outbox) : ignore(now, outbox);
  }
  if (!peer_sends(*stream)) {
    return lose(*stream, Lost::malformed, ErrorCode::stream_closed, outbox);
  }
  ErrorCode code = frames_.charge(*stream, header);
  if (code == ErrorCode::no_error && !stream->has_head) code = ErrorCode::protocol_error;
  if (code != ErrorCode::no_error) return lose(*stream, Lost::malformed, code, outbox);
  data_stream_ = stream;
  frames_.earn(frames_.data().left());
  return {};
}

ClientStep ClientMachine::end_data(Bytes piece, Instant /*now*/, Outbox& outbox) noexcept {
  if (data_stream_ == nullptr) {  // it is dropped, but the window is shared
    frames_.consume(piece.size(), outbox);
    return closed() ? closed_step() : ClientStep{};
  }
  ClientStream& stream = *data_stream_;
  const bool last = !frames_.data().is_open() && frames_.data().ends_stream();
  if (last) end_reply(stream);
  if (piece.empty() && !last) return {};
  content_ = piece;
  return {.event = ClientEvent::content, .last = last, .stream = &stream};
}

void ClientMachine::consume(ClientStream* stream, std::size_t bytes, Outbox& outbox) noexcept {
  frames_.consume(bytes, outbox);
  if (stream != nullptr && peer_sends(*stream)) frames_.consume(*stream, bytes, outbox);
}

void ClientMachine::widen(ClientStream& stream, std::uint32_t bytes, Outbox& outbox) noexcept {
  if (closed() || !peer_sends(stream) || bytes == 0) return;
  stream.receive_window += bytes;
  KATANA_REQUIRE(stream.receive_window <= window_bytes_max);
  if (!put_window(stream.id, bytes, outbox)) fail(Failure::no_room, outbox);
}

// ---- resets ------------------------------------------------------------------------------------

ClientStep ClientMachine::on_rst_stream(std::uint32_t id, Bytes payload, Instant now,
                                        Outbox& outbox) noexcept {
  ClientStream* const stream = streams_.find(id);
  if (stream == nullptr) return ignore(now, outbox);
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

// SPDX-License-Identifier: Apache-2.0
