// Machine: the server side of one HTTP/1.1 connection, as a function of bytes and time.
//
// Owns       a few words of state. No bytes: those that next() does not consume stay with the
//            caller.
// Borrows    the Context, which every machine of a reactor shares.
// Thread     its reactor's.
// Allocates  never.
// Fails      a request that is not acceptable is Event::refused; refusal() says why and with
//            which status. A command returns false when the outbox has no room, and for a
//            malformed reply: without a request, or of another length than was announced. It has
//            then written nothing. If a reply was begun, the connection must be reset: the client
//            then sees the failure.
// Invariant  the events are a function of the bytes, however they are cut. Replies keep the
//            order of requests: after a request is complete, next() gives Event::paused until
//            its reply is.
//
// The caller pulls: next() gives at most one event and says how much input it used. States and
// transitions stand in states.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/file_part.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http/reply_head.hpp"
#include "katana/wire/http1/chunked.hpp"
#include "katana/wire/http1/head_parser.hpp"
#include "katana/wire/http1/head_writer.hpp"
#include "katana/wire/http1/limits.hpp"
#include "katana/wire/http1/states.hpp"

namespace katana::http1 {

// The state that all machines of one reactor share. The head is that of the request reported last,
// by any of the machines.
struct Context {
  explicit Context(const Limits& given, Kernels kernels = best_kernels()) noexcept
      : limits(given), parser(limits, kernels) {}
  Context(const Context&) = delete;

  const Limits limits;     // of all connections
  HeadParser parser;       // for request heads
  http::Head head;         // of the request at hand; valid after Event::head
  HeadWriter head_writer;  // for reply heads
};

// The events of next().
enum class Event : std::uint8_t {
  need_bytes,  // nothing to report until more bytes come
  head,        // Context::head is a request; its slices are borrowed from `input`
  content,     // content() is part of the request's content, borrowed from `input`
  paused,      // the reply to the last request is not complete
  refused,     // see refusal(); answer with respond() and the connection ends
  closed,      // the connection is over
};

// Result of next().
struct Step {
  Event event;           // at most one for each call
  bool last;             // with head and content: the request is complete
  std::size_t consumed;  // bytes of the input that are done with
};

class Machine {
 public:
  Machine(Context& context, Instant now) noexcept
      : context_(&context), deadline_(now + context.limits.head_timeout) {}

  // REQUIRES `input` to begin with the bytes that the last call did not consume.
  Step next(Bytes input, Instant now) noexcept {
    if (const std::size_t bytes = next_request(input)) return {Event::head, true, bytes};
    return next_otherwise(input, now);
  }
  // The first step of next(), for a caller that treats the ordinary request in its own way: one
  // that is complete with its head. Returns its bytes, and Context::head is then its head. 0: the
  // input does not begin with such a request, and next_otherwise() judges the same input.
  [[gnu::always_inline]] std::size_t next_request(Bytes input) noexcept {
    if (state_ > State::head || input.empty() || lines_.searched != 0) [[unlikely]]
      return 0;
    if (input[0] == '\r') [[unlikely]]
      return 0;
    const HeadResult whole = context_->parser.parse_whole(input, context_->head, framing_);
    if (whole.verdict != HeadVerdict::complete) [[unlikely]]
      return 0;
    begin_request();
    if (framing_.content != ContentKind::none) [[unlikely]] {
      content_due_ = true;
      return 0;
    }
    deadline_ = never;
    go_from<Cause::request_ends, State::idle, State::head>();
    if (whole.bytes == 0) __builtin_unreachable();  // so that the caller asks once
    return whole.bytes;
  }
  // The second step of next(). REQUIRES that next_request() has just given 0 for the same input.
  [[gnu::noinline]] Step next_otherwise(Bytes input, Instant now) noexcept;
  // The bytes of the last Event::content.
  Bytes content() const noexcept { return content_; }
  Refusal refusal() const noexcept { return refusal_; }
  // The framing of the request reported last.
  const Framing& framing() const noexcept { return framing_; }
  State state() const noexcept { return state_; }

  // The client sends no more. REQUIRED when next() has been given the last input and needs bytes;
  // an earlier call would cut off the rest of the input. True: next() has an event (refused or
  // closed).
  bool end_of_input() noexcept;

  // ---- time ----
  // When on_deadline() has something to do.
  Instant deadline() const noexcept { return deadline_; }
  void on_deadline(Instant now) noexcept;
  // An idle connection ends at `latest`, if not sooner.
  void end_idle_by(Instant latest) noexcept {
    if (state_ == State::idle) deadline_ = std::min(deadline_, latest);
  }
  // The client could not send because we did not read: its time begins anew.
  void restart_deadline(Instant now) noexcept;

  // ---- commands ----
  // The resource takes no more content than this, from now on. False: the request is refused
  // already (413).
  bool limit_content(std::uint64_t bytes_max) noexcept;
  // 100 (Continue), if the client waits for it.
  bool send_continue(Outbox& outbox) noexcept;
  // The connection ends after the present reply.
  void close_after_reply() noexcept { close_wanted_ = true; }

  // The status of a final reply is 101, or from 200 to 999.

  // Writes a whole reply. Short `content` is copied; longer content is referred to if
  // `content_stays`.
  [[gnu::always_inline]] bool respond(const http::ReplyHead& head, Bytes content,
                                      bool content_stays, Instant now, Outbox& outbox) noexcept {
    if (content.size() <= copied_bytes_max && context_->head_writer.keeps(head, content.size()) &&
        takes_kept_head() && respond_as_kept(content, now, outbox)) [[likely]] {
      return true;
    }
    return respond_anew(head, content, content_stays, now, outbox);
  }
  // A reply whose content follows, framed by its length, in chunks, or (HTTP/1.0) by the end of the
  // connection.
  bool begin_reply(const http::ReplyHead& head, Outbox& outbox) noexcept;
  // False also without begin_reply(), and for more than the length that was announced.
  bool write_content(Bytes content, Outbox& outbox) noexcept;
  // The same for content that is in a file.
  bool write_content(const FilePart& part, Outbox& outbox) noexcept;
  // False also without begin_reply(), and when content is missing.
  bool end_reply(Instant now, Outbox& outbox) noexcept;

  // The request may be answered with 101: it is complete, it asks for an upgrade, and the
  // connection is not to end.
  bool may_upgrade() const noexcept {
    return state_ == State::reply && framing_.wants_upgrade && may_reply(101) && !announces_close();
  }
  // The request reported last is a HEAD.
  bool answers_head() const noexcept { return is_head_request_; }
  bool reply_begun() const noexcept { return reply_ != Reply::none; }
  // This reply is the last: end the connection when it is sent.
  bool closing() const noexcept { return state_ == State::closed; }
  // Content that has not been read yet may still be on its way, so the connection should be closed
  // with care.
  bool input_may_follow() const noexcept { return input_may_follow_; }

 private:
  enum class Reply : std::uint8_t { none, by_length, chunked, by_close, without_content };

  static constexpr std::uint64_t discard_bytes_max = 64 * 1024;
  // Content that goes into the block of its head.
  static constexpr std::size_t copied_bytes_max = 1024;

  void go(Cause cause) noexcept {
    const State next =
        detail::state_matrix[static_cast<std::size_t>(state_)][static_cast<std::size_t>(cause)];
    KATANA_CHECK(next != state_);
    state_ = next;
  }
  // The same where the state is known to be one of `from`, all of which lead to the same.
  template <Cause cause, State first, State... from>
  void go_from() noexcept {
    constexpr State next = state_after(first, cause);
    static_assert(next != first && ((state_after(from, cause) == next) && ...));
    state_ = next;
  }
  void begin_request() noexcept {
    line_skipped_ = false;
    is_head_request_ = context_->head.method() == http::Method::head;
    is_http10_ = context_->head.minor_version() == 0;
  }
  Step next_behind_head(Bytes input, Instant now) noexcept;
  KATANA_RARE Step skip_line(Bytes input) noexcept;
  KATANA_RARE Step next_head_in_pieces(Bytes input, Instant now) noexcept;
  Step begin_content(std::size_t consumed, Instant now) noexcept;
  KATANA_RARE Step next_content(Bytes input, Instant now) noexcept;
  KATANA_RARE Step next_chunk(Bytes input, Instant now) noexcept;
  Step report_content(Bytes content, bool last, std::size_t consumed, Instant now) noexcept;
  KATANA_RARE Step refuse(Refusal refusal, std::size_t consumed) noexcept;
  KATANA_RARE Step refuse_head(Refusal refusal, bool form_is_right) noexcept;
  void become_idle(Instant now) noexcept { deadline_ = now + context_->limits.idle_timeout; }
  // The request is complete, and the head of its reply has no Connection field.
  bool takes_kept_head() const noexcept {
    // Joined, not branched on: nearly always all of it is so.
    return (static_cast<unsigned>(state_ != State::reply) | static_cast<unsigned>(reply_) |
            unsigned{is_head_request_} | unsigned{is_http10_} | unsigned{close_wanted_} |
            unsigned{!framing_.keep_alive}) == 0;
  }
  // False: no block has room for it.
  [[gnu::always_inline]] bool respond_as_kept(Bytes content, Instant now, Outbox& outbox) noexcept {
    const auto fill = [&](char* to) noexcept {
      return put_short(context_->head_writer.put_kept(to), content);
    };
    if (!outbox.write_first(HeadWriter::kept_capacity + content.size(), fill) &&
        !respond_behind_others(content, outbox)) [[unlikely]] {
      return false;
    }
    go_from<Cause::reply_ends, State::reply>();
    become_idle(now);
    return true;
  }
  // Pipelined: there is a block, or one that is full.
  [[gnu::noinline]] bool respond_behind_others(Bytes content, Outbox& outbox) noexcept {
    char* const begin = outbox.reserve(HeadWriter::kept_capacity + content.size());
    if (begin == nullptr) return false;
    char* const end = put_short(context_->head_writer.put_kept(begin), content);
    outbox.commit(static_cast<std::size_t>(end - begin));
    return true;
  }
  // Two overlapping moves where a call of memcpy would have to find out the size.
  static char* put_short(char* to, Bytes text) noexcept {
    const std::size_t size = text.size();
    if (size >= 8 && size <= 16) {
      std::memcpy(to, text.data(), 8);
      std::memcpy(to + size - 8, text.data() + size - 8, 8);
    } else if (size != 0) {
      std::memcpy(to, text.data(), size);
    }
    return to + size;
  }
  [[gnu::noinline]] bool respond_anew(const http::ReplyHead& head, Bytes content,
                                      bool content_stays, Instant now, Outbox& outbox) noexcept;
  bool content_is_left_to_close() const noexcept;
  bool may_reply(unsigned status) const noexcept;
  void note_reply_end(Instant now) noexcept;
  template <class Append>
  bool frame_content(std::uint64_t size, std::size_t capacity_bytes, Outbox& outbox,
                     Append append) noexcept;
  char* put_head(char* to, const http::ReplyHead& head, HeadWriter::Length length,
                 std::uint64_t content_length, bool closes) noexcept;
  bool announces_close() const noexcept;

  Context* context_;
  Instant deadline_;
  Framing framing_;
  std::uint64_t content_left_ = 0;  // by length: still to come; chunked: still allowed
  std::uint64_t reply_left_ = 0;    // of the announced length
  Bytes content_;
  ChunkedDecoder chunked_;
  LineProgress lines_;
  State state_ = State::idle;
  Refusal refusal_ = Refusal::none;
  Reply reply_ = Reply::none;
  bool line_skipped_ = false;  // the one empty line that may precede a request
  bool close_wanted_ = false;
  bool continue_sent_ = false;
  bool is_head_request_ = false;
  bool is_http10_ = false;
  bool input_may_follow_ = false;
  bool content_due_ = false;  // of a head that next_request() has read
};

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
