#include "katana/wire/http2/frame_layer.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::http2 {
namespace {

// The streams that may be open before the other side has sent its limit. RFC 9113 §6.5.2 recommends
// a limit of no fewer.
constexpr std::uint32_t streams_unasked_max = 100;

}  // namespace

FrameLayer::FrameLayer(const Limits& limits, Role role, Instant now) noexcept
    : limits_(&limits),
      partial_deadline_(role == Role::server ? now + limits.head_timeout : never),
      settings_deadline_(role == Role::client ? now + limits.settings_timeout : never),
      idle_frames_(limits, now),
      receive_window_(limits.connection_window_bytes),
      peer_streams_max_(streams_unasked_max),
      role_(role),
      phase_(role == Role::server ? Phase::preface : Phase::settings) {}

bool FrameLayer::start(Bytes settings, Outbox& outbox) noexcept {
  if (role_ == Role::client) {
    const std::size_t size = client_preface.size() + 2 * frame_header_bytes + settings.size() + 4;
    if (!outbox.has_capacity(size)) return false;
    KATANA_CHECK(outbox.write(client_preface));
  }
  const auto size = static_cast<std::uint32_t>(settings.size());
  if (!put({size, FrameType::settings, 0, 0}, settings, outbox)) return false;
  const std::uint32_t more = limits_->connection_window_bytes - default_window_bytes;
  return more == 0 || put_window(0, more, outbox);
}

// ---- bytes -----------------------------------------------------------------------------------

std::size_t FrameLayer::take_preface(Bytes input, Instant now, Outbox& outbox) noexcept {
  const std::size_t size = std::min(input.size(), client_preface.size());
  if (input.substr(0, size) != client_preface.substr(0, size)) {
    fail(Failure::bad_preface, outbox);
    return 0;
  }
  if (!is_here(input, client_preface.size(), now)) return 0;
  phase_ = Phase::settings;
  settings_deadline_ = now + limits_->settings_timeout;
  return size;
}

FrameEvent FrameLayer::on_frame(FrameHeader header, Bytes payload, Instant now,
                                Outbox& outbox) noexcept {
  const auto pay = [&](Failure flood, FrameEvent event) {
    return spend(now, flood, outbox) ? event : FrameEvent::closed;
  };
  const std::uint32_t id = header.stream;
  switch (header.type) {
    case FrameType::window_update: return on_window_update(header, payload, now, outbox);
    case FrameType::settings: return on_settings(header, payload, now, outbox);
    case FrameType::continuation: return on_continuation(header, payload, outbox);
    case FrameType::ping:
      if (id != 0) return fail(Failure::bad_frame, outbox);
      if (payload.size() != 8) return fail(Failure::bad_frame_size, outbox);
      if (!spend(now, Failure::ping_flood, outbox)) return FrameEvent::closed;
      if (header.has(flag_ack)) return FrameEvent::ping_ack;
      return answer({8, FrameType::ping, flag_ack, 0}, payload, outbox);
    case FrameType::rst_stream:
      if (payload.size() != 4) return fail(Failure::bad_frame_size, outbox);
      return is_idle(id) ? fail(Failure::bad_stream, outbox) : FrameEvent::rst_stream;
    case FrameType::goaway:
      if (id != 0) return fail(Failure::bad_frame, outbox);
      if (payload.size() < 8) return fail(Failure::bad_frame_size, outbox);
      return pay(Failure::other_flood, FrameEvent::goaway);
    case FrameType::priority:
      return id == 0 ? fail(Failure::bad_frame, outbox) : FrameEvent::priority;
    case FrameType::priority_update:  // a client sends it (RFC 9218 §7.1)
      if (role_ == Role::client || id != 0) return fail(Failure::bad_frame, outbox);
      if (payload.size() < 4) return fail(Failure::bad_frame_size, outbox);
      return pay(Failure::other_flood, FrameEvent::priority_update);
    case FrameType::push_promise:
      return fail(Failure::bad_frame, outbox);  // RFC 9113 §8.4
    // RFC 9113 §5.5: unknown types are ignored.
    default: return pay(Failure::other_flood, FrameEvent::none);
  }
}

FrameEvent FrameLayer::on_continuation(FrameHeader header, Bytes payload, Outbox& outbox) noexcept {
  const Failure failure = block_.add(header, payload, *limits_);
  if (failure != Failure::none) return fail(failure, outbox);
  if (block_.is_open()) return FrameEvent::none;
  partial_deadline_ = never;
  return FrameEvent::block;
}

// ---- frames about the connection ---------------------------------------------------------------

FrameEvent FrameLayer::on_settings(FrameHeader header, Bytes payload, Instant now,
                                   Outbox& outbox) noexcept {
  if (header.stream != 0) return fail(Failure::bad_frame, outbox);
  if (!spend(now, Failure::settings_flood, outbox, IdleBudget::settings_cost)) {
    return FrameEvent::closed;
  }
  if (header.has(flag_ack)) {
    if (!payload.empty()) return fail(Failure::bad_frame_size, outbox);
    settings_deadline_ = never;
    return FrameEvent::none;
  }
  if (payload.size() % setting_bytes != 0) return fail(Failure::bad_frame_size, outbox);
  if (phase_ != Phase::open) peer_streams_max_ = UINT32_MAX;
  phase_ = Phase::open;
  return FrameEvent::settings;
}

Failure FrameLayer::apply(Setting setting, std::uint32_t value, std::int64_t& more) noexcept {
  const Failure failure = judge(setting, value);
  if (failure != Failure::none) return failure;
  switch (setting) {
    case Setting::header_table_size: own_table_.on_setting(value); break;
    case Setting::max_concurrent_streams: peer_streams_max_ = value; break;
    case Setting::max_header_list_size: peer_head_bytes_max_ = value; break;
    case Setting::enable_push:
      // A server has no one that could allow it (RFC 9113 §6.5.2).
      return value == 0 || role_ == Role::server ? Failure::none : Failure::bad_settings;
    case Setting::initial_window_size:
      more = std::int64_t{value} - peer_window_bytes_;
      peer_window_bytes_ = value;
      break;
    default: break;
  }
  return Failure::none;
}

FrameEvent FrameLayer::answer(const FrameHeader& header, Bytes payload, Outbox& outbox) noexcept {
  return put(header, payload, outbox) ? FrameEvent::none : fail(Failure::no_room, outbox);
}

// ---- windows ---------------------------------------------------------------------------------

FrameEvent FrameLayer::on_window_update(FrameHeader header, Bytes payload, Instant now,
                                        Outbox& outbox) noexcept {
  if (payload.size() != 4) return fail(Failure::bad_frame_size, outbox);
  if (!spend(now, Failure::window_flood, outbox)) return FrameEvent::closed;
  if (header.stream != 0) {
    const bool idle = is_idle(header.stream);
    return idle ? fail(Failure::bad_stream, outbox) : FrameEvent::window_update;
  }
  if (first_number(payload) == 0) return fail(Failure::bad_frame, outbox);
  send_window_ += first_number(payload);
  if (send_window_ > window_bytes_max) return fail(Failure::flow_control, outbox);
  return FrameEvent::room;
}

ErrorCode FrameLayer::widen(StreamFlow& stream, std::uint32_t more) noexcept {
  if (more == 0) return ErrorCode::protocol_error;
  stream.send_window += more;
  return stream.send_window > window_bytes_max ? ErrorCode::flow_control_error
                                               : ErrorCode::no_error;
}

void FrameLayer::open(StreamFlow& stream, std::uint32_t id) noexcept {
  stream.id = id;
  stream.send_window = peer_window_bytes_;
  stream.receive_window = limits_->stream_window_bytes;
}

ErrorCode FrameLayer::charge(StreamFlow& stream, const FrameHeader& header) noexcept {
  if (header.size > stream.receive_window) return ErrorCode::flow_control_error;
  stream.receive_window -= header.size;
  if (stream.content_left == no_length) return ErrorCode::no_error;
  stream.content_left -= data_.left();
  const bool exact = !data_.ends_stream() || stream.content_left == 0;
  return exact && stream.content_left >= 0 ? ErrorCode::no_error : ErrorCode::protocol_error;
}

void FrameLayer::give_back(std::uint32_t id, std::size_t bytes, std::uint32_t window_bytes,
                           std::uint32_t& unreturned, std::int64_t& window,
                           Outbox& outbox) noexcept {
  if (closed_) return;
  unreturned += static_cast<std::uint32_t>(bytes);
  if (unreturned < window_bytes / 2) return;
  if (!put_window(id, unreturned, outbox)) {
    fail(Failure::no_room, outbox);
    return;
  }
  window += std::exchange(unreturned, 0);
}

DataOutput FrameLayer::put_data(StreamFlow& stream, Bytes& content, bool content_stays, bool last,
                                std::size_t output_max, Outbox& outbox) noexcept {
  DataOutput output;
  const std::size_t before = content.size();
  std::uint32_t frames = 0;
  do {
    const std::size_t size =
        std::min({content.size(), window(stream), frame_bytes_max, output_max});
    if (size == 0 && !content.empty()) break;
    const bool ends = last && size == content.size();
    if (size == 0 && !ends) break;
    const bool refers = content_stays && size > copied_bytes_max;
    output.has_capacity = outbox.has_capacity(frame_header_bytes + (refers ? 0 : size));
    if (!output.has_capacity) break;
    const std::uint8_t flags = ends ? flag_end_stream : 0;
    KATANA_CHECK(
        put({static_cast<std::uint32_t>(size), FrameType::data, flags, stream.id}, {}, outbox));
    const Bytes piece = content.substr(0, size);
    KATANA_CHECK(refers ? outbox.refer(piece) : outbox.write(piece));
    content.remove_prefix(size);
    output_max -= size;
    take_send_windows(stream, size);
    ++frames;
    output.ends = ends;
  } while (!content.empty());
  earn(before - content.size(), frames);
  return output;
}

// ---- time and the end --------------------------------------------------------------------------

void FrameLayer::on_deadline(Instant now, Outbox& outbox) noexcept {
  if (closed_) return;
  if (now >= partial_deadline_) {
    fail(Failure::head_timeout, outbox);
  } else if (now >= settings_deadline_) {
    fail(Failure::settings_timeout, outbox);
  }
}

void FrameLayer::reset(std::uint32_t id, ErrorCode code, Outbox& outbox) noexcept {
  if (!closed_ && !put_reset(id, code, outbox)) fail(Failure::no_room, outbox);
}

// A client's GOAWAY names no stream: nothing of the server's was processed, which pushes nothing.
FrameEvent FrameLayer::fail(Failure failure, Outbox& outbox) noexcept {
  if (closed_) return FrameEvent::closed;
  const FailureText& text = text_of(failure);
  end(failure);
  const std::uint32_t last = role_ == Role::server ? last_id_ : 0;
  if (failure != Failure::no_room) (void)put_goaway(last, text.code, text.detail, outbox);
  return FrameEvent::closed;
}

void FrameLayer::end(Failure failure) noexcept {
  if (closed_) return;
  failure_ = failure;
  closed_ = true;
  partial_deadline_ = settings_deadline_ = never;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
