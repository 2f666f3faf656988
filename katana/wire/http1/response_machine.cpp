#include "katana/wire/http1/response_machine.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/field_list.hpp"
#include "katana/wire/http1/facts.hpp"
#include "katana/wire/http1/limits.hpp"

namespace katana::http1 {
namespace {

using http::equals_ignoring_case;
using http::is;

// The limits of a reply's chunks and trailers; the reader limits the amount of content.
constexpr Limits chunk_limits;

bool is_fold(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return is(c, http::digit_character); }

// One number, or the same number several times (RFC 9110 §8.6).
const char* read_length(Bytes value, ReplyFacts& facts) {
  http::ListReader elements(value);
  Bytes element;
  if (!elements.next(element)) return "Content-Length is no number";
  do {
    std::uint64_t length = 0;
    if (!parse_content_length(element, length)) return "Content-Length is no number";
    const auto known = facts.content_length;
    facts.content_length = static_cast<std::int64_t>(length);
    if (known != ReplyFacts::no_length && known != facts.content_length) {
      return "two values of Content-Length";
    }
  } while (elements.next(element));
  return nullptr;
}

// The problem of a reply that the decoder refused.
const char* problem_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::bad_chunk_size: return "a chunk does not begin with its size in hexadecimal";
    case Refusal::chunk_line_too_long: return "a chunk's size line is too long";
    case Refusal::bad_chunk_extension: return "a chunk's extension is malformed";
    case Refusal::bad_chunk_end: return "a chunk has no end";
    case Refusal::bad_trailer: return "a trailer is no field";
    case Refusal::trailer_too_long: return "the trailers are too long";
    case Refusal::bare_line_break: return "a line of the chunked coding does not end in CRLF";
    default: return "a control character in a chunk's size line";
  }
}

}  // namespace

// From 600 on a status is invalid, and read as one of the class 5xx (RFC 9110 §15).
const char* read_status_line(Bytes line, ReplyFacts& facts) noexcept {
  constexpr std::size_t status_end = 12;  // of "HTTP/1.1 200"
  if (line.size() < status_end || !line.starts_with("HTTP/1.") || !is_digit(line[7]) ||
      line[8] != ' ') {
    return "no HTTP/1.x status line";
  }
  const Bytes digits = line.substr(9, 3);
  if (!std::ranges::all_of(digits, is_digit) || digits[0] == '0') {
    return "the status is no number from 100 to 999";
  }
  // The space is due even without a reason (RFC 9112 §4); servers that leave it out are understood.
  if (line.size() > status_end && line[status_end] != ' ') return "no space after the status";
  facts.old_version = line[7] == '0';
  facts.status = static_cast<std::uint16_t>((digits[0] - '0') * 100 + (digits[1] - '0') * 10 +
                                            (digits[2] - '0'));
  return "";
}

const char* read_field_line(Bytes line, ReplyFacts& facts) noexcept {
  const auto colon = line.find(':');
  if (colon == Bytes::npos || colon == 0) return "a field without a name";
  const Bytes name = line.substr(0, colon);
  if (!http::all_are(name, http::token_character)) {
    return "a field's name is no token";
  }
  const Bytes value = http::trimmed(line.substr(colon + 1));
  if (value.find('\0') != Bytes::npos) return "a field's value has a NUL";
  if (equals_ignoring_case(name, "content-length")) {
    if (const char* problem = read_length(value, facts)) facts.length_problem = problem;
  } else if (equals_ignoring_case(name, "transfer-encoding")) {
    facts.has_coding = true;
    http::ListReader codings(value);
    for (Bytes coding; codings.next(coding);) {
      facts.chunked = equals_ignoring_case(coding, "chunked");
    }
  } else if (equals_ignoring_case(name, "connection")) {
    http::ListReader options(value);
    for (Bytes option; options.next(option);) {
      facts.closes = facts.closes || equals_ignoring_case(option, "close");
      facts.keeps_alive = facts.keeps_alive || equals_ignoring_case(option, "keep-alive");
    }
  }
  return "";
}

void unfold(char* head, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at + 2 < bytes; ++at) {
    if (head[at] != '\r' || head[at + 1] != '\n' || !is_fold(head[at + 2])) continue;
    head[at] = head[at + 1] = ' ';
    for (at += 2; at < bytes && is_fold(head[at]); ++at) head[at] = ' ';
    --at;
  }
}

void HeadMemo::remember(Bytes head, const ReplyFacts& facts) noexcept {
  if (head.size() > text_.size()) return;
  std::memcpy(text_.data(), head.data(), head.size());
  size_ = head.size();
  facts_ = facts;
}

ResponseMachine::Step ResponseMachine::next(Bytes input, bool to_head, HeadMemo& memo) noexcept {
  switch (state_) {
    case State::head:
      if (head_bytes_ == 0 && memo.matches(input)) {
        reading_ = memo.facts();
        return end_head(input, memo.size(), to_head);
      }
      return next_line(input, to_head, memo);
    case State::length: return next_length(input, 0);
    case State::chunks: return next_chunks(input);
    case State::until_close: break;
  }
  return {input.empty() ? Event::needs_more : Event::content, input.size(), input};
}

// Reads a line with its end. Returns "", or the mistake.
const char* ResponseMachine::read_line(Bytes line, bool is_first, ReplyFacts& facts) noexcept {
  if (!line.ends_with("\r\n") || line.find('\n') != line.size() - 1) {
    return "LF without CR in the head";
  }
  line.remove_suffix(2);
  if (line.find('\r') != Bytes::npos) return "CR without LF in the head";
  return is_first ? read_status_line(line, facts) : read_field_line(line, facts);
}

// The copy is on the stack, because a machine does not allocate, and `input` belongs to the caller.
const char* ResponseMachine::read_folded_line(Bytes line, ReplyFacts& facts) noexcept {
  std::array<char, head_bytes_max> unfolded;
  std::memcpy(unfolded.data(), line.data(), line.size());
  unfold(unfolded.data(), line.size());
  facts.folded = true;
  return read_line(Bytes(unfolded.data(), line.size()), false, facts);
}

ResponseMachine::Step ResponseMachine::next_line(Bytes input, bool to_head,
                                                 HeadMemo& memo) noexcept {
  const bool begins_here = head_bytes_ == 0;
  std::size_t at = 0;
  while (true) {
    const Bytes rest = input.substr(at);
    auto end = rest.find('\n');
    const bool may_fold = head_bytes_ != 0 && !rest.empty() && rest[0] != '\r' && rest[0] != '\n';
    bool folds = false;
    while (may_fold && end != Bytes::npos && end + 1 < rest.size() && is_fold(rest[end + 1])) {
      folds = true;
      end = rest.find('\n', end + 1);
    }
    const std::size_t line_bytes = end == Bytes::npos ? rest.size() : end + 1;
    if (head_bytes_ + line_bytes > head_bytes_max) return malformed("the head is too long");
    if (head_bytes_ == 0) {
      // Garbage is known by its first bytes; it might never have a line end.
      constexpr Bytes version = "HTTP/1.";
      if (!version.starts_with(rest.substr(0, version.size()))) {
        return malformed("no HTTP/1.x status line");
      }
    }
    const bool may_go_on = may_fold && end != Bytes::npos && line_bytes == rest.size();
    if (end == Bytes::npos || may_go_on) return {Event::needs_more, at, {}};
    at += line_bytes;
    const bool is_first = head_bytes_ == 0;
    const Bytes line = rest.substr(0, line_bytes);
    if (line == "\r\n") break;  // the first line begins with the version
    if (is_first) reading_ = {};
    const char* problem =
        folds ? read_folded_line(line, reading_) : read_line(line, is_first, reading_);
    if (*problem != '\0') return malformed(problem);
    head_bytes_ += static_cast<std::uint32_t>(line_bytes);
  }
  if (begins_here) memo.remember(input.substr(0, at), reading_);
  return end_head(input, at, to_head);
}

ResponseMachine::Step ResponseMachine::end_head(Bytes input, std::size_t consumed,
                                                bool to_head) noexcept {
  head_bytes_ = 0;
  const bool opens_tunnel = is_tunnel_ && reading_.status / 100 == 2;
  if (reading_.length_problem != nullptr && !opens_tunnel) {
    return malformed(reading_.length_problem);
  }
  if (reading_.status < 200) {
    if (reading_.status == 101) return malformed("101, and no upgrade was asked for");
    if (++interims_ > interim_max) return malformed("too many interim replies");
    return {Event::interim, consumed, {}};
  }
  interims_ = 0;
  facts_ = reading_;
  if (opens_tunnel) return complete(consumed, {});
  if (const char* problem = frame(to_head)) return malformed(problem);
  if (state_ == State::head) return complete(consumed, {});
  if (state_ == State::length) return next_length(input, consumed);
  return {Event::content, consumed, {}};
}

// Decides where the content ends (RFC 9112 §6.3). Returns null, or the mistake.
const char* ResponseMachine::frame(bool to_head) noexcept {
  const ReplyFacts& facts = facts_;
  keeps_open_ = !facts.closes && (!facts.old_version || facts.keeps_alive);
  if (facts.has_coding && facts.old_version) return "Transfer-Encoding in HTTP/1.0";
  if (facts.has_coding && facts.content_length != ReplyFacts::no_length) {
    return "both Transfer-Encoding and Content-Length";
  }
  if (to_head || facts.status == 204 || facts.status == 304) return nullptr;
  if (facts.chunked) {
    chunks_.begin(true);
    state_ = State::chunks;
  } else if (facts.content_length == ReplyFacts::no_length) {
    keeps_open_ = false;
    state_ = State::until_close;
  } else if (facts.content_length > 0) {
    left_ = static_cast<std::uint64_t>(facts.content_length);
    state_ = State::length;
  }
  return nullptr;
}

ResponseMachine::Step ResponseMachine::next_length(Bytes input, std::size_t consumed) noexcept {
  const Bytes content =
      input.substr(consumed, std::min<std::uint64_t>(input.size() - consumed, left_));
  left_ -= content.size();
  consumed += content.size();
  if (left_ == 0) return complete(consumed, content);
  return {consumed == 0 ? Event::needs_more : Event::content, consumed, content};
}

ResponseMachine::Step ResponseMachine::next_chunks(Bytes input) noexcept {
  const ChunkedDecoder::Step step = chunks_.next(input, chunk_limits, UINT64_MAX);
  if (step.refusal != Refusal::none) return malformed(problem_of(step.refusal));
  if (step.done) return complete(step.consumed, step.content);
  const bool is_all = step.content.empty();
  return {is_all ? Event::needs_more : Event::content, step.consumed, step.content};
}

ResponseMachine::Step ResponseMachine::complete(std::size_t consumed, Bytes content) noexcept {
  state_ = State::head;
  return {Event::complete, consumed, content};
}

ResponseMachine::Step ResponseMachine::malformed(const char* problem) noexcept {
  problem_ = problem;
  keeps_open_ = false;
  return {Event::malformed, 0, {}};
}

ResponseMachine::Event ResponseMachine::end_of_input() noexcept {
  if (state_ != State::until_close) {
    problem_ = "the connection ended before the reply was whole";
    return Event::malformed;
  }
  state_ = State::head;
  return Event::complete;
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
