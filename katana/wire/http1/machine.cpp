#include "katana/wire/http1/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "katana/wire/http/status.hpp"

namespace katana::http1 {
namespace {

// Copies with two overlapping moves where one would have to be measured: shorter than a call of
// memcpy for the lines of a head.
inline char* put(char* to, Bytes text) noexcept {
  const char* const from = text.data();
  const std::size_t size = text.size();
  if (size > 64) {
    std::memcpy(to, from, size);
  } else if (size >= 16) {
    for (std::size_t at = 0; at + 16 < size; at += 16) std::memcpy(to + at, from + at, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else {
    for (std::size_t at = 0; at < size; ++at) to[at] = from[at];
  }
  return to + size;
}

template <std::size_t bytes>
inline char* put_literal(char* to, const char (&text)[bytes]) noexcept {
  std::memcpy(to, text, bytes - 1);
  return to + bytes - 1;
}

inline char* put_number(char* to, std::uint64_t value) noexcept {
  return std::to_chars(to, to + 20, value).ptr;
}

constexpr Bytes last_chunk = "0\r\n\r\n";

Bytes status_line_of(unsigned status, std::array<char, 32>& own) noexcept {
  if (const Bytes line = http::status_line(status); !line.empty()) return line;
  char* at = put_number(std::copy_n("HTTP/1.1 ", 9, own.data()), std::min(status, 999u));
  *at++ = ' ';
  *at++ = '\r';
  *at++ = '\n';
  return {own.data(), static_cast<std::size_t>(at - own.data())};
}

}  // namespace

// ---- requests
// ------------------------------------------------------------------------------------------------------

Step Machine::next(Bytes input, Instant now) noexcept {
  switch (state_) {
    case State::idle:
    case State::head: return next_head(input, now);
    case State::content:
    case State::discard:
      return framing_.content == ContentKind::chunked ? next_chunk(input, now)
                                                      : next_content(input, now);
    case State::reply: return {Event::paused, false, 0};
    case State::refused: return {Event::refused, false, 0};
    case State::closed: break;
  }
  return {Event::closed, false, 0};
}

Step Machine::next_head(Bytes input, Instant now) noexcept {
  if (input.empty()) return {Event::need_bytes, false, 0};
  if (state_ == State::idle && input[0] == '\r' && !line_skipped_) {
    // RFC 9112 §2.2: an empty line before the request line is ignored. One, because old clients end
    // content with it.
    if (input.size() == 1) return {Event::need_bytes, false, 0};
    if (input[1] != '\n') return refuse(Refusal::bare_line_break, 0);
    line_skipped_ = true;
    return {Event::need_bytes, false, 2};
  }
  const HeadResult result = context_->parser.parse(input, lines_, context_->head, framing_);
  if (result.verdict == HeadVerdict::complete) [[likely]]
    return begin_request(result.bytes, now);
  if (result.verdict == HeadVerdict::refused) {
    // Only a head whose form is right (it has a size) says how its reply is to be written.
    is_head_request_ = result.bytes > 0 && context_->head.method() == http::Method::head;
    is_http10_ = result.bytes > 0 && context_->head.minor_version() == 0;
    return refuse(result.refusal, 0);
  }
  if (state_ == State::idle) {
    go(Cause::head_begins);
    deadline_ = now + context_->limits.head_timeout;
  }
  return {Event::need_bytes, false, 0};
}

Step Machine::begin_request(std::size_t consumed, Instant now) noexcept {
  lines_ = {};
  line_skipped_ = false;
  continue_sent_ = false;
  is_head_request_ = context_->head.method() == http::Method::head;
  is_http10_ = context_->head.minor_version() == 0;
  deadline_ = never;
  if (framing_.content == ContentKind::none) [[likely]] {
    go(Cause::request_ends);
    return {Event::head, true, consumed};
  }
  go(Cause::content_begins);
  deadline_ = now + context_->limits.content_timeout;
  content_left_ = framing_.content == ContentKind::length ? framing_.content_length
                                                          : context_->limits.content_bytes_max;
  chunked_.begin();
  if (framing_.content == ContentKind::length &&
      content_left_ > context_->limits.content_bytes_max) {
    return refuse(Refusal::content_too_large, consumed);
  }
  return {Event::head, false, consumed};
}

Step Machine::next_content(Bytes input, Instant now) noexcept {
  if (input.empty()) return {Event::need_bytes, false, 0};
  const Bytes piece = input.substr(0, std::min<std::uint64_t>(input.size(), content_left_));
  content_left_ -= piece.size();
  return report_content(piece, content_left_ == 0, piece.size(), now);
}

Step Machine::next_chunk(Bytes input, Instant now) noexcept {
  const ChunkedDecoder::Step step = chunked_.next(input, context_->limits);
  if (step.refusal != Refusal::none) return refuse(step.refusal, step.consumed);
  if (step.content.empty() && !step.done) return {Event::need_bytes, false, step.consumed};
  if (step.content.size() > content_left_) return refuse(Refusal::content_too_large, step.consumed);
  content_left_ -= step.content.size();
  return report_content(step.content, step.done, step.consumed, now);
}

Step Machine::report_content(Bytes content, bool last, std::size_t consumed, Instant now) noexcept {
  // Content buys time at the least rate, so that one octet now and then does not hold the
  // connection for ever.
  const Limits& limits = context_->limits;
  const Duration bought = nanoseconds(static_cast<std::int64_t>(content.size()) *
                                      (1'000'000'000 / limits.rate_min_bytes_per_s));
  deadline_ = std::min(deadline_ + bought, now + limits.content_timeout);
  if (state_ == State::discard) {
    if (last) {
      go(Cause::discarded);
      become_idle(now);
    }
    return {Event::need_bytes, false, consumed};
  }
  content_ = content;
  if (last) {
    go(Cause::request_ends);
    deadline_ = never;
  }
  return {Event::content, last, consumed};
}

Step Machine::refuse(Refusal refusal, std::size_t consumed) noexcept {
  const bool was_discarding = state_ == State::discard;
  refusal_ = refusal;
  deadline_ = never;
  close_wanted_ = true;
  input_may_follow_ = true;
  go(Cause::refusal);
  return {was_discarding ? Event::closed : Event::refused, false, consumed};
}

bool Machine::end_of_input() noexcept {
  switch (state_) {
    case State::idle: go(Cause::end); return true;
    case State::discard: go(Cause::end); return true;
    case State::head:
    case State::content:
      refuse(Refusal::input_ended, 0);
      input_may_follow_ = false;
      return true;
    default: return false;
  }
}

// ---- time
// ----------------------------------------------------------------------------------------------------------

void Machine::on_deadline(Instant now) noexcept {
  if (now < deadline_) return;
  deadline_ = never;
  switch (state_) {
    case State::idle: go(Cause::end); break;
    case State::head: refuse(Refusal::head_timeout, 0); break;
    case State::content:
    case State::discard: refuse(Refusal::content_timeout, 0); break;
    default: break;
  }
}

void Machine::restart_deadline(Instant now) noexcept {
  if (state_ == State::content || state_ == State::discard) {
    deadline_ = now + context_->limits.content_timeout;
  }
}

void Machine::become_idle(Instant now) noexcept { deadline_ = now + context_->limits.idle_timeout; }

// ---- replies
// -------------------------------------------------------------------------------------------------------

bool Machine::limit_content(std::uint64_t bytes_max) noexcept {
  if (state_ != State::content || content_left_ <= bytes_max) return true;
  if (framing_.content == ContentKind::length) {
    refuse(Refusal::content_too_large, 0);
    return false;
  }
  content_left_ = bytes_max;
  return true;
}

bool Machine::send_continue(Outbox& outbox) noexcept {
  if (!framing_.expects_continue || continue_sent_ || reply_begun() || state_ != State::content) {
    return true;
  }
  continue_sent_ = outbox.write("HTTP/1.1 100 Continue\r\n\r\n");
  return continue_sent_;
}

// Content that is on its way and too much to read past, or that the peer may or may not send.
bool Machine::content_is_left_to_close() const noexcept {
  if (state_ != State::content) return false;
  if (framing_.expects_continue && !continue_sent_) return true;
  return framing_.content == ContentKind::length && content_left_ > discard_bytes_max;
}

bool Machine::announces_close() const noexcept {
  return close_wanted_ || !framing_.keep_alive || reply_ == Reply::by_close;
}

std::size_t Machine::head_bytes_needed(const http::ReplyHead& head) const noexcept {
  constexpr std::size_t fixed =
      64 + 32 + 48 + 32;  // status line, Content-Type, lengths, Connection
  return fixed + context_->server_and_date.size() + head.content_type.size() + head.fields.size();
}

char* Machine::put_head(char* to, const http::ReplyHead& head, bool closes) noexcept {
  std::array<char, 32> own;
  to = put(to, status_line_of(head.status, own));
  to = put(to, context_->server_and_date);
  if (!head.content_type.empty()) {
    to = put_literal(to, "Content-Type: ");
    to = put(to, head.content_type);
    to = put_literal(to, "\r\n");
  }
  if (reply_ == Reply::chunked) {
    to = put_literal(to, "Transfer-Encoding: chunked\r\n");
  } else if (head.content_length >= 0 && http::status_has_content(head.status)) {
    to = put_literal(to, "Content-Length: ");
    to = put_number(to, static_cast<std::uint64_t>(head.content_length));
    to = put_literal(to, "\r\n");
  }
  if (!head.fields.empty()) to = put(to, head.fields);
  if (closes) {
    to = put_literal(to, "Connection: close\r\n");
  } else if (is_http10_) {
    to = put_literal(to, "Connection: keep-alive\r\n");
  }
  return put_literal(to, "\r\n");
}

bool Machine::respond(http::ReplyHead head, Bytes content, bool content_stays, Instant now,
                      Outbox& outbox) noexcept {
  KATANA_REQUIRE(reply_ == Reply::none && state_ != State::closed);
  constexpr std::size_t copied_bytes_max = 1024;
  const bool with_content = !is_head_request_ && http::status_has_content(head.status);
  head.content_length = static_cast<std::int64_t>(content.size());
  const std::size_t head_bytes = head_bytes_needed(head);
  const std::size_t inline_bytes =
      with_content && content.size() <= copied_bytes_max ? content.size() : 0;
  if (with_content && !outbox.has_room(head_bytes + content.size())) return false;
  char* const begin = outbox.reserve(head_bytes + inline_bytes);
  if (begin == nullptr) return false;
  const bool rest = with_content && inline_bytes == 0 && !content.empty();
  const bool closes = announces_close() || content_is_left_to_close();
  char* end = put_head(begin, head, closes);
  std::memcpy(end, content.data(), inline_bytes);
  end += inline_bytes;
  outbox.commit(static_cast<std::size_t>(end - begin));
  reply_ = Reply::without_content;
  if (rest) KATANA_CHECK(content_stays ? outbox.refer(content) : outbox.write(content));
  if (closes) close_wanted_ = true;
  note_reply_end(now);
  return true;
}

bool Machine::begin_reply(const http::ReplyHead& head, Outbox& outbox) noexcept {
  KATANA_REQUIRE(reply_ == Reply::none && state_ != State::closed);
  const bool with_content = !is_head_request_ && http::status_has_content(head.status);
  if (head.content_length >= 0) {
    reply_ = with_content ? Reply::by_length : Reply::without_content;
    reply_left_ = static_cast<std::uint64_t>(head.content_length);
  } else {
    reply_ = is_http10_ ? Reply::by_close : Reply::chunked;
  }
  char* const begin = outbox.reserve(head_bytes_needed(head));
  if (begin == nullptr) {
    reply_ = Reply::none;
    return false;
  }
  const bool closes = announces_close();
  close_wanted_ = close_wanted_ || closes;
  outbox.commit(static_cast<std::size_t>(put_head(begin, head, closes) - begin));
  if (!with_content) reply_ = Reply::without_content;
  return true;
}

bool Machine::write_content(Bytes content, Outbox& outbox) noexcept {
  if (content.empty() || reply_ == Reply::without_content) return true;
  if (reply_ == Reply::by_length) {
    KATANA_REQUIRE(content.size() <= reply_left_);
    if (!outbox.write(content)) return false;
    reply_left_ -= content.size();
    return true;
  }
  if (reply_ == Reply::by_close) return outbox.write(content);
  if (!outbox.has_room(content.size() + 32)) return false;
  char* const begin = outbox.reserve(16 + 2);
  if (begin == nullptr) return false;
  char* end = std::to_chars(begin, begin + 16, content.size(), 16).ptr;
  end = put_literal(end, "\r\n");
  outbox.commit(static_cast<std::size_t>(end - begin));
  KATANA_CHECK(outbox.write(content) && outbox.write("\r\n"));
  return true;
}

bool Machine::end_reply(Instant now, Outbox& outbox) noexcept {
  KATANA_REQUIRE(reply_begun());
  if (reply_ == Reply::by_length && reply_left_ > 0) return false;
  if (reply_ == Reply::chunked && !outbox.write(last_chunk)) return false;
  note_reply_end(now);
  return true;
}

void Machine::note_reply_end(Instant now) noexcept {
  reply_ = Reply::none;
  if (close_wanted_ || content_is_left_to_close()) {
    input_may_follow_ = input_may_follow_ || state_ == State::content;
    go(Cause::reply_ends_last);
    deadline_ = never;
    return;
  }
  if (state_ == State::content) {
    go(Cause::reply_ends_early);
    content_left_ = std::min(content_left_, discard_bytes_max);
    return;
  }
  go(Cause::reply_ends);
  become_idle(now);
}

}  // namespace katana::http1
