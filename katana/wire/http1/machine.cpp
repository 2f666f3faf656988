#include "katana/wire/http1/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "katana/wire/http/status.hpp"

namespace katana::http1 {
namespace {

constexpr Bytes last_chunk = "0\r\n\r\n";

}  // namespace

// ---- requests --------------------------------------------------------------------------------

Step Machine::next_otherwise(Bytes input, Instant now) noexcept {
  if (content_due_) {
    content_due_ = false;
    return begin_content(context_->head.bytes().size(), now);
  }
  if (state_ > State::head) return next_behind_head(input, now);
  if (input.empty()) return {Event::need_bytes, false, 0};
  if (state_ == State::idle && input[0] == '\r' && !line_skipped_) return skip_line(input);
  return next_head_in_pieces(input, now);
}

Step Machine::next_behind_head(Bytes input, Instant now) noexcept {
  switch (state_) {
    case State::content:
    case State::discard:
      return framing_.content == ContentKind::chunked ? next_chunk(input, now)
                                                      : next_content(input, now);
    case State::reply: return {Event::paused, false, 0};
    case State::refused: return {Event::refused, false, 0};
    default: return {Event::closed, false, 0};
  }
}

// RFC 9112 §2.2: an empty line before the request line is ignored. One, because old clients end
// content with it.
Step Machine::skip_line(Bytes input) noexcept {
  if (input.size() == 1) return {Event::need_bytes, false, 0};
  if (input[1] != '\n') return refuse_head(Refusal::bare_line_break, false);
  line_skipped_ = true;
  return {Event::need_bytes, false, 2};
}

Step Machine::next_head_in_pieces(Bytes input, Instant now) noexcept {
  const HeadResult result =
      context_->parser.parse_in_pieces(input, lines_, context_->head, framing_);
  if (result.verdict == HeadVerdict::complete) {
    lines_ = {};  // which a head that is parsed at once leaves as it is
    begin_request();
    if (framing_.content != ContentKind::none) return begin_content(result.bytes, now);
    deadline_ = never;
    go(Cause::request_ends);
    return {Event::head, true, result.bytes};
  }
  if (result.verdict == HeadVerdict::refused) return refuse_head(result.refusal, result.bytes > 0);
  if (state_ == State::idle) {
    go(Cause::head_begins);
    deadline_ = now + context_->limits.head_timeout;
  }
  return {Event::need_bytes, false, 0};
}

Step Machine::begin_content(std::size_t consumed, Instant now) noexcept {
  go(Cause::content_begins);
  continue_sent_ = false;
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
  const ChunkedDecoder::Step step = chunked_.next(input, context_->limits, content_left_);
  if (step.refusal != Refusal::none) return refuse(step.refusal, step.consumed);
  if (step.content.empty() && !step.done) return {Event::need_bytes, false, step.consumed};
  content_left_ -= step.content.size();
  return report_content(step.content, step.done, step.consumed, now);
}

Step Machine::report_content(Bytes content, bool last, std::size_t consumed, Instant now) noexcept {
  const Limits& limits = context_->limits;
  deadline_ = extend_deadline(deadline_, content.size(), limits.rate_min_bytes_per_s,
                              now + limits.content_timeout);
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

// Only a head of right form decides how its reply is written. Otherwise Context::head may be that
// of an earlier request.
Step Machine::refuse_head(Refusal refusal, bool form_is_right) noexcept {
  is_head_request_ = form_is_right && context_->head.method() == http::Method::head;
  is_http10_ = form_is_right && context_->head.minor_version() == 0;
  return refuse(refusal, 0);
}

bool Machine::end_of_input() noexcept {
  switch (state_) {
    case State::idle:
    case State::discard:
      deadline_ = never;
      go(Cause::end);
      return true;
    case State::head:
      refuse_head(Refusal::input_ended, false);
      input_may_follow_ = false;
      return true;
    case State::content:
      refuse(Refusal::input_ended, 0);
      input_may_follow_ = false;
      return true;
    default: return false;
  }
}

// ---- time ------------------------------------------------------------------------------------

void Machine::on_deadline(Instant now) noexcept {
  if (now < deadline_) return;
  deadline_ = never;
  switch (state_) {
    case State::idle: go(Cause::end); break;
    case State::head: refuse_head(Refusal::head_timeout, false); break;
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

// ---- replies ---------------------------------------------------------------------------------

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

// Content that is on its way and too much to read past, or that the client may or may not send.
bool Machine::content_is_left_to_close() const noexcept {
  if (state_ != State::content) return false;
  if (framing_.expects_continue && !continue_sent_) return true;
  return framing_.content == ContentKind::length && content_left_ > discard_bytes_max;
}

// A request waits for its reply, and this status can be that of one.
bool Machine::may_reply(unsigned status) const noexcept {
  const bool is_final = status >= 200 ? status <= 999 : status == 101;
  const bool is_due =
      state_ == State::reply || state_ == State::content || state_ == State::refused;
  return is_final && is_due && reply_ == Reply::none;
}

bool Machine::announces_close() const noexcept {
  return close_wanted_ || !framing_.keep_alive || reply_ == Reply::by_close;
}

char* Machine::put_head(char* to, const http::ReplyHead& head, HeadWriter::Length length,
                        std::uint64_t content_length, bool closes) noexcept {
  using Persistence = HeadWriter::Persistence;
  const Persistence persistence = closes       ? Persistence::close
                                  : is_http10_ ? Persistence::keep_alive
                                               : Persistence::implied;
  return context_->head_writer.write(to, head, length, content_length, persistence);
}

bool Machine::respond_anew(const http::ReplyHead& head, Bytes content, bool content_stays,
                           Instant now, Outbox& outbox) noexcept {
  if (!may_reply(head.status)) return false;
  const bool has_content = http::status_has_content(head.status);
  if (head.status == http::reset_content) content = {};
  const bool with_content = has_content && !is_head_request_;
  const std::size_t head_bytes = context_->head_writer.bytes_max(head);
  // Short content goes into the head's block, unless a long head leaves no place for it.
  const bool rest = with_content && (content.size() > copied_bytes_max ||
                                     head_bytes + content.size() > outbox.reserve_bytes_max());
  const std::size_t inline_bytes = with_content && !rest ? content.size() : 0;
  if (rest && !outbox.has_capacity(head_bytes + (content_stays ? 0 : content.size()))) return false;
  char* const begin = outbox.reserve(head_bytes + inline_bytes);
  if (begin == nullptr) return false;
  const bool closes = announces_close() || content_is_left_to_close();
  const auto length = has_content ? HeadWriter::Length::content_length : HeadWriter::Length::none;
  char* const end = put_short(put_head(begin, head, length, content.size(), closes),
                              content.substr(0, inline_bytes));
  outbox.commit(static_cast<std::size_t>(end - begin));
  if (rest) KATANA_CHECK(content_stays ? outbox.refer(content) : outbox.write(content));
  if (closes) close_wanted_ = true;
  note_reply_end(now);
  return true;
}

bool Machine::begin_reply(const http::ReplyHead& head, Outbox& outbox) noexcept {
  if (!may_reply(head.status)) return false;
  const bool is_empty = head.status == http::reset_content;
  if (!http::status_has_content(head.status)) {
    reply_ = Reply::without_content;
  } else if (head.content_length >= 0 || is_empty) {
    reply_ = Reply::by_length;
    reply_left_ = is_empty ? 0 : static_cast<std::uint64_t>(head.content_length);
  } else {
    reply_ = is_http10_ ? Reply::by_close : Reply::chunked;
  }
  char* const begin = outbox.reserve(context_->head_writer.bytes_max(head));
  if (begin == nullptr) {
    reply_ = Reply::none;
    return false;
  }
  const bool closes = announces_close();
  close_wanted_ = close_wanted_ || closes;
  using Length = HeadWriter::Length;
  const Length length = reply_ == Reply::by_length ? Length::content_length
                        : reply_ == Reply::chunked ? Length::chunked
                                                   : Length::none;
  char* const end = put_head(begin, head, length, reply_left_, closes);
  outbox.commit(static_cast<std::size_t>(end - begin));
  // The head states the framing that the content would have; no content follows (RFC 9110 §9.3.2).
  if (is_head_request_ || is_empty) reply_ = Reply::without_content;
  return true;
}

// `append` puts the content itself into the outbox, and needs room for so many bytes there.
template <class Append>
bool Machine::frame_content(std::uint64_t size, std::size_t capacity_bytes, Outbox& outbox,
                            Append append) noexcept {
  if (reply_ == Reply::none) return false;
  if (size == 0 || reply_ == Reply::without_content) return true;
  if (reply_ == Reply::by_length) {
    if (size > reply_left_ || !append()) return false;
    reply_left_ -= size;
    return true;
  }
  if (reply_ == Reply::by_close) return append();
  if (!outbox.has_capacity(capacity_bytes + 32)) return false;
  char* const begin = outbox.reserve(16 + 2);
  if (begin == nullptr) return false;
  char* end = std::to_chars(begin, begin + 16, size, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  outbox.commit(static_cast<std::size_t>(end - begin));
  KATANA_CHECK(append() && outbox.write("\r\n"));
  return true;
}

bool Machine::write_content(Bytes content, Outbox& outbox) noexcept {
  return frame_content(content.size(), content.size(), outbox,
                       [&]() noexcept { return outbox.write(content); });
}

bool Machine::write_content(const FilePart& part, Outbox& outbox) noexcept {
  return frame_content(part.size, 0, outbox, [&]() noexcept { return outbox.refer(part); });
}

bool Machine::end_reply(Instant now, Outbox& outbox) noexcept {
  if (reply_ == Reply::none || (reply_ == Reply::by_length && reply_left_ > 0)) return false;
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
    restart_deadline(now);  // the replying handler may have kept the client from sending
    return;
  }
  go(Cause::reply_ends);
  become_idle(now);
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
