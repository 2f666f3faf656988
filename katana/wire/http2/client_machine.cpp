#include "katana/wire/http2/client_machine.hpp"

namespace katana::http2 {

ClientMachine::ClientMachine(ClientContext& context, Instant now) noexcept
    : context_(&context), frames_(context.limits, Role::client, now) {
  context.reader.forget();
}

bool ClientMachine::start(Outbox& outbox) noexcept {
  std::array<char, 3 * setting_bytes> settings;
  put_shared_settings(put_setting(settings.data(), Setting::enable_push, 0), context_->limits);
  return frames_.start({settings.data(), settings.size()}, outbox);
}

ClientStep ClientMachine::next(Bytes input, Instant now, Outbox& outbox) noexcept {
  if (goaway_ && !closed() && !streams_.empty() && streams_.last()->id > last_processed_) {
    return give_up_unprocessed();
  }
  return frames_.next(*this, input, now, outbox);
}

ClientStep ClientMachine::on_frame(FrameEvent event, FrameHeader header, Bytes payload, Instant now,
                                   Outbox& outbox) noexcept {
  const std::uint32_t id = header.stream;
  switch (event) {
    case FrameEvent::block: {
      const Text block = frames_.take_block();
      return on_block(id, frames_.block_ends_stream(), block.bytes(), now, outbox);
    }
    case FrameEvent::window_update: return on_window_update(id, first_number(payload), outbox);
    case FrameEvent::settings:
      frames_.apply_settings(payload, streams_, outbox);
      return {.event = closed() ? ClientEvent::closed : ClientEvent::room};
    case FrameEvent::rst_stream: return on_rst_stream(id, payload, now, outbox);
    case FrameEvent::goaway: return on_goaway(payload, outbox);
    case FrameEvent::priority:  // a server has nothing to ask for
      if (payload.size() != 5) return fail(Failure::bad_frame_size, outbox);
      return ignore(now, outbox);
    case FrameEvent::room: return {.event = ClientEvent::room};
    case FrameEvent::closed: return closed_step();
    case FrameEvent::priority_update:
    case FrameEvent::ping_ack:
    case FrameEvent::none: break;
  }
  return {};
}

// A first GOAWAY may name the largest id: requests on their way are then still served. The next
// GOAWAY names the last of them, and never a larger one (RFC 9113 §6.8).
ClientStep ClientMachine::on_goaway(Bytes payload, Outbox& outbox) noexcept {
  const std::uint32_t last = first_number(payload);
  if (last > last_processed_) return fail(Failure::bad_stream, outbox);
  last_processed_ = last;
  goaway_ = true;
  return {.event = ClientEvent::goaway,
          .code = static_cast<ErrorCode>(parse_number(payload.data() + 4, 4))};
}

// Gives up one unprocessed stream at a time, the latest first. The server ignores frames on them.
ClientStep ClientMachine::give_up_unprocessed() noexcept {
  ClientStream& stream = *streams_.last();
  if (stream.state == ClientStreamState::answered) {  // the server replied, and denies it
    go(stream, ClientStreamCause::peer_reset, Past::peer_reset);
    return {.event = ClientEvent::over, .lost = Lost::reset, .stream = &stream};
  }
  go(stream, ClientStreamCause::unprocessed, Past::own_reset);
  return {.event = ClientEvent::over, .lost = Lost::unprocessed, .stream = &stream};
}

ClientStep ClientMachine::on_window_update(std::uint32_t id, std::uint32_t more,
                                           Outbox& outbox) noexcept {
  ClientStream* const stream = streams_.find(id);
  if (stream == nullptr) {
    return more == 0 ? fail(Failure::bad_frame, outbox) : ClientStep{};
  }
  const ErrorCode code = FrameLayer::widen(*stream, more);
  if (code != ErrorCode::no_error) return lose(*stream, Lost::malformed, code, outbox);
  return {.event = ClientEvent::room, .stream = stream};
}

// ---- requests ----------------------------------------------------------------------------------

Begun ClientMachine::begin(ClientStream& stream, const RequestHead& head, bool last,
                           Outbox& outbox) noexcept {
  if (request_bytes_max(head) > context_->block.size() ||
      listed_bytes(head) > frames_.peer_head_bytes_max()) {
    return Begun::too_large;
  }
  char* const end = put_request(context_->block.data(), head);
  const Bytes block(context_->block.data(), static_cast<std::size_t>(end - context_->block.data()));
  return begin_block(stream, block, head.method == "HEAD", last, outbox);
}

Begun ClientMachine::begin_block(ClientStream& stream, Bytes block, bool is_head_request, bool last,
                                 Outbox& outbox) noexcept {
  KATANA_REQUIRE(stream.state == ClientStreamState::idle);
  if (!can_begin()) return Begun::not_now;
  constexpr std::size_t fragment_max = frame_bytes_max - 1;  // and a change of the table
  constexpr std::size_t front_max = 64;  // of a frame: its header, and what a split block loses
  const std::size_t frames = block.size() / fragment_max + 1;
  if (!outbox.has_capacity(block.size() + frames * front_max)) return Begun::no_room;
  frames_.set_last_id(next_id());
  frames_.open(stream, frames_.last_id());
  FrameType type = FrameType::headers;
  unsigned flags = last ? unsigned{flag_end_stream} : 0u;
  do {
    const Bytes fragment = block.substr(0, fragment_max);
    block.remove_prefix(fragment.size());
    std::array<char, frame_header_bytes + 1> front;
    const std::uint32_t table_bytes = frames_.own_table().is_due() ? 1 : 0;
    if (block.empty()) flags |= flag_end_headers;
    const FrameHeader header{static_cast<std::uint32_t>(fragment.size()) + table_bytes, type,
                             static_cast<std::uint8_t>(flags), stream.id};
    char* const end = frames_.own_table().put(put_frame_header(front.data(), header));
    KATANA_CHECK(outbox.write({front.data(), static_cast<std::size_t>(end - front.data())}) &&
                 outbox.write(fragment));
    type = FrameType::continuation;
    flags = 0;
  } while (!block.empty());
  stream.is_head_request = is_head_request;
  stream.state =
      detail::client_stream_matrix[static_cast<std::size_t>(stream.state)][static_cast<std::size_t>(
          last ? ClientStreamCause::request : ClientStreamCause::head)];
  streams_.push_back(stream);
  return Begun::yes;
}

bool ClientMachine::write_content(ClientStream& stream, Bytes& content, bool content_stays,
                                  bool last, std::size_t output_max, Outbox& outbox) noexcept {
  const bool is_sent =
      stream.state != ClientStreamState::open && stream.state != ClientStreamState::answered;
  if (closed() || is_sent) return false;
  const DataOutput output =
      frames_.put_data(stream, content, content_stays, last, output_max, outbox);
  if (output.ends) go(stream, ClientStreamCause::request_ends, Past::ended);
  return output.has_capacity;
}

// ---- the end of streams ------------------------------------------------------------------------

void ClientMachine::reset(ClientStream& stream, ErrorCode code, Outbox& outbox) noexcept {
  go(stream, ClientStreamCause::own_reset, Past::own_reset);
  frames_.reset(stream.id, code, outbox);
}

ClientStep ClientMachine::lose(ClientStream& stream, Lost lost, ErrorCode code,
                               Outbox& outbox) noexcept {
  reset(stream, code, outbox);
  return {.event = ClientEvent::over, .lost = lost, .code = code, .stream = &stream};
}

void ClientMachine::go(ClientStream& stream, ClientStreamCause cause, Past past) noexcept {
  const ClientStreamState next =
      detail::client_stream_matrix[static_cast<std::size_t>(stream.state)]
                                  [static_cast<std::size_t>(cause)];
  KATANA_CHECK(next != stream.state);
  stream.state = next;
  if (next != ClientStreamState::closed) return;
  streams_.remove(stream);
  if (data_stream_ == &stream) data_stream_ = nullptr;
  pasts_.note(stream.id, past);
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
