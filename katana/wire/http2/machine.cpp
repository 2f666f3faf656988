#include "katana/wire/http2/machine.hpp"

#include <algorithm>
#include <array>

#include "katana/wire/http2/frame_output.hpp"
#include "katana/wire/http2/settings.hpp"

namespace katana::http2 {
namespace {

constexpr Bytes drain_ping = "drained?";
static_assert(drain_ping.size() == 8);

}  // namespace

Machine::Machine(Context& context, Instant now) noexcept
    : context_(&context),
      partial_deadline_(now + context.limits.head_timeout),
      idle_deadline_(now + context.limits.idle_timeout),
      resets_(context.limits.resets_max, now),
      idle_frames_(context.limits, now),
      receive_window_(context.limits.connection_window_bytes) {
  context.reader.forget();
}

bool Machine::start(Outbox& outbox) noexcept {
  const Limits& limits = context_->limits;
  std::array<char, 5 * setting_bytes> settings;
  char* to = settings.data();
  to = put_setting(to, Setting::max_concurrent_streams, limits.streams_max);
  to = put_setting(to, Setting::initial_window_size, limits.stream_window_bytes);
  to = put_setting(to, Setting::max_header_list_size,
                   static_cast<std::uint32_t>(limits.head_bytes_max));
  to = put_setting(to, Setting::no_rfc7540_priorities, 1);
  if (context_->extended_connect) to = put_setting(to, Setting::enable_connect_protocol, 1);
  const auto size = static_cast<std::uint32_t>(to - settings.data());
  if (!put({size, FrameType::settings, 0, 0}, {settings.data(), size}, outbox)) return false;
  const std::uint32_t more = limits.connection_window_bytes - default_window_bytes;
  return more == 0 || put_window(0, more, outbox);
}

// ---- bytes -----------------------------------------------------------------------------------

Step Machine::next(Bytes input, Instant now, Outbox& outbox) noexcept {
  if (closed_) return {.event = Event::closed};
  if (data_.is_open()) return next_data(input, now, outbox);
  if (phase_ == Phase::preface) return next_preface(input, now, outbox);
  return next_frame(input, now, outbox);
}

Step Machine::next_preface(Bytes input, Instant now, Outbox& outbox) noexcept {
  const std::size_t size = std::min(input.size(), client_preface.size());
  if (input.substr(0, size) != client_preface.substr(0, size)) {
    return fail(Failure::bad_preface, outbox);
  }
  if (size < client_preface.size()) return wait(input, now);
  phase_ = Phase::settings;
  settings_deadline_ = now + context_->limits.settings_timeout;
  return {.consumed = size};
}

// Something is begun, and has its time from the first byte on.
Step Machine::wait(Bytes input, Instant now) noexcept {
  if (!input.empty() && partial_deadline_ == never) {
    partial_deadline_ = now + context_->limits.head_timeout;
  }
  return {};
}

// But for DATA a frame is looked at when it is whole: it is no larger than a head may be.
Step Machine::next_frame(Bytes input, Instant now, Outbox& outbox) noexcept {
  if (input.size() < frame_header_bytes) return wait(input, now);
  const FrameHeader header = parse_frame_header(input.data());
  if (phase_ == Phase::settings && (header.type != FrameType::settings || header.has(flag_ack))) {
    return fail(Failure::bad_preface, outbox);
  }
  if (header.size > frame_bytes_max) return fail(Failure::bad_frame_size, outbox);
  if (!block_.permits(header)) return fail(Failure::broken_block, outbox);
  if (header.type == FrameType::data) return begin_data(header, input, now, outbox);
  const std::size_t size = frame_header_bytes + header.size;
  if (input.size() < size) return wait(input, now);
  if (!block_.is_open()) partial_deadline_ = never;
  Step step = on_frame(header, input.substr(frame_header_bytes, header.size), now, outbox);
  step.consumed = size;
  return step;
}

Step Machine::on_frame(const FrameHeader& header, Bytes payload, Instant now,
                       Outbox& outbox) noexcept {
  switch (header.type) {
    case FrameType::headers: return on_headers(header, payload, now, outbox);
    case FrameType::window_update: return on_window_update(header, payload, now, outbox);
    case FrameType::settings: return on_settings(header, payload, now, outbox);
    case FrameType::ping: return on_ping(header, payload, now, outbox);
    case FrameType::rst_stream: return on_rst_stream(header, payload, now, outbox);
    case FrameType::priority: return on_priority(header, payload, now, outbox);
    case FrameType::priority_update: return on_priority_update(header, payload, now, outbox);
    case FrameType::continuation: return on_continuation(header, payload, now, outbox);
    case FrameType::push_promise: return fail(Failure::bad_frame, outbox);
    case FrameType::goaway:
      if (header.stream != 0) return fail(Failure::bad_frame, outbox);
      if (payload.size() < 8) return fail(Failure::bad_frame_size, outbox);
      break;         // what was asked for is answered all the same
    default: break;  // RFC 9113 §5.5: unknown types are ignored
  }
  return spend_idle(now) ? Step{} : fail(Failure::other_flood, outbox);
}

// ---- frames about the connection ---------------------------------------------------------------

Step Machine::on_settings(const FrameHeader& header, Bytes payload, Instant now,
                          Outbox& outbox) noexcept {
  if (header.stream != 0) return fail(Failure::bad_frame, outbox);
  if (!spend_idle(now, IdleBudget::settings_cost)) return fail(Failure::settings_flood, outbox);
  if (header.has(flag_ack)) {
    if (!payload.empty()) return fail(Failure::bad_frame_size, outbox);
    settings_deadline_ = never;
    return {};
  }
  if (payload.size() % setting_bytes != 0) return fail(Failure::bad_frame_size, outbox);
  phase_ = Phase::open;
  for (; !payload.empty(); payload.remove_prefix(setting_bytes)) {
    const Failure failure = apply(static_cast<Setting>(parse_number(payload.data(), 2)),
                                  parse_number(payload.data() + 2, 4));
    if (failure != Failure::none) return fail(failure, outbox);
  }
  if (!put({0, FrameType::settings, flag_ack, 0}, {}, outbox)) {
    return fail(Failure::no_room, outbox);
  }
  return {.event = Event::room};
}

Failure Machine::apply(Setting setting, std::uint32_t value) noexcept {
  const Failure failure = judge(setting, value);
  if (failure != Failure::none) return failure;
  if (setting == Setting::header_table_size) table_.on_setting(value);
  if (setting != Setting::initial_window_size) return Failure::none;
  const std::int64_t more = std::int64_t{value} - peer_window_bytes_;
  peer_window_bytes_ = value;
  return streams_.widen(more) ? Failure::none : Failure::flow_control;
}

Step Machine::on_ping(const FrameHeader& header, Bytes payload, Instant now,
                      Outbox& outbox) noexcept {
  if (header.stream != 0) return fail(Failure::bad_frame, outbox);
  if (payload.size() != 8) return fail(Failure::bad_frame_size, outbox);
  if (!spend_idle(now)) return fail(Failure::ping_flood, outbox);
  if (header.has(flag_ack)) {
    if (draining_ && payload == drain_ping) end_drain(outbox);
    return {};
  }
  if (!put({8, FrameType::ping, flag_ack, 0}, payload, outbox)) {
    return fail(Failure::no_room, outbox);
  }
  return {};
}

Step Machine::on_window_update(const FrameHeader& header, Bytes payload, Instant now,
                               Outbox& outbox) noexcept {
  if (payload.size() != 4) return fail(Failure::bad_frame_size, outbox);
  if (!spend_idle(now)) return fail(Failure::window_flood, outbox);
  const std::int64_t more = parse_number(payload.data(), 4) & stream_id_max;
  if (header.stream == 0) {
    if (more == 0) return fail(Failure::bad_frame, outbox);
    send_window_ += more;
    if (send_window_ > window_bytes_max) return fail(Failure::flow_control, outbox);
    return {.event = Event::room};
  }
  Stream* const stream = streams_.find(header.stream);
  if (stream == nullptr) {
    const bool idle = !is_client_stream(header.stream) || header.stream > last_id_;
    if (idle) return fail(Failure::bad_stream, outbox);
    return more == 0 ? fail(Failure::bad_frame, outbox) : Step{};
  }
  if (more == 0) return reset_for(*stream, ErrorCode::protocol_error, now, outbox);
  stream->send_window += more;
  if (stream->send_window > window_bytes_max) {
    return reset_for(*stream, ErrorCode::flow_control_error, now, outbox);
  }
  return {.event = Event::room, .stream = stream};
}

// ---- time ------------------------------------------------------------------------------------

void Machine::on_deadline(Instant now, Outbox& outbox) noexcept {
  if (closed_) return;
  if (now >= partial_deadline_) {
    fail(Failure::head_timeout, outbox);
  } else if (now >= settings_deadline_) {
    fail(Failure::settings_timeout, outbox);
  } else if (streams_.empty() && now >= idle_deadline_) {
    fail(Failure::none, outbox);
  }
}

// ---- the end ---------------------------------------------------------------------------------

void Machine::drain(Outbox& outbox) noexcept {
  if (draining_ || closed_) return;
  draining_ = true;
  // RFC 9113 §6.8: streams may be on their way, and are served.
  if (!put_goaway(stream_id_max, ErrorCode::no_error, {}, outbox) ||
      !put({8, FrameType::ping, 0, 0}, drain_ping, outbox)) {
    fail(Failure::no_room, outbox);
  }
}

void Machine::end_drain(Outbox& outbox) noexcept {
  if (last_told_ || closed_) return;
  last_told_ = true;
  final_id_ = last_id_;
  if (!put_goaway(last_id_, ErrorCode::no_error, {}, outbox)) fail(Failure::no_room, outbox);
}

// Without room it ends as well, only that the peer is not told why.
Step Machine::fail(Failure failure, Outbox& outbox) noexcept {
  const FailureText& text = text_of(failure);
  failure_ = failure;
  closed_ = true;
  partial_deadline_ = settings_deadline_ = idle_deadline_ = never;
  if (failure != Failure::no_room) (void)put_goaway(last_id_, text.code, text.detail, outbox);
  return {.event = Event::closed};
}

Step Machine::reset_for(Stream& stream, ErrorCode code, Instant now, Outbox& outbox) noexcept {
  if (!spend_reset(now)) return fail(Failure::made_reset, outbox);
  reset(stream, code, now, outbox);
  return {.event = Event::over, .stream = &stream};
}

void Machine::reset(Stream& stream, ErrorCode code, Instant now, Outbox& outbox) noexcept {
  const bool told = closed_ || put_reset(stream.id, code, outbox);
  go(stream, StreamCause::own_reset);
  let_go(stream, Past::own_reset, now);
  if (!told) fail(Failure::no_room, outbox);
}

// ---- the streams that there are ----------------------------------------------------------------

void Machine::admit(Stream& stream) noexcept {
  KATANA_REQUIRE(pending_id_ != 0 && stream.state == StreamState::idle);
  stream.id = pending_id_;
  pending_id_ = 0;
  stream.send_window = peer_window_bytes_;
  stream.receive_window = context_->limits.stream_window_bytes;
  stream.priority = context_->reader.priority();
  stream.is_head_request = context_->reader.head().method() == http::Method::head;
  stream.content_left = context_->reader.content_length();
  go(stream, pending_ends_stream_ ? StreamCause::request : StreamCause::head);
  streams_.append(stream);
  idle_frames_.earn_use(context_->limits);
}

void Machine::let_go(Stream& stream, Past past, Instant now) noexcept {
  streams_.remove(stream);
  if (data_stream_ == &stream) data_stream_ = nullptr;
  if (streams_.empty()) idle_deadline_ = now + context_->limits.idle_timeout;
  pasts_.note(stream.id, past);
}

}  // namespace katana::http2
