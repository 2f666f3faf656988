#include "katana/wire/ws/machine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "katana/base/text/utf8.hpp"
#include "katana/wire/ws/mask.hpp"

namespace katana::ws {
namespace {

// The last bytes of every compressed message, which are not sent (RFC 7692 §7.2.1).
constexpr Bytes deflate_tail{"\x00\x00\xff\xff", 4};

Instant after(Instant now, Duration duration) noexcept {
  return duration == Duration{} ? never : now + duration;
}

// The most bytes of a compressed message that may have to be kept: noise grows by compression.
std::uint64_t packed_bytes_max(const Limits& limits) noexcept {
  return std::max<std::uint64_t>(limits.message_bytes_max,
                                 Deflater::bound(limits.message_bytes_max));
}

// The longest beginning of at most `bytes_max` bytes that does not cut a character. REQUIRES UTF-8.
Bytes cut_text(Bytes text, std::size_t bytes_max) noexcept {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while ((static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

// The generator splitmix64: good enough when no adversary can choose or know the seed.
std::uint32_t Context::next_mask() noexcept {
  masks += 0x9e3779b97f4a7c15;
  std::uint64_t value = masks;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>(value ^ value >> 31);
}

// ---- frames of the other side ------------------------------------------------------------------

Step Machine::next(Bytes input, Instant now) noexcept {
  KATANA_REQUIRE(!unpack_due_);
  Step step;
  if ((ping_due_ || timed_out_ || refused_now_) && take_due(step)) return step;
  if (state_ == State::closed) return {.event = Event::closed, .consumed = input.size()};
  if (state_ == State::answering || state_ == State::refused) return step;  // close() is due
  if (!input.empty()) heard_at_ = now;
  std::size_t consumed = 0;
  for (;;) {
    const Bytes rest = input.substr(consumed);
    if (in_frame_ && state_ == State::closing) {
      consumed += skip_payload(rest);
      if (in_frame_) return {.consumed = consumed};
      continue;
    }
    if (in_frame_) {
      bool more = false;
      step = take_payload(rest, consumed, more);
      if (!more) return step;
      consumed = step.consumed;
      continue;
    }
    const Frame frame = read_frame(rest, is_server(), window_bits_ != 0);
    if (frame.refusal != Refusal::none) return refuse(frame.refusal, consumed);
    if (frame.header_bytes == 0) return {.consumed = consumed};
    if (!is_control(frame.opcode)) {
      consumed += frame.header_bytes;
      if (const Refusal refusal = begin_data(frame, now); refusal != Refusal::none) {
        return refuse(refusal, consumed);
      }
      continue;
    }
    if (rest.size() < frame.header_bytes + frame.length) return {.consumed = consumed};
    step = take_control(frame, rest, consumed);
    if (state_ != State::closing) return step;
    consumed = step.consumed;
  }
}

bool Machine::take_due(Step& step) noexcept {
  if (refused_now_) {
    refused_now_ = false;
    step.event = Event::refused;
  } else if (timed_out_) {
    timed_out_ = false;
    if (state_ == State::closed) return false;
    go(Cause::end);
    step.event = Event::timed_out;
  } else {
    ping_due_ = false;
    if (!may_send()) return false;
    step.event = Event::ping_due;
  }
  return true;
}

Step Machine::refuse(Refusal refusal, std::size_t consumed) noexcept {
  go(Cause::refusal);
  in_frame_ = false;
  if (state_ == State::closed) return {.event = Event::closed, .consumed = consumed};
  refusal_ = refusal;
  return {.event = Event::refused, .consumed = consumed};
}

Refusal Machine::judge_data(const Frame& frame) const noexcept {
  const Limits& limits = context_->limits;
  const bool continues = frame.opcode == Opcode::continuation;
  if (continues != in_message_) {
    return continues ? Refusal::unexpected_continuation : Refusal::unfinished_message;
  }
  if (frame.length > limits.frame_bytes_max) return Refusal::frame_too_big;
  // A compressed message is kept until it is complete, and counted again as it is decompressed.
  const bool packed = continues ? is_packed_ : frame.compressed;
  const std::uint64_t most = packed ? packed_bytes_max(limits) : limits.message_bytes_max;
  if (frame.length > most - (continues ? message_bytes_ : 0)) return Refusal::message_too_big;
  if (continues && fragments_ >= limits.fragments_max) return Refusal::too_many_fragments;
  return Refusal::none;
}

Refusal Machine::begin_data(const Frame& frame, Instant now) noexcept {
  // Behind our close frame messages have no meaning any more; only the bounds of frames count.
  const bool matters = state_ != State::closing;
  if (matters) {
    if (const Refusal refusal = judge_data(frame); refusal != Refusal::none) return refusal;
  }
  in_frame_ = true;
  frame_last_ = frame.last;
  frame_left_ = frame.length;
  mask_ = frame.mask;
  if (!matters) return Refusal::none;
  if (frame.opcode != Opcode::continuation) {
    in_message_ = true;
    reported_ = false;
    is_text_ = frame.opcode == Opcode::text;
    message_bytes_ = 0;
    fragments_ = 0;
    utf8_.restart();
    ends_at_ = after(now, context_->limits.message_timeout);
    is_packed_ = frame.compressed;
  }
  ++fragments_;
  message_bytes_ += frame.length;
  return Refusal::none;
}

std::size_t Machine::skip_payload(Bytes rest) noexcept {
  const std::size_t count = std::min<std::uint64_t>(rest.size(), frame_left_);
  frame_left_ -= count;
  in_frame_ = frame_left_ != 0;
  return count;
}

Step Machine::take_payload(Bytes rest, std::size_t consumed, bool& more) noexcept {
  if (is_packed_) return take_packed(rest, consumed, more);
  const std::size_t count = std::min<std::uint64_t>({rest.size(), frame_left_, piece_bytes_max});
  if (is_server()) {
    copy_masked(context_->piece.data(), rest.data(), count, mask_);
    mask_ = rotate_mask(mask_, count);
    payload_ = {context_->piece.data(), count};
  } else {
    payload_ = rest.substr(0, count);
  }
  consumed += count;
  frame_left_ -= count;
  in_frame_ = frame_left_ != 0;
  return report(consumed, !in_frame_ && frame_last_, more);
}

Step Machine::take_packed(Bytes rest, std::size_t consumed, bool& more) noexcept {
  const std::size_t count = std::min<std::uint64_t>({rest.size(), frame_left_, piece_bytes_max});
  payload_ = rest.substr(0, count);
  if (is_server()) {
    copy_masked(context_->packed.data(), rest.data(), count, mask_);
    mask_ = rotate_mask(mask_, count);
    payload_ = {context_->packed.data(), count};
  }
  consumed += count;
  frame_left_ -= count;
  in_frame_ = frame_left_ != 0;
  const bool ends = !in_frame_ && frame_last_;
  if (!ends && state_ == State::open) go(Cause::message_begins);
  if (payload_.empty() && !ends) {
    more = !in_frame_;
    return {.consumed = consumed};
  }
  const bool first = !std::exchange(reported_, !ends);  // the unpacked message has a first, too
  if (ends) begin_unpack();
  return {
      .event = Event::packed, .text = is_text_, .first = first, .last = ends, .consumed = consumed};
}

void Machine::begin_unpack() noexcept {
  unpack_due_ = true;
  unpacking_ = false;
  message_bytes_ = 0;
  tail_taken_ = 0;
  output_left_ = false;
  ends_at_ = never;  // the other side has done its part
}

Refusal Machine::inflate_some(Bytes& packed, std::size_t& made) noexcept {
  const bool at_tail = packed.empty();
  const Bytes fed = at_tail ? deflate_tail.substr(tail_taken_) : packed.substr(0, 1 << 30);
  std::size_t taken = 0;
  std::size_t produced = 0;
  const auto outcome = context_->deflate->inflater().inflate(
      fed, std::span(context_->piece).subspan(made), taken, produced);
  output_left_ = outcome == Inflater::Outcome::more_output;
  made += produced;
  if (at_tail) {
    tail_taken_ = static_cast<std::uint8_t>(tail_taken_ + taken);
  } else {
    packed.remove_prefix(taken);
  }
  if (outcome == Inflater::Outcome::too_many_blocks) return Refusal::too_many_blocks;
  return outcome == Inflater::Outcome::failed ? Refusal::bad_compression : Refusal::none;
}

Step Machine::unpack(Bytes& packed) noexcept {
  KATANA_REQUIRE(unpack_due_);
  if (!std::exchange(unpacking_, true)) context_->deflate->inflater().begin();
  std::size_t made = 0;
  bool ends = false;
  Refusal failure = Refusal::none;
  while (!ends && failure == Refusal::none && made < piece_bytes_max) {
    failure = inflate_some(packed, made);
    ends = packed.empty() && tail_taken_ == deflate_tail.size() && !output_left_;
  }
  payload_ = {context_->piece.data(), made};
  // The first problem of the message is reported, wherever its pieces end.
  const std::uint64_t capacity = context_->limits.message_bytes_max - message_bytes_;
  message_bytes_ += made;
  if (failure != Refusal::none || made > capacity) {
    const bool is_fine = !is_text_ || utf8_.check(payload_.substr(0, capacity));
    return refuse(!is_fine          ? Refusal::not_utf8
                  : made > capacity ? Refusal::message_too_big
                                    : failure,
                  0);
  }
  if (ends) unpack_due_ = false;
  bool more = false;
  return report(0, ends, more);
}

Step Machine::report(std::size_t consumed, bool ends, bool& more) noexcept {
  if (is_text_ && (!utf8_.check(payload_) || (ends && !utf8_.complete()))) {
    return refuse(Refusal::not_utf8, consumed);
  }
  if (!ends && state_ == State::open) go(Cause::message_begins);
  if (payload_.empty() && !ends) {
    more = !in_frame_;
    return {.consumed = consumed};
  }
  const bool first = !reported_;
  reported_ = true;
  if (ends) {
    in_message_ = false;
    ends_at_ = never;
    if (state_ == State::message) go(Cause::message_ends);
  }
  return {
      .event = Event::data, .text = is_text_, .first = first, .last = ends, .consumed = consumed};
}

Step Machine::take_control(const Frame& frame, Bytes rest, std::size_t consumed) noexcept {
  const Bytes sent = rest.substr(frame.header_bytes, frame.length);
  if (is_server()) {
    copy_masked(context_->piece.data(), sent.data(), sent.size(), frame.mask);
    payload_ = {context_->piece.data(), sent.size()};
  } else {
    payload_ = sent;
  }
  consumed += frame.header_bytes + sent.size();
  if (frame.opcode == Opcode::close) return take_close(consumed);
  return {.event = frame.opcode == Opcode::ping ? Event::ping : Event::pong, .consumed = consumed};
}

Step Machine::take_close(std::size_t consumed) noexcept {
  if (payload_.size() == 1) return refuse(Refusal::half_a_close_code, consumed);
  CloseCode code = CloseCode::none;
  if (!payload_.empty()) {
    const auto number = static_cast<std::uint16_t>(static_cast<std::uint8_t>(payload_[0]) << 8 |
                                                   static_cast<std::uint8_t>(payload_[1]));
    if (!may_be_sent(number)) return refuse(Refusal::bad_close_code, consumed);
    payload_.remove_prefix(2);
    Utf8Stream reason;
    if (!reason.check(payload_) || !reason.complete()) return refuse(Refusal::not_utf8, consumed);
    code = static_cast<CloseCode>(number);
  }
  close_code_ = code;
  go(Cause::peer_closes);
  return {.event = Event::close, .consumed = consumed};
}

// ---- time --------------------------------------------------------------------------------------

Instant Machine::deadline() const noexcept {
  if (state_ == State::closing) return ends_at_;
  if (!may_send()) return never;
  const Instant silent = is_waiting_for_pong() ? pinged_at_ + context_->limits.pong_timeout
                                               : after(heard_at_, context_->limits.ping_after);
  return std::min(ends_at_, silent);
}

void Machine::on_deadline(Instant now) noexcept {
  if (now < deadline()) return;
  if (state_ == State::closing) {
    timed_out_ = true;
  } else if (now >= ends_at_) {
    go(Cause::refusal);
    refusal_ = Refusal::message_too_slow;
    refused_now_ = true;
  } else if (is_waiting_for_pong()) {
    timed_out_ = true;
  } else {
    pinged_at_ = now;
    ping_due_ = true;
  }
}

void Machine::restart_deadline(Instant now) noexcept {
  heard_at_ = now;
  pinged_at_ = never;
  if (in_message_ && may_send()) ends_at_ = after(now, context_->limits.message_timeout);
}

// ---- frames of this side -----------------------------------------------------------------------

bool Machine::send(Opcode kind, Bytes payload, Outbox& outbox) noexcept {
  KATANA_REQUIRE(!part_open_);
  if (!may_send()) return false;
  if (window_bits_ != 0 && payload.size() >= context_->deflate->options().threshold_bytes) {
    return send_packed(kind, payload, outbox);
  }
  return write_frame(kind, true, payload, outbox);
}

bool Machine::send_shared(Opcode kind, Bytes payload, Retained& memory, Outbox& outbox) noexcept {
  KATANA_REQUIRE(!part_open_);
  if (!may_send()) return false;
  if (!is_server()) return write_frame(kind, true, payload, outbox);
  if (!outbox.has_capacity(header_bytes_max)) return false;
  char* const begin = outbox.reserve(header_bytes_max);
  if (begin == nullptr) return false;
  const char* const end = write_header(begin, kind, true, false, payload.size(), false, 0);
  outbox.commit(static_cast<std::size_t>(end - begin));
  return payload.empty() || outbox.refer(payload, memory);
}

bool Machine::send_part(Opcode kind, Bytes payload, bool last, Outbox& outbox) noexcept {
  KATANA_REQUIRE((kind == Opcode::continuation) == part_open_);
  if (!may_send() || !write_frame(kind, last, payload, outbox)) return false;
  part_open_ = !last;
  return true;
}

bool Machine::send_control(Opcode opcode, Bytes payload, Outbox& outbox) noexcept {
  KATANA_REQUIRE(payload.size() <= control_bytes_max);
  return may_send() && write_frame(opcode, true, payload, outbox);
}

bool Machine::close(CloseCode code, Bytes reason, Instant now, Outbox& outbox) noexcept {
  if (state_ == State::closing || state_ == State::closed) return false;
  std::array<char, control_bytes_max> payload;
  std::size_t size = 0;
  const auto number = static_cast<std::uint16_t>(code);
  // A program that passes on why another connection ended has codes that no frame may have.
  if (may_be_sent(number)) {
    payload[0] = static_cast<char>(number >> 8);
    payload[1] = static_cast<char>(number & 255);
    const Bytes text = cut_text(is_utf8(reason) ? reason : Bytes(), control_bytes_max - 2);
    if (!text.empty()) std::memcpy(payload.data() + 2, text.data(), text.size());
    size = 2 + text.size();
  }
  if (!write_frame(Opcode::close, true, {payload.data(), size}, outbox)) return false;
  go(Cause::we_close);
  ends_at_ = after(now, context_->limits.close_timeout);
  return true;
}

bool Machine::write_frame(Opcode opcode, bool last, Bytes payload, Outbox& outbox) noexcept {
  if (payload.size() + header_bytes_max > outbox.reserve_bytes_max()) {
    return write_large(opcode, last, payload, outbox);
  }
  return write_short(opcode, last, false, payload, outbox);
}

bool Machine::write_short(Opcode opcode, bool last, bool compressed, Bytes payload,
                          Outbox& outbox) noexcept {
  const bool masks = !is_server();
  char* const begin = outbox.reserve(payload.size() + header_bytes(payload.size(), masks));
  if (begin == nullptr) return false;
  const std::uint32_t mask = masks ? context_->next_mask() : 0;
  char* const to = write_header(begin, opcode, last, compressed, payload.size(), masks, mask);
  if (masks) {
    copy_masked(to, payload.data(), payload.size(), mask);
  } else if (!payload.empty()) {
    std::memcpy(to, payload.data(), payload.size());
  }
  outbox.commit(static_cast<std::size_t>(to - begin) + payload.size());
  return true;
}

bool Machine::write_large(Opcode opcode, bool last, Bytes payload, Outbox& outbox) noexcept {
  if (!outbox.has_capacity(payload.size() + header_bytes_max)) return false;
  const bool masks = !is_server();
  std::uint32_t mask = masks ? context_->next_mask() : 0;
  std::array<char, header_bytes_max> head;
  const char* const end =
      write_header(head.data(), opcode, last, false, payload.size(), masks, mask);
  KATANA_CHECK(outbox.write({head.data(), static_cast<std::size_t>(end - head.data())}));
  if (!masks) {
    KATANA_CHECK(outbox.write(payload));
    return true;
  }
  while (!payload.empty()) {
    const std::size_t count = std::min(payload.size(), outbox.reserve_bytes_max());
    char* const to = outbox.reserve(count);
    KATANA_CHECK(to != nullptr);  // a block each, and has_capacity() has counted them
    copy_masked(to, payload.data(), count, mask);
    mask = rotate_mask(mask, count);
    outbox.commit(count);
    payload.remove_prefix(count);
  }
  return true;
}

// Sends a message in fragments of one output block: the size of the compressed message is known at
// its end only.
bool Machine::send_packed(Opcode kind, Bytes payload, Outbox& outbox) noexcept {
  const std::size_t capacity =
      std::min(context_->packed.size(), outbox.reserve_bytes_max() - header_bytes_max);
  KATANA_CHECK(capacity > 2 * deflate_tail.size());
  const std::size_t frames = Deflater::bound(payload.size()) / (capacity - deflate_tail.size()) + 2;
  if (!outbox.has_capacity(frames * outbox.reserve_bytes_max())) return false;
  Deflater& deflater = context_->deflate->deflater();
  deflater.begin(window_bits_);
  char* const packed = context_->packed.data();
  std::size_t size = 0;
  bool compressed = true;  // only the first frame has the bit
  for (bool more = true; more;) {
    std::size_t made = 0;
    more = deflater.deflate(payload, {packed + size, capacity - size}, made);
    size += made;
    // The last four bytes may be those that are left out.
    const std::size_t count = size - std::min(size, deflate_tail.size());
    KATANA_CHECK(write_short(kind, !more, compressed, {packed, count}, outbox));
    size -= count;
    std::memmove(packed, packed + count, size);
    kind = Opcode::continuation;
    compressed = false;
  }
  return true;
}

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
