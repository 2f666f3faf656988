#include "katana/wire/http2/machine.hpp"

#include <array>
#include <utility>

namespace katana::http2 {
namespace {

constexpr Bytes drain_ping = "drained?";
static_assert(drain_ping.size() == 8);

}  // namespace

Machine::Machine(Context& context, Instant now) noexcept
    : context_(&context),
      frames_(context.limits, Role::server, now),
      idle_deadline_(now + context.limits.idle_timeout),
      resets_(context.limits.resets_max, now) {
  context.reader.forget();
}

bool Machine::start(Outbox& outbox) noexcept {
  std::array<char, 5 * setting_bytes> settings;
  char* to = settings.data();
  to = put_setting(to, Setting::max_concurrent_streams, context_->limits.streams_max);
  to = put_shared_settings(to, context_->limits);
  to = put_setting(to, Setting::no_rfc7540_priorities, 1);
  if (context_->extended_connect) to = put_setting(to, Setting::enable_connect_protocol, 1);
  return frames_.start({settings.data(), static_cast<std::size_t>(to - settings.data())}, outbox);
}

Step Machine::next(Bytes input, Instant now, Outbox& outbox) noexcept {
  return frames_.next(*this, input, now, outbox);
}

Step Machine::on_frame(FrameEvent event, FrameHeader header, Bytes payload, Instant now,
                       Outbox& outbox) noexcept {
  const std::uint32_t id = header.stream;
  switch (event) {
    case FrameEvent::block: {
      const Text block = frames_.take_block();
      return on_block(id, frames_.block_ends_stream(), block.bytes(), now, outbox);
    }
    case FrameEvent::window_update: return on_window_update(id, first_number(payload), now, outbox);
    case FrameEvent::settings:
      frames_.apply_settings(payload, streams_, outbox);
      return {.event = closed() ? Event::closed : Event::room};
    case FrameEvent::rst_stream: return on_rst_stream(id, now, outbox);
    case FrameEvent::priority: return on_priority(id, payload, now, outbox);
    case FrameEvent::priority_update: return on_priority_update(payload, outbox);
    case FrameEvent::ping_ack:
      if (draining_ && payload == drain_ping) end_drain(outbox);
      return {};
    case FrameEvent::room: return {.event = Event::room};
    case FrameEvent::closed: return closed_step();
    case FrameEvent::goaway:  // earlier requests are answered all the same
    case FrameEvent::none: break;
  }
  return {};
}

Step Machine::on_window_update(std::uint32_t id, std::uint32_t more, Instant now,
                               Outbox& outbox) noexcept {
  Stream* const stream = streams_.find(id);
  if (stream == nullptr) {
    return more == 0 ? fail(Failure::bad_frame, outbox) : Step{};
  }
  const ErrorCode code = FrameLayer::widen(*stream, more);
  if (code != ErrorCode::no_error) return reset_for(*stream, code, now, outbox);
  return {.event = Event::room, .stream = stream};
}

// ---- time and the end --------------------------------------------------------------------------

void Machine::on_deadline(Instant now, Outbox& outbox) noexcept {
  frames_.on_deadline(now, outbox);
  if (is_unused() && now >= idle_deadline_) fail(Failure::none, outbox);
}

void Machine::drain(Outbox& outbox) noexcept {
  if (draining_ || closed()) return;
  draining_ = true;
  // RFC 9113 §6.8: streams may be on their way, and are served.
  if (!put_goaway(stream_id_max, ErrorCode::no_error, {}, outbox) ||
      !put({8, FrameType::ping, 0, 0}, drain_ping, outbox)) {
    fail(Failure::no_room, outbox);
  }
}

void Machine::end_drain(Outbox& outbox) noexcept {
  if (last_told_ || closed()) return;
  last_told_ = true;
  final_id_ = frames_.last_id();
  if (!put_goaway(final_id_, ErrorCode::no_error, {}, outbox)) fail(Failure::no_room, outbox);
}

// ---- the streams that there are ----------------------------------------------------------------

void Machine::admit(Stream& stream) noexcept {
  KATANA_REQUIRE(pending_id_ != 0 && stream.state == StreamState::idle);
  frames_.open(stream, std::exchange(pending_id_, 0));
  stream.priority = context_->reader.priority();
  stream.is_head_request = context_->reader.head().method() == http::Method::head;
  stream.content_left = context_->reader.content_length();
  go(stream, pending_ends_stream_ ? StreamCause::request : StreamCause::head);
  streams_.push_back(stream);
  frames_.earn_use();
}

void Machine::let_go(Stream& stream, Past past, Instant now) noexcept {
  streams_.remove(stream);
  if (data_stream_ == &stream) data_stream_ = nullptr;
  if (streams_.empty()) idle_deadline_ = now + context_->limits.idle_timeout;
  pasts_.note(stream.id, past);
}

void Machine::reset(Stream& stream, ErrorCode code, Instant now, Outbox& outbox) noexcept {
  go(stream, StreamCause::own_reset);
  let_go(stream, Past::own_reset, now);
  frames_.reset(stream.id, code, outbox);
}

Step Machine::reset_for(Stream& stream, ErrorCode code, Instant now, Outbox& outbox) noexcept {
  if (!spend_reset(now, Failure::made_reset, outbox)) return closed_step();
  reset(stream, code, now, outbox);
  return {.event = Event::over, .stream = &stream};
}

bool Machine::spend_reset(Instant now, Failure failure, Outbox& outbox) noexcept {
  const Limits& limits = context_->limits;
  if (resets_.spend(now, 1, limits.resets_max, limits.resets_per_s)) return true;
  fail(failure, outbox);
  return false;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
