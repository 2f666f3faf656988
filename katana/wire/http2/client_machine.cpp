#include "katana/wire/http2/client_machine.hpp"

#include "katana/wire/http2/frame_output.hpp"
#include "katana/wire/http2/settings.hpp"

namespace katana::http2 {
namespace {

// Of a server that has not said how many it takes (RFC 9113 §6.5.2: no fewer than that).
constexpr std::uint32_t streams_unasked_max = 100;

}  // namespace

ClientMachine::ClientMachine(ClientContext& context, Instant now) noexcept
    : context_(&context),
      settings_deadline_(now + context.limits.settings_timeout),
      idle_frames_(context.limits, now),
      receive_window_(context.limits.connection_window_bytes),
      streams_max_(std::min(context.limits.streams_max, streams_unasked_max)) {
  context.reader.forget();
}

bool ClientMachine::start(Outbox& outbox) noexcept {
  const Limits& limits = context_->limits;
  std::array<char, 3 * setting_bytes> settings;
  char* to = settings.data();
  to = put_setting(to, Setting::enable_push, 0);
  to = put_setting(to, Setting::initial_window_size, limits.stream_window_bytes);
  to = put_setting(to, Setting::max_header_list_size,
                   static_cast<std::uint32_t>(limits.head_bytes_max));
  const FrameHeader header{settings.size(), FrameType::settings, 0, 0};
  if (!outbox.has_capacity(client_preface.size() + 2 * frame_header_bytes + settings.size() + 4)) {
    return false;
  }
  KATANA_CHECK(outbox.write(client_preface));
  KATANA_CHECK(put(header, {settings.data(), settings.size()}, outbox));
  const std::uint32_t more = limits.connection_window_bytes - default_window_bytes;
  KATANA_CHECK(more == 0 || put_window(0, more, outbox));
  return true;
}

// ---- bytes -----------------------------------------------------------------------------------

ClientStep ClientMachine::next(Bytes input, Instant now, Outbox& outbox) noexcept {
  if (closed_) return {.event = ClientEvent::closed};
  if (goaway_ && !streams_.empty() && streams_.last()->id > last_processed_) {
    return give_up_unprocessed();
  }
  if (!data_.is_open()) return next_frame(input, now, outbox);
  if (input.empty()) return {};
  std::size_t consumed = 0;
  const Bytes piece = data_.next(input, consumed);
  return end_data(piece, consumed, outbox);
}

// Something is begun, and has its time from the first byte on.
ClientStep ClientMachine::wait(Bytes input, Instant now) noexcept {
  if (!input.empty() && partial_deadline_ == never) {
    partial_deadline_ = now + context_->limits.head_timeout;
  }
  return {};
}

// But for DATA a frame is looked at when it is whole: it is no larger than a head may be.
ClientStep ClientMachine::next_frame(Bytes input, Instant now, Outbox& outbox) noexcept {
  if (input.size() < frame_header_bytes) return wait(input, now);
  const FrameHeader header = parse_frame_header(input.data());
  if (!settings_seen_ && (header.type != FrameType::settings || header.has(flag_ack))) {
    return fail(Failure::bad_preface, outbox);
  }
  if (header.size > frame_bytes_max) return fail(Failure::bad_frame_size, outbox);
  if (!block_.permits(header)) return fail(Failure::broken_block, outbox);
  if (header.type == FrameType::data) return begin_data(header, input, now, outbox);
  const std::size_t size = frame_header_bytes + header.size;
  if (input.size() < size) return wait(input, now);
  if (!block_.is_open()) partial_deadline_ = never;
  ClientStep step = on_frame(header, input.substr(frame_header_bytes, header.size), now, outbox);
  step.consumed = size;
  return step;
}

ClientStep ClientMachine::on_frame(const FrameHeader& header, Bytes payload, Instant now,
                                   Outbox& outbox) noexcept {
  switch (header.type) {
    case FrameType::headers: return on_headers(header, payload, now, outbox);
    case FrameType::window_update: return on_window_update(header, payload, now, outbox);
    case FrameType::settings: return on_settings(header, payload, now, outbox);
    case FrameType::ping: return on_ping(header, payload, now, outbox);
    case FrameType::rst_stream: return on_rst_stream(header, payload, now, outbox);
    case FrameType::goaway: return on_goaway(header, payload, now, outbox);
    case FrameType::continuation: return on_continuation(header, payload, now, outbox);
    case FrameType::push_promise: return fail(Failure::bad_frame, outbox);  // RFC 9113 §8.4
    case FrameType::priority:
      if (header.stream == 0) return fail(Failure::bad_frame, outbox);
      if (payload.size() != 5) return fail(Failure::bad_frame_size, outbox);
      break;
    case FrameType::priority_update: return fail(Failure::bad_frame, outbox);  // RFC 9218 §7.1
    default: break;  // RFC 9113 §5.5: unknown types are ignored
  }
  return spend_idle(now) ? ClientStep{} : fail(Failure::other_flood, outbox);
}

// ---- frames about the connection ---------------------------------------------------------------

ClientStep ClientMachine::on_settings(const FrameHeader& header, Bytes payload, Instant now,
                                      Outbox& outbox) noexcept {
  if (header.stream != 0) return fail(Failure::bad_frame, outbox);
  if (!spend_idle(now, IdleBudget::settings_cost)) return fail(Failure::settings_flood, outbox);
  if (header.has(flag_ack)) {
    if (!payload.empty()) return fail(Failure::bad_frame_size, outbox);
    settings_deadline_ = never;
    return {};
  }
  if (payload.size() % setting_bytes != 0) return fail(Failure::bad_frame_size, outbox);
  if (!settings_seen_) streams_max_ = context_->limits.streams_max;
  settings_seen_ = true;
  for (; !payload.empty(); payload.remove_prefix(setting_bytes)) {
    const Failure failure = apply(static_cast<Setting>(parse_number(payload.data(), 2)),
                                  parse_number(payload.data() + 2, 4));
    if (failure != Failure::none) return fail(failure, outbox);
  }
  if (!put({0, FrameType::settings, flag_ack, 0}, {}, outbox)) {
    return fail(Failure::no_room, outbox);
  }
  return {.event = ClientEvent::room};
}

Failure ClientMachine::apply(Setting setting, std::uint32_t value) noexcept {
  const Failure failure = judge(setting, value);
  if (failure != Failure::none) return failure;
  switch (setting) {
    case Setting::header_table_size: table_.on_setting(value); return Failure::none;
    case Setting::max_concurrent_streams:
      streams_max_ = std::min(context_->limits.streams_max, value);
      return Failure::none;
    case Setting::max_header_list_size: peer_head_bytes_max_ = value; return Failure::none;
    // A server has nobody to allow it (RFC 9113 §6.5.2).
    case Setting::enable_push: return value == 0 ? Failure::none : Failure::bad_settings;
    case Setting::initial_window_size: {
      const std::int64_t more = std::int64_t{value} - peer_window_bytes_;
      peer_window_bytes_ = value;
      return streams_.widen(more) ? Failure::none : Failure::flow_control;
    }
    default: return Failure::none;
  }
}

ClientStep ClientMachine::on_ping(const FrameHeader& header, Bytes payload, Instant now,
                                  Outbox& outbox) noexcept {
  if (header.stream != 0) return fail(Failure::bad_frame, outbox);
  if (payload.size() != 8) return fail(Failure::bad_frame_size, outbox);
  if (!spend_idle(now)) return fail(Failure::ping_flood, outbox);
  if (!header.has(flag_ack) && !put({8, FrameType::ping, flag_ack, 0}, payload, outbox)) {
    return fail(Failure::no_room, outbox);
  }
  return {};
}

// A first GOAWAY may name the largest id, so that requests on their way are served; the next has
// the last of them, and never a larger one (RFC 9113 §6.8).
ClientStep ClientMachine::on_goaway(const FrameHeader& header, Bytes payload, Instant now,
                                    Outbox& outbox) noexcept {
  if (header.stream != 0) return fail(Failure::bad_frame, outbox);
  if (payload.size() < 8) return fail(Failure::bad_frame_size, outbox);
  if (!spend_idle(now)) return fail(Failure::other_flood, outbox);
  const std::uint32_t last = parse_number(payload.data(), 4) & stream_id_max;
  if (last > last_processed_) return fail(Failure::bad_stream, outbox);
  last_processed_ = last;
  goaway_ = true;
  return {.event = ClientEvent::goaway,
          .code = static_cast<ErrorCode>(parse_number(payload.data() + 4, 4))};
}

// One at a time, the latest first. The server ignores what comes on them.
ClientStep ClientMachine::give_up_unprocessed() noexcept {
  ClientStream& stream = *streams_.last();
  if (stream.state == ClientStreamState::answered) {  // it says that it did not do what it did
    go(stream, ClientStreamCause::peer_reset, Past::peer_reset);
    return {.event = ClientEvent::over, .lost = Lost::reset, .stream = &stream};
  }
  go(stream, ClientStreamCause::unprocessed, Past::own_reset);
  return {.event = ClientEvent::over, .lost = Lost::unprocessed, .stream = &stream};
}

ClientStep ClientMachine::on_window_update(const FrameHeader& header, Bytes payload, Instant now,
                                           Outbox& outbox) noexcept {
  if (payload.size() != 4) return fail(Failure::bad_frame_size, outbox);
  if (!spend_idle(now)) return fail(Failure::window_flood, outbox);
  const std::int64_t more = parse_number(payload.data(), 4) & stream_id_max;
  if (header.stream == 0) {
    if (more == 0) return fail(Failure::bad_frame, outbox);
    send_window_ += more;
    if (send_window_ > window_bytes_max) return fail(Failure::flow_control, outbox);
    return {.event = ClientEvent::room};
  }
  if (is_idle(header.stream)) return fail(Failure::bad_stream, outbox);
  ClientStream* const stream = streams_.find(header.stream);
  if (stream == nullptr) return more == 0 ? fail(Failure::bad_frame, outbox) : ClientStep{};
  if (more == 0) return lose(*stream, Lost::malformed, ErrorCode::protocol_error, outbox);
  stream->send_window += more;
  if (stream->send_window > window_bytes_max) {
    return lose(*stream, Lost::malformed, ErrorCode::flow_control_error, outbox);
  }
  return {.event = ClientEvent::room, .stream = stream};
}

// ---- requests ----------------------------------------------------------------------------------

Begun ClientMachine::begin(ClientStream& stream, const RequestHead& head, bool last,
                           Outbox& outbox) noexcept {
  if (request_bytes_max(head) > context_->block.size() ||
      listed_bytes(head) > peer_head_bytes_max_) {
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
  stream.id = next_id_;
  next_id_ += 2;
  FrameType type = FrameType::headers;
  unsigned flags = last ? unsigned{flag_end_stream} : 0u;
  do {
    const Bytes fragment = block.substr(0, fragment_max);
    block.remove_prefix(fragment.size());
    std::array<char, frame_header_bytes + 1> front;
    const std::uint32_t table_bytes = table_.is_due() ? 1 : 0;
    if (block.empty()) flags |= flag_end_headers;
    const FrameHeader header{static_cast<std::uint32_t>(fragment.size()) + table_bytes, type,
                             static_cast<std::uint8_t>(flags), stream.id};
    char* const end = table_.put(put_frame_header(front.data(), header));
    KATANA_CHECK(outbox.write({front.data(), static_cast<std::size_t>(end - front.data())}) &&
                 outbox.write(fragment));
    type = FrameType::continuation;
    flags = 0;
  } while (!block.empty());
  stream.is_head_request = is_head_request;
  stream.send_window = peer_window_bytes_;
  stream.receive_window = context_->limits.stream_window_bytes;
  stream.state =
      detail::client_stream_matrix[static_cast<std::size_t>(stream.state)][static_cast<std::size_t>(
          last ? ClientStreamCause::request : ClientStreamCause::head)];
  streams_.append(stream);
  return Begun::yes;
}

bool ClientMachine::write_content(ClientStream& stream, Bytes& content, bool content_stays,
                                  bool last, std::size_t output_max, Outbox& outbox) noexcept {
  const bool is_sent =
      stream.state != ClientStreamState::open && stream.state != ClientStreamState::answered;
  if (closed_ || is_sent) return false;
  const std::size_t before = content.size();
  const DataOutput output = put_data(stream.id, content, content_stays, last, output_max,
                                     stream.send_window, send_window_, outbox);
  earn(before - content.size(), output.frames);
  if (output.ends) go(stream, ClientStreamCause::request_ends, Past::ended);
  return output.has_capacity;
}

// ---- time and the end --------------------------------------------------------------------------

void ClientMachine::on_deadline(Instant now, Outbox& outbox) noexcept {
  if (closed_) return;
  if (now >= partial_deadline_) {
    fail(Failure::head_timeout, outbox);
  } else if (now >= settings_deadline_) {
    fail(Failure::settings_timeout, outbox);
  }
}

void ClientMachine::close(Outbox& outbox) noexcept {
  if (!closed_) fail(Failure::none, outbox);
}

void ClientMachine::end(Failure failure) noexcept {
  if (closed_) return;
  failure_ = failure;
  closed_ = true;
  partial_deadline_ = settings_deadline_ = never;
}

// Without room it ends as well, only that the server is not told why. Nothing of the server's was
// processed: it pushes nothing.
ClientStep ClientMachine::fail(Failure failure, Outbox& outbox) noexcept {
  const FailureText& text = text_of(failure);
  end(failure);
  if (failure != Failure::no_room) (void)put_goaway(0, text.code, text.detail, outbox);
  return {.event = ClientEvent::closed};
}

void ClientMachine::reset(ClientStream& stream, ErrorCode code, Outbox& outbox) noexcept {
  const bool told = closed_ || put_reset(stream.id, code, outbox);
  go(stream, ClientStreamCause::own_reset, Past::own_reset);
  if (!told) fail(Failure::no_room, outbox);
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
