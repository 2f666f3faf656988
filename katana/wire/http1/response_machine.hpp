// ResponseMachine: the client's side of one HTTP/1.x connection: where each reply ends, its status
// and its content. Bytes in, events out.
//
// Owns       its place in the reply; nothing of the input.
// Borrows    the input for the call; an event's content is part of it.
// Allocates  for a folded field line only.
// Fails      `malformed`, with problem(); REQUIRES no further call until begin_connection().
// Invariant  events and the content in sum do not depend on how the input is cut.
//
//   head ──1xx──▶ head                    an interim reply is no reply
//        ──204, 304, to HEAD, length 0──▶ (complete) head
//        ──2xx to CONNECT──▶ (complete) head
//        ──Content-Length──▶ length ──▶ (complete) head
//        ──chunked──▶ chunks ──▶ (complete) head
//        ──neither──▶ until_close ──end of input──▶ (complete)
//
// A head is taken line by line. A line that has not ended yet stays with the caller. A field also
// stays until the byte behind it shows that it is not folded (RFC 9112 §5.2). Most replies of a
// server have the same head within one second of its Date. Therefore a HeadMemo keeps the last
// whole head: a head that begins with the same bytes ends there and means the same.
//
// A caller that wants the headers keeps the bytes that a step consumed in front of its content. It
// does so for each step that begins outside of content. These bytes are the lines of the head,
// which have been judged already.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http1/chunked.hpp"

namespace katana::http1 {

// The facts of a head about its reply.
struct ReplyFacts {
  static constexpr std::int64_t no_length = -1;  // no Content-Length
  std::int64_t content_length = no_length;       // of the header; no_length: there is none
  std::uint16_t status = 0;                      // 100 to 999
  bool old_version = false;                      // HTTP/1.0
  bool closes = false;                           // Connection: close
  bool keeps_alive = false;                      // Connection: keep-alive
  bool has_coding = false;                       // Transfer-Encoding is there
  bool chunked = false;                          // it is the last coding
  bool folded = false;                           // a field takes several lines: see unfold()
  const char* length_problem = nullptr;          // the mistake of Content-Length; null: none
};

// One for each thread; connections share it.
class HeadMemo {
 public:
  // Whether `input` begins with the remembered head.
  bool matches(Bytes input) const noexcept {
    return size_ != 0 && input.starts_with(Bytes(text_.data(), size_));
  }
  std::size_t size() const noexcept { return size_; }
  const ReplyFacts& facts() const noexcept { return facts_; }   // of the remembered head
  void remember(Bytes head, const ReplyFacts& facts) noexcept;  // a long head is not remembered

 private:
  std::array<char, 1024> text_;
  std::size_t size_ = 0;
  ReplyFacts facts_;
};

class ResponseMachine {
 public:
  static constexpr std::size_t head_bytes_max = 64 * 1024;  // a longer head is malformed
  static constexpr unsigned interim_max = 64;               // before one reply

  // The events of next().
  enum class Event : std::uint8_t {
    needs_more,  // nothing until more bytes come
    interim,     // a 1xx reply was skipped
    content,     // some content of the reply, and more will come
    complete,    // the reply is whole; `content` is the last of it
    malformed,   // the connection cannot be used any more
  };
  // Result of next().
  struct Step {
    Event event;           // at most one for each call
    std::size_t consumed;  // bytes of the input that are done with
    Bytes content;         // of the reply's body; borrowed from the input
  };

  // Forgets everything; the next byte begins a reply.
  void begin_connection() noexcept { *this = ResponseMachine(); }
  // The same for the reply to CONNECT. A 2xx ends with its head, whatever framing it states, and
  // even if that is malformed (RFC 9112 §6.3). Other replies are read as usual.
  void begin_tunnel() noexcept {
    begin_connection();
    is_tunnel_ = true;
  }
  // At most one event. `to_head`: the request that the next reply answers was HEAD. Unless the
  // event is needs_more there may be another in the rest of the input.
  Step next(Bytes input, bool to_head, HeadMemo& memo) noexcept;
  // The server sends no more: complete if that ends the reply, malformed otherwise.
  Event end_of_input() noexcept;

  // The status of the reply that is being read or was completed last.
  std::uint16_t status() const noexcept { return facts_.status; }
  // Its head has folded fields, which unfold() makes plain.
  bool folded() const noexcept { return facts_.folded; }
  // The head of that reply is one of HTTP/1.0.
  bool old_version() const noexcept { return facts_.old_version; }
  // False: the server will take no further request on this connection.
  bool keeps_open() const noexcept { return keeps_open_; }
  // Some of a reply was read, but not all.
  bool is_within_reply() const noexcept { return state_ != State::head || head_bytes_ != 0; }
  // The head of a reply is complete, and the reply is not.
  bool is_within_content() const noexcept { return state_ != State::head; }
  const char* problem() const noexcept { return problem_; }

 private:
  enum class State : std::uint8_t { head, length, chunks, until_close };

  Step next_line(Bytes input, bool to_head, HeadMemo& memo) noexcept;
  static const char* read_line(Bytes line, bool is_first, ReplyFacts& facts) noexcept;
  static const char* read_folded_line(Bytes line, ReplyFacts& facts) noexcept;
  Step end_head(Bytes input, std::size_t consumed, bool to_head) noexcept;
  Step next_length(Bytes input, std::size_t consumed) noexcept;
  Step next_chunks(Bytes input) noexcept;
  Step complete(std::size_t consumed, Bytes content) noexcept;
  Step malformed(const char* problem) noexcept;
  const char* frame(bool to_head) noexcept;

  const char* problem_ = "";
  std::uint64_t left_ = 0;
  ReplyFacts facts_;
  ReplyFacts reading_;  // the head that is being read
  std::uint32_t head_bytes_ = 0;
  std::uint16_t interims_ = 0;
  State state_ = State::head;
  bool keeps_open_ = true;
  bool is_tunnel_ = false;  // the request is CONNECT
  ChunkedDecoder chunks_;
};

// Replaces each line break within a field, and the white space behind it, by spaces
// (RFC 9112 §5.2). The size stays.
void unfold(char* head, std::size_t bytes) noexcept;

// These read lines of a head without their CRLF. They return "", or the mistake in the line.
const char* read_status_line(Bytes line, ReplyFacts& facts) noexcept;
const char* read_field_line(Bytes line, ReplyFacts& facts) noexcept;

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
